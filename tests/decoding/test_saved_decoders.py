"""A decoder as plain values: learnt once, saved, checked when read, and made again in other places."""

from __future__ import annotations

import io
import pickle
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deniable import EmbeddingNotFound, InvalidParameter, MalformedCard, RecordError
from deniable.channel import rows
from deniable.decoding.decoder import Decoder
from deniable.decoding.decoder_file import pack_decoder, unpack_decoder
from deniable.errors import DamagedDecoder, NotThisRelease
from tests.support.made_release import DIRECTIONS, MadeRelease, release

__all__ = ["release"]


@pytest.fixture(autouse=True)
def home() -> None:
    """Leave the store of the release in place."""


@pytest.fixture(scope="module")
def decoder(release: MadeRelease) -> Decoder:
    return Decoder.learn(release.card, release.texts, effort=DIRECTIONS, support=120, every_word=True)


def test_what_is_opened_again_decodes_as_what_was_learnt(
    release: MadeRelease, decoder: Decoder, tmp_path: Path
) -> None:
    decoder.save(tmp_path / "learnt.npz")
    copies = [pickle.loads(pickle.dumps(decoder)), Decoder.load(tmp_path / "learnt.npz")]
    assert [each.to_bytes() == decoder.to_bytes() for each in copies] == [True, True]
    for again in (*copies, decoder.pin(), decoder.at()):
        assert "channel" not in vars(again), "a channel is opened when it is needed"
        assert again.decode(release.texts) == decoder.decode(release.texts)
        np.testing.assert_allclose(again.prior, decoder.prior, rtol=1e-12)
        np.testing.assert_array_equal(again.channel.inputs, decoder.channel.inputs)
    assert decoder.decode(release.texts) != release.texts


def test_a_decoder_of_some_words_or_of_too_fine_a_channel_is_not_saved(
    release: MadeRelease, decoder: Decoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows, "FEWEST_INPUTS", 2)
    some = Decoder.learn(release.card, release.texts[:3], effort=DIRECTIONS)
    fine = decoder.at()
    fine.directions = 100_000
    for each, name in ((some, "decoder"), (fine, "directions")):
        for pack in (each.to_bytes, lambda each=each: pickle.dumps(each)):
            with pytest.raises(InvalidParameter) as error:
                pack()
            assert error.value.name == name


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
    decoder = Decoder.learn(private.card, texts, effort=DIRECTIONS, every_word=True)
    assert decoder.input_words[-1] == "word299"
    opened = decoder.at().open()
    assert opened.decode(texts) == decoder.decode(texts)
    assert len(opened("word1 [redacted]").split()) == 1
    assert opened.candidates("word1")[0].word == "word1"


def test_a_public_text_must_be_the_same_where_the_decoder_is_opened(
    release: MadeRelease, tmp_path: Path
) -> None:
    public, texts = tmp_path / "public.txt", release.texts[:100]
    public.write_text("\n".join(release.originals))
    decoder = Decoder.learn(release.card, texts, public=public, effort=DIRECTIONS, every_word=True)
    assert decoder.at().decode(texts[:5]) == decoder.decode(texts[:5])
    moved = tmp_path / "moved.txt"
    public.rename(moved)
    with pytest.raises(RecordError, match=r"public\.txt"):
        decoder.at().open()
    assert decoder.at(public=moved).decode(texts[:5]) == decoder.decode(texts[:5])
    moved.write_text("word1 word2")
    with pytest.raises(InvalidParameter) as error:
        decoder.at(public=moved).open()
    assert error.value.name == "public"
    unread = Decoder.learn(
        release.card, texts, public=moved, effort=DIRECTIONS, context=False, every_word=True
    )
    assert (unread.public, unread.context) == (None, None)


def test_words_are_counted_in_order_and_listed_by_how_often_they_are_expected(
    release: MadeRelease, decoder: Decoder
) -> None:
    counts, words = decoder.expected_counts(release.texts).toarray(), decoder.input_words
    assert words == [*(f"word{i}" for i in range(120)), "[unknown]"]
    first, gone, empty = decoder.expected_words([release.texts[0], None, ""])
    assert gone is None
    assert empty == {}
    assert first is not None
    assert list(first.values()) == sorted(first.values(), reverse=True)
    assert first == {word: count for word, count in zip(words, counts[0].tolist(), strict=True) if count}
    with pytest.raises(InvalidParameter, match=r"^least = 2"):
        decoder.expected_counts([], least=2)


def test_texts_are_checked_before_they_are_learnt_from_or_decoded(
    release: MadeRelease, decoder: Decoder
) -> None:
    decoder.check([*release.texts, "", None])
    with pytest.raises(NotThisRelease):
        decoder.check(["The soup was cold"])
    with pytest.raises(InvalidParameter, match="record 2 "):
        Decoder.learn(release.card, ["word1", 3])  # type: ignore[list-item]


def test_the_embedding_must_be_the_one_of_the_card(decoder: Decoder) -> None:
    for name, error in (("default", MalformedCard), ("elsewhere", EmbeddingNotFound)):
        with pytest.raises(error):
            decoder.at(embedding=name).open()
    about, _, _ = unpack_decoder(decoder.to_bytes(), "learnt.npz")
    with pytest.raises(DamagedDecoder, match="301"):
        Decoder.from_bytes(pack_decoder(about, np.array([1, 301]), np.array([0.5, 0.5]))).open()


def packed(decoder: Decoder, compression: int = zipfile.ZIP_STORED, **changed: Any) -> bytes:
    with np.load(io.BytesIO(decoder.to_bytes()), allow_pickle=False) as arrays:
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
    decoder: Decoder, tmp_path: Path, changed: dict[str, Any], problem: str
) -> None:
    path = tmp_path / "learnt.npz"
    path.write_bytes(packed(decoder))
    assert Decoder.load(path).to_bytes() == decoder.to_bytes()
    path.write_bytes(packed(decoder, **changed))
    with pytest.raises(DamagedDecoder, match=problem):
        Decoder.load(path)


def test_a_file_of_another_format_or_with_another_card_is_refused(decoder: Decoder, tmp_path: Path) -> None:
    path, content = (
        tmp_path / "learnt.npz",
        np.load(io.BytesIO(decoder.to_bytes()))["about"].tobytes().decode(),
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
        path.write_bytes(packed(decoder, about=letters(changed)))
        with pytest.raises(error, match=problem):
            Decoder.load(path)
    for nothing in (tmp_path / "none.npz", tmp_path):
        with pytest.raises(DamagedDecoder, match="learn it again"):
            Decoder.load(nothing)


def test_a_header_that_claims_more_than_is_there_reserves_nothing(decoder: Decoder, tmp_path: Path) -> None:
    path = tmp_path / "learnt.npz"
    whole = packed(decoder)
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
        Decoder.load(path)
    for end in (10, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:end])
        with pytest.raises(DamagedDecoder):
            Decoder.load(path)
