"""A decoder as plain values: learnt once, saved, checked when read, and made again in other places."""

from __future__ import annotations

import io
import pickle
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deniable import EmbeddingNotFound, InvalidParameter, MalformedCard, RecordError
from deniable.analysis.decoder_state import DecoderState, check_released, decoder_from
from deniable.analysis.features import count_words, counted_words, list_words
from deniable.decoding.decoder import Decoder
from deniable.errors import DamagedDecoder, NotThisRelease
from tests.support.made_release import DIRECTIONS, MadeRelease, release

__all__ = ["release"]

Learnt = tuple[DecoderState, Decoder]


@pytest.fixture(scope="module")
def learnt(release: MadeRelease) -> Learnt:
    return DecoderState.learn(release.card, release.texts, directions=DIRECTIONS, support=120)


def test_what_is_opened_again_decodes_as_what_was_learnt(
    release: MadeRelease, learnt: Learnt, tmp_path: Path
) -> None:
    state, decoder = learnt
    state.save(tmp_path / "learnt.npz")
    copies = [pickle.loads(pickle.dumps(state)), DecoderState.load(tmp_path / "learnt.npz")]
    assert [each.to_bytes() == state.to_bytes() for each in copies] == [True, True]
    for again in (state, *copies, state.pin()):
        opened = again.open()
        assert opened.many(release.texts) == decoder.many(release.texts)
        np.testing.assert_allclose(opened.prior, decoder.prior, rtol=1e-12)
        np.testing.assert_array_equal(opened.channel.inputs, decoder.channel.inputs)
    assert decoder.many(release.texts) != release.texts


def test_words_that_were_kept_and_marks_for_unknown_ones_are_known_again(release: MadeRelease) -> None:
    from deniable import Embedding, InsecureSeededRandomness, Multivariate, Privatizer

    noise = InsecureSeededRandomness(insecure_seed=2)
    private = Privatizer(
        Multivariate(Embedding.open("made"), epsilon=4),
        unknown="redact",
        keep_words=["word1"],
        randomness=noise,
    )
    texts = private.many([f"{text} strange" for text in release.originals])
    state, decoder = DecoderState.learn(private.card, texts, directions=DIRECTIONS)
    assert counted_words(decoder)[-1] == "word299"
    opened = state.open()
    assert opened.many(texts) == decoder.many(texts)
    assert len(opened.many(["word1 [redacted]"])[0].split()) == 1  # type: ignore[union-attr]
    assert opened.posterior("word1")[0].word == "word1"


def test_a_public_text_must_be_the_same_where_the_decoder_is_opened(
    release: MadeRelease, tmp_path: Path
) -> None:
    public = tmp_path / "public.txt"
    public.write_text("\n".join(release.originals))
    state, decoder = DecoderState.learn(
        release.card, release.texts[:100], public=public, directions=DIRECTIONS
    )
    assert state.open().many(release.texts[:5]) == decoder.many(release.texts[:5])
    moved = tmp_path / "moved.txt"
    public.rename(moved)
    with pytest.raises(RecordError, match=r"public\.txt: No such file"):
        state.open()
    assert state.at(public=moved).open().many(release.texts[:5]) == decoder.many(release.texts[:5])
    moved.write_text("word1 word2")
    with pytest.raises(InvalidParameter, match="is another text here"):
        state.at(public=moved).open()
    unread, _ = DecoderState.learn(
        release.card, release.texts[:100], public=moved, directions=DIRECTIONS, context=False
    )
    assert unread.public is None


def test_words_are_counted_in_order_and_listed_by_how_often_they_are_expected(
    release: MadeRelease, learnt: Learnt
) -> None:
    decoder = learnt[1]
    counts, words = count_words(decoder, release.texts).toarray(), counted_words(decoder)
    assert words == [*(f"word{i}" for i in range(120)), "[unknown]"]
    first, gone, empty = list_words(decoder, [release.texts[0], None, ""])
    assert gone is None
    assert empty == {}
    assert first is not None
    assert list(first.values()) == sorted(first.values(), reverse=True)
    assert first == {word: count for word, count in zip(words, counts[0].tolist(), strict=True) if count}
    with pytest.raises(InvalidParameter, match=r"^least = 2"):
        count_words(decoder, [], least=2)


def test_a_decoder_is_taken_as_it_is_and_a_card_learns_from_the_texts(
    release: MadeRelease, learnt: Learnt
) -> None:
    state, decoder = learnt
    assert decoder_from(decoder, release.texts, {}) is decoder
    assert decoder_from(state, release.texts, {}).many(release.texts) == decoder.many(release.texts)
    made = decoder_from(release.card, release.texts, {"directions": DIRECTIONS, "support": 120})
    np.testing.assert_array_equal(made.prior, decoder.prior)
    for given in learnt:
        with pytest.raises(InvalidParameter, match="has its settings already; leave out support"):
            decoder_from(given, release.texts, {"support": 3})
        with pytest.raises(NotThisRelease, match="not in the embedding"):
            decoder_from(given, ["The soup was cold"], {})
    with pytest.raises(InvalidParameter, match="record 2 is not text"):
        decoder_from(release.card, ["word1", 3], {})  # type: ignore[list-item]
    check_released(decoder, ["", None])


