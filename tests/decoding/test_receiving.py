"""A receiver has the release and its card: what it reads from them, and what it refuses."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from msgspec.structs import replace

from deniable import Embedding, InsecureSeededRandomness, InvalidParameter, Multivariate, Privatizer, Release
from deniable.channel import rows
from deniable.decoding.decoder import Decoder, considered_words, open_channel
from deniable.decoding.files import decode_file
from deniable.decoding.word_use import measure_word_use, rehearse
from deniable.decoding.word_use_page import word_use_page
from deniable.embeddings import store
from deniable.errors import MalformedCard, NotThisRelease, RecordError
from deniable.records import privatize_file
from deniable.records.reading import read_texts
from deniable.release.card import Card, read_card
from deniable.words.languages import LANGUAGE_RULES

WORDS = 40
NAMES = [f"word{i:02d}x" for i in range(WORDS)]
EPSILON = 4.0


def embedding_of(seed: int = 0) -> Embedding:
    vectors = np.random.default_rng(seed).standard_normal((WORDS, 4)).astype(np.float32)
    return Embedding(NAMES, vectors, name="small")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DENIABLE_HOME", str(tmp_path / "home"))
    store.save(embedding_of(), "small")


def original(records: int, *, seed: int = 1, favourite: int = 0) -> list[str]:
    """Return texts in which words are the rarer the later they stand, and one more frequent than all
    others."""
    rng = np.random.default_rng(seed)
    shares = 1.0 / np.arange(1, WORDS + 1)
    shares[favourite] += 1.5
    return [
        " ".join(NAMES[i] for i in rng.choice(WORDS, 12, p=shares / shares.sum())) for _ in range(records)
    ]


def make_private(**settings: object) -> Privatizer:
    return Release(**{"epsilon": EPSILON, "embedding": "small", **settings}).make()  # type: ignore[arg-type]


def released(records: int = 400, **settings: object) -> tuple[list[str | None], Card]:
    private = make_private(**settings)
    return private.many(list[str | None](original(records))), private.card


def test_the_shares_that_are_learnt_are_nearer_to_the_truth_than_those_released() -> None:
    texts, card = released(1500)
    decoder = Decoder.learn(card, texts, effort=400)
    true, out = (
        np.bincount([NAMES.index(word) for text in some for word in (text or "").split()], minlength=WORDS)
        / (1500 * 12)
        for some in (original(1500), texts)
    )
    learnt = np.zeros(WORDS + 1)
    learnt[decoder.inputs] = decoder.shares
    assert np.abs(learnt[:WORDS] - true).sum() < 0.65 * np.abs(out - true).sum()
    assert decoder.counts.words == 1500 * 12


def test_the_same_card_gives_the_same_numbers_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts, card = released()
    path = tmp_path / "card.json"
    card.write(path)
    here = Decoder.learn(card, texts, effort=100)
    monkeypatch.setenv("DENIABLE_HOME", str(tmp_path / "another machine"))
    store.save(embedding_of(), "other-name")
    there = Decoder.learn(read_card(path), texts, effort=100)
    assert (there.learnt.shares == here.learnt.shares).all()
    assert there.decode(texts) == here.decode(texts)


def test_text_that_was_not_released_is_refused() -> None:
    texts, card = released()
    with pytest.raises(NotThisRelease, match="not in the embedding"):
        Decoder.learn(card, ["some quite other text", *texts[:3]], effort=50)
    for empty in ([], [None, ""], ["..."]):
        with pytest.raises(NotThisRelease, match="hold no words"):
            Decoder.learn(card, empty, effort=50)
    # The words of the embedding, but not as the mechanism releases them.
    with pytest.raises(NotThisRelease, match="not as Multivariate at ε = 4 releases them"):
        Decoder.learn(card, [" ".join([NAMES[0]] * 12)] * 400, effort=200)


def test_a_release_is_decoded_and_its_original_is_refused() -> None:
    texts, card = released(1000)
    Decoder.learn(card, texts, effort=400)
    with pytest.raises(
        NotThisRelease, match="not as Multivariate at ε = 4 releases them: whatever text went in"
    ):
        Decoder.learn(card, original(1000), effort=400)
    Decoder.learn(card, original(1000), effort=400, check=False)


def test_releases_of_a_few_answers_again_and_again_are_decoded() -> None:
    """Mutant: words compared with those released anew from the shares learnt, which are spread twice, refused
    most of such releases."""
    private = make_private()
    answers = [f"{NAMES[3]} {NAMES[20]}", f"{NAMES[7]}", f"{NAMES[11]} {NAMES[30]} {NAMES[3]}"]
    for _ in range(10):
        Decoder.learn(private.card, private.many(answers * 500), effort=50)


def test_words_of_a_consistent_release_may_be_the_same_as_often_as_in_the_original() -> None:
    _, card = released(1)
    Decoder.learn(replace(card, consistent=True), original(1000), effort=400)


def test_it_is_known_how_many_words_come_out_unchanged() -> None:
    texts, card = released(50)
    assert Decoder.learn(card, texts, effort=50).unchanged < 0.7
    assert Decoder.learn(replace(card, epsilon=900.0), texts, effort=50).unchanged == pytest.approx(1.0)


def test_another_embedding_is_refused() -> None:
    texts, card = released(20)
    with pytest.raises(MalformedCard, match="another"):
        Decoder.learn(card, texts, embedding=embedding_of(seed=5))
    with pytest.raises(MalformedCard):
        Decoder.learn(replace(card, embedding=replace(card.embedding, fingerprint="0" * 32)), texts)


def test_a_budget_per_record_has_no_one_channel() -> None:
    texts, card = released(20, record_epsilon=10.0)
    with pytest.raises(InvalidParameter, match="only releases with one ε decode"):
        Decoder.learn(card, texts)


def test_kept_and_redacted_words_are_read_as_the_policies_release_them() -> None:
    private = make_private(unknown="redact", keep_words=[NAMES[3]])
    texts = private.many([*original(300), f"{NAMES[3]} nobody knows this", None])
    decoder = Decoder.learn(private.card, texts, effort=200)
    channel = decoder.channel
    assert embedding_of().unknown_id not in channel.inputs
    assert channel.row(3)[0].tolist() == [3]
    assert channel.row(3)[1] == pytest.approx([1.0])
    assert decoder.counts.strange == 0


def test_a_rehearsed_release_keeps_the_words_that_the_release_kept() -> None:
    texts, card = released(200, keep_words=[NAMES[1]])
    decoder = Decoder.learn(card, texts, effort=200)
    kept, other = (
        rehearse(decoder, (decoder.channel.inputs == word).astype(np.float64), words=10) for word in (1, 2)
    )
    assert kept[1] == kept.sum() > 0, "text of this word alone stays what it is"
    assert 0 < other[2] < other.sum()


def test_the_support_is_what_was_asked_for(tmp_path: Path) -> None:
    _, card = released(1)
    space = embedding_of()
    inputs = open_channel(card, space, considered_words(card, space, 10), directions=20).inputs
    assert sorted(inputs.tolist()) == [*range(10), space.unknown_id]
    public = tmp_path / "public.txt"
    public.write_text(f"{NAMES[30]} {NAMES[31]} {NAMES[30]}\n{NAMES[31]} {NAMES[2]}\n")
    texts, card = released(100)
    inputs = Decoder.learn(card, texts, public=public, support=25, effort=50).channel.inputs
    assert {2, 30, 31, space.unknown_id} <= set(inputs.tolist())
    assert len(inputs) == 26


def test_a_channel_for_few_words_is_coarser_and_one_of_single_columns_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rows, "FEWEST_INPUTS", 2)
    card, space = make_private().card, embedding_of()
    inputs = considered_words(card, space, WORDS)
    asked = open_channel(card, space, inputs, outputs=np.arange(3))
    assert asked.asked is not None
    few, some, many, all_ = (
        open_channel(card, space, inputs, words=words) for words in (20, 5_000, 50_000, None)
    )
    assert few.method == "points"
    assert few.directions < some.directions < many.directions == all_.directions == asked.directions


@pytest.mark.parametrize("ending", [".csv.gz", ".jsonl", ".parquet"])
def test_a_file_is_decoded_into_one_of_the_same_format(ending: str, tmp_path: Path) -> None:
    texts = original(60)
    source, out, decoded = (tmp_path / f"{name}{ending}" for name in ("in", "out", "decoded"))
    if ending == ".jsonl":
        source.write_text("".join(f'{{"id": {i}, "text": "{text}"}}\n' for i, text in enumerate(texts)))
    elif ending == ".parquet":
        pq.write_table(pa.table({"id": range(60), "text": texts}), source)
    else:
        rows = "".join(f"{i},{text}\n" for i, text in enumerate(texts))
        source.write_bytes(gzip.compress(f"id,text\n{rows}".encode()))
    privatize_file(make_private(), source, out, columns=["text"])
    card = read_card(tmp_path / f"out{ending}.card.json")
    done = decode_file(out, decoded, card, column="text", effort=100)
    assert (done.counts.records, done.counts.words) == (60, 60 * 12)
    before, after = (list(read_texts(path, column="text")) for path in (out, decoded))
    assert after == done.decode(before) != before
    with pytest.raises(RecordError, match="exists already"):
        decode_file(out, decoded, card, column="text")


def test_candidates_are_written_with_their_probabilities(tmp_path: Path) -> None:
    texts, card = released(30)
    out, decoded = tmp_path / "out.txt", tmp_path / "candidates.csv"
    out.write_text("".join(f"{text}\n" for text in texts))
    decode_file(out, decoded, card, top=2, effort=100)
    lines = decoded.read_text().splitlines()
    assert lines[0] == "record,place,released,candidate,probability"
    first = [line.split(",") for line in lines[1:3]]
    assert [row[:3] for row in first] == [["1", "1", (texts[0] or "").split()[0]]] * 2
    assert float(first[0][4]) >= float(first[1][4]) > 0.0


def test_a_failure_leaves_no_file_and_another_format_is_refused_before_the_channel_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, card = released(1)
    out, decoded = tmp_path / "out.txt", tmp_path / "decoded.txt"
    out.write_text("not released at all\n")
    with pytest.raises(NotThisRelease):
        decode_file(out, decoded, card)
    assert not decoded.exists()
    out = tmp_path / "out.csv"
    out.write_text(f"text\n{NAMES[0]}\n")
    monkeypatch.setattr(
        "deniable.decoding.decoder.Decoder.learn", lambda *_, **__: pytest.fail("long work was begun")
    )
    with pytest.raises(InvalidParameter):
        decode_file(out, tmp_path / "decoded.parquet", card, column="text")


def test_groups_that_use_words_differently_are_told_apart_and_others_are_not(tmp_path: Path) -> None:
    # From a seed: intervals that hold in 95 % of all releases would not hold in every run.
    noise = InsecureSeededRandomness(insecure_seed=1)
    private = Privatizer(Multivariate(embedding_of(), epsilon=8.0), randomness=noise)
    a, b = original(500, seed=2, favourite=7), original(500, seed=3, favourite=11)
    rows = [f"a,{text}" for text in private.many(a)] + [f"b,{text}" for text in private.many(b)]
    path = tmp_path / "out.csv"
    path.write_text("group,text\n" + "".join(f"{row}\n" for row in rows))
    found = measure_word_use(path, private.card, column="text", by="group", effort=400)
    assert {(each.group, each.word, each.difference > 0) for each in found.differences[:4]} == {
        ("a", NAMES[7], True),
        ("b", NAMES[7], False),
        ("a", NAMES[11], False),
        ("b", NAMES[11], True),
    }
    path.write_text("group,text\n" + "".join(f"{'ab'[i % 2]},{row[2:]}\n" for i, row in enumerate(rows)))
    shuffled = measure_word_use(path, private.card, column="text", by="group", effort=400)
    assert shuffled.differences == ()
    assert shuffled.compared == 2 * (WORDS + 1)
    whole = {use.word: use for use in found.everything.uses}
    true = sum(text.split().count(NAMES[7]) for text in a + b)
    assert whole[NAMES[7]].count_low <= true <= whole[NAMES[7]].count_high


def test_word_use_is_written_as_csv_and_as_a_page(tmp_path: Path) -> None:
    texts, card = released(200)
    path = tmp_path / "out.txt"
    path.write_text("".join(f"{text}\n" for text in texts))
    found = measure_word_use(path, card, effort=100)
    found.write_csv(tmp_path / "freq.csv")
    lines = (tmp_path / "freq.csv").read_text().splitlines()
    assert lines[0].split(",")[:4] == ["word", "share", "share_low", "share_high"]
    assert len(lines) == WORDS + 2
    group = found.everything
    assert group.half_width is not None
    assert group.records_needed(2.0 * group.half_width) == pytest.approx(group.records, abs=1)
    path.write_text("".join(f"{text}\n" for text in texts[:50]))
    fewer = measure_word_use(path, card, effort=100).everything
    assert fewer.half_width is not None
    assert fewer.half_width > group.half_width  # fewer records say less
    assert (group.records_needed(0.001) or 0) > (group.records_needed(0.01) or 0) > 0
    html = word_use_page(found).html()
    assert found.everything.uses[0].word in html
    with pytest.raises(InvalidParameter, match="name the column"):
        measure_word_use(path, card, by="group")


def test_an_embedding_in_memory_cuts_by_the_rules_that_the_card_names() -> None:
    names = ["東京", "タワー", "東京タワー", "猫", "魚"]
    vectors = np.random.default_rng(3).standard_normal((len(names), 3)).astype(np.float32)
    embedding, plain = Embedding(names, vectors), Embedding(names, vectors)
    plain.cut_plainly()
    before = Privatizer(Multivariate(plain, epsilon=EPSILON))
    texts = before.many(["猫 魚", "東京 タワー", "猫 東京タワー"] * 300)
    decoder = Decoder.learn(before.card, texts, embedding=embedding, effort=100)
    assert decoder.channel.embedding.language_rules is None
    assert embedding.language_rules is not None  # the caller's own is left as it is
    now = Decoder.learn(
        Privatizer(Multivariate(embedding, epsilon=EPSILON)).card, texts, embedding=embedding, effort=100
    )
    assert now.channel.embedding.language_rules is not None


def test_an_embedding_in_memory_that_asks_for_other_rules_is_refused() -> None:
    texts, card = released()
    with pytest.raises(MalformedCard, match="is cut by rules"):
        Decoder.learn(replace(card, rules=LANGUAGE_RULES), texts, embedding=embedding_of(), effort=100)