def test_the_embedding_must_be_the_one_of_the_card(release: MadeRelease, learnt: Learnt) -> None:
    state, _ = learnt
    with pytest.raises(MalformedCard, match="another one"):
        state.at(embedding="default").open()
    with pytest.raises(EmbeddingNotFound):
        state.at(embedding="elsewhere").open()
    with pytest.raises(DamagedDecoder, match="names a word 301"):
        replace(state, inputs=np.array([1, 301]), prior=np.array([0.5, 0.5])).open()


def packed(state: DecoderState, compression: int = zipfile.ZIP_STORED, **changed: Any) -> bytes:
    with np.load(io.BytesIO(state.to_bytes()), allow_pickle=False) as arrays:
        held = {**arrays, **changed}
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compression) as archive:
        for name, array in held.items():
            if array is not None:
                each = io.BytesIO()
                np.save(each, array, allow_pickle=True)
                archive.writestr(f"{name}.npy", each.getvalue())
    return out.getvalue()


def letters(text: str) -> Any:
    return np.frombuffer(text.encode(), dtype=np.uint8)


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"prior": None}, "holds other arrays"),
        ({"more": np.zeros(3)}, "holds other arrays"),
        ({"compression": zipfile.ZIP_DEFLATED}, "must not be compressed"),
        ({"prior": np.array([print], dtype=object)}, "another type or size"),
        ({"prior": np.ones((121, 1)) / 121}, "another type or size"),
        ({"prior": np.ones(120) / 120}, "not sorted ids with one share each"),
        ({"prior": np.ones(121)}, "sum to 1"),
        ({"prior": np.full(121, np.nan)}, "sum to 1"),
        ({"prior": np.append(np.full(120, 1.0), -119.0)}, "sum to 1"),
        ({"inputs": np.arange(121)[::-1].copy()}, "not sorted ids"),
        ({"inputs": np.arange(-1, 120)}, "not sorted ids"),
        ({"inputs": np.zeros(0, dtype=np.int64), "prior": np.zeros(0)}, "not sorted ids"),
        ({"about": letters("{}")}, "is no learnt decoder"),
        ({"about": letters("[" * 100_000)}, "is no learnt decoder"),
        ({"about": np.array([255, 254], dtype=np.uint8)}, "is no learnt decoder"),
    ],
)
def test_a_file_that_is_not_what_was_saved_is_refused(
    learnt: Learnt, tmp_path: Path, changed: dict[str, Any], problem: str
) -> None:
    path = tmp_path / "learnt.npz"
    path.write_bytes(packed(learnt[0]))
    assert DecoderState.load(path).to_bytes() == learnt[0].to_bytes()
    path.write_bytes(packed(learnt[0], **changed))
    with pytest.raises(DamagedDecoder, match=problem):
        DecoderState.load(path)


def test_a_file_of_another_format_or_with_another_card_is_refused(learnt: Learnt, tmp_path: Path) -> None:
    path, content = (
        tmp_path / "learnt.npz",
        np.load(io.BytesIO(learnt[0].to_bytes()))["about"].tobytes().decode(),
    )
    for changed, error, problem in (
        (content.replace('"decoder":1', '"decoder":2'), DamagedDecoder, "format 2 is not known"),
        (
            content.replace('"directions":100', '"directions":10000000000'),
            DamagedDecoder,
            "is no learnt decoder",
        ),
        (content.replace('"public":null', '"public":"a"'), DamagedDecoder, "without its digest"),
        (content.replace('\\"kind\\"', '\\"kinds\\"'), MalformedCard, "is no card"),
    ):
        assert changed != content
        path.write_bytes(packed(learnt[0], about=letters(changed)))
        with pytest.raises(error, match=problem):
            DecoderState.load(path)
    for nothing in (tmp_path / "none.npz", tmp_path):
        with pytest.raises(DamagedDecoder, match="learn it again"):
            DecoderState.load(nothing)


def test_a_header_that_claims_more_than_is_there_reserves_nothing(learnt: Learnt, tmp_path: Path) -> None:
    path = tmp_path / "learnt.npz"
    whole = packed(learnt[0])
    forged = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(whole)) as archive, zipfile.ZipFile(forged, "w") as copy:
        for name in archive.namelist():
            content = archive.read(name)
            larger = content.replace(b"(121,), }" + b" " * 11, b"(99999999999999,), }", 1)
            assert (larger != content) == (name != "about.npy")
            assert len(larger) == len(content)
            copy.writestr(name, larger)
    path.write_bytes(forged.getvalue())
    with pytest.raises(DamagedDecoder, match="another type or size"):
        DecoderState.load(path)
    for end in (10, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:end])
        with pytest.raises(DamagedDecoder):
            DecoderState.load(path)
