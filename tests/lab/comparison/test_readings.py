"""What privacy is at one ε, against what is known of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.audit.made_text import follow_one_another
from tests.lab.comparison.compared import ring, ring_without, sample_of
from tests.support.strategies import random_embedding

from deniable import Embedding
from deniable.arrays import Ids
from deniable.audit import named
from deniable.audit.named import Named, NamedShares, Way, read_named
from deniable.channel.draws import Draws
from deniable.decoding.ngrams import count_bigrams
from deniable.embeddings.kinds import Kinds, make_kinds
from deniable.errors import InvalidParameter, UnusableAuditData
from deniable.lab.comparison.readings import (
    ReadingEffort,
    Sample,
    SampleUnchanged,
    kinds_by_spelling,
    make_sample,
    most_exposed,
    read_context,
)
from deniable.measures.catalogue import Setting
from deniable.measures.estimate import Estimate
from deniable.measures.texts import Texts, cut_texts
from deniable.mechanisms.catalogue import ChosenMechanism
from deniable.mechanisms.santext import SanText

SANTEXT = ChosenMechanism(name="santext")
STANDARD_ERRORS = 5.0  # two-sided level below 1e-6
JUDGED = 20_000
WORDS = 60
NO_TEXTS = Texts(ids=np.zeros(0, dtype=np.int64), offsets=np.zeros(1, dtype=np.int64))
COUNTS = {"w0": 900, "w1": 500, "w5": 700, "w20": 1_200, "w25": 300, "w30": 400}
TEXT = [" ".join([word] * count) for word, count in COUNTS.items()]


def unchanged(
    mechanism: str, epsilon: float, sample: Sample, *, draws: int, seed: int = 3
) -> tuple[Estimate, Estimate]:
    """Return the average N_w, and that of the most exposed words."""
    setting = Setting(embedding=sample.embedding, mechanism=ChosenMechanism(name=mechanism), epsilon=epsilon)
    average, worst = (
        SampleUnchanged(sample=sample, draws=draws, exposed=exposed)(setting, NO_TEXTS, seed=seed)
        for exposed in (False, True)
    )
    return average, worst


def test_a_mechanism_that_changes_nothing_is_read_as_one_everywhere() -> None:
    embedding = ring()
    sample = sample_of(embedding)
    average, worst = unchanged("multivariate", 1e6, sample, draws=30)
    assert (average.value, worst.value) == (1.0, 1.0)
    setting = Setting(embedding=embedding, epsilon=1e6)
    shares = read_named(sample.adversary(JUDGED), setting, "named", directions=10, seed=1)
    assert (shares.words, shares.judged) == (1.0, JUDGED)


def test_an_output_that_says_nothing_leaves_the_adversary_with_the_prior() -> None:
    embedding = ring()
    sample = sample_of(embedding)
    average, _ = unchanged("randomized-response", 1e-6, sample, draws=300)
    assert abs(average.value - 1 / 40) < STANDARD_ERRORS * average.error
    setting = Setting(
        embedding=embedding, mechanism=ChosenMechanism(name="randomized-response"), epsilon=1e-6
    )
    shares = read_named(sample.adversary(JUDGED), setting, "named", directions=10, seed=1)
    assert shares.words == pytest.approx(sample.guess, abs=1e-3)


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
def test_the_adversary_of_a_sample_is_bayes_rule(epsilon: float) -> None:
    embedding = ring()
    sample, mechanism = sample_of(embedding), SanText(embedding, epsilon=epsilon)
    table = np.zeros((len(sample.ids), len(embedding)))
    for row, (outputs, chances) in zip(table, mechanism.probabilities(sample.ids), strict=True):
        row[outputs] = chances
    exact = float((table * sample.shares[:, None]).max(axis=0).sum())
    setting = Setting(embedding=embedding, mechanism=SANTEXT, epsilon=epsilon)
    found = read_named(sample.adversary(JUDGED), setting, "named", directions=10, seed=1)
    assert found.words == pytest.approx(exact, abs=STANDARD_ERRORS * found.words_error + 0.005)


def test_unknown_words_are_never_unchanged_and_the_adversary_may_name_them() -> None:
    embedding = ring()
    text = np.repeat([1, 2, 3, embedding.unknown_id], [1000, 1000, 1000, 2000])
    sample = make_sample(embedding, text, words=2000, seed=0)
    average, _ = unchanged("multivariate", 1e6, sample, draws=30, seed=0)
    unknown = sample.shares[sample.ids == embedding.unknown_id].sum()
    assert average.value == pytest.approx(1.0 - unknown)
    setting = Setting(embedding=embedding, mechanism=SANTEXT, epsilon=1e-6)
    shares = read_named(sample.adversary(JUDGED), setting, "named", directions=10, seed=1)
    assert shares.words == pytest.approx(unknown, abs=1e-3)


def test_luck_in_the_draws_does_not_look_like_exposure() -> None:
    average, worst = unchanged("randomized-response", 3.0, sample_of(ring()), draws=300)
    assert abs(worst.value - average.value) < STANDARD_ERRORS * (worst.error + average.error)


def test_the_most_exposed_words_fill_their_part_of_the_text() -> None:
    weights = most_exposed(np.array([0.1, 0.9, 0.5]), np.array([0.495, 0.005, 0.5]), 0.01)
    assert weights == pytest.approx([0.0, 0.5, 0.5])
    with pytest.raises(InvalidParameter):
        ReadingEffort(draws=1, judged=10)  # halves need two draws


def read(
    attacker: Named, embedding: Embedding, epsilon: float, *, way: Way = "named", fine: int = 60,
    mechanism: ChosenMechanism = SANTEXT,
) -> NamedShares:  # fmt: skip
    setting = Setting(embedding=embedding, mechanism=mechanism, epsilon=epsilon)
    return read_named(attacker, setting, way, directions=fine, seed=1)


def share_named(embedding: Embedding, texts: list[str], epsilon: float) -> float:
    attacker = Named.by_spelling(cut_texts(texts, embedding), embedding)
    return read(attacker, embedding, epsilon, fine=10).words


def exactly(embedding: Embedding, counts: dict[str, int], epsilon: float) -> float:
    """Return Σ_y max_word π(word)·P(y | id of the word), straight from the definition."""
    total = sum(counts.values())
    best = np.zeros(len(embedding))
    for word, count in counts.items():
        row = embedding.index.get(word, embedding.unknown_id)
        outputs, chances = next(SanText(embedding, epsilon=epsilon).probabilities(np.array([row])))
        best[outputs] = np.maximum(best[outputs], count / total * chances)
    return float(best.sum())


@pytest.mark.parametrize("epsilon", [0.05, 0.3, 1.0, 5.0])
@pytest.mark.parametrize("known", [list(range(40)), [0, 1, 2, 3, 20], [0, 39]])
def test_the_attacker_is_the_bayes_rule_over_all_words_known_or_not(epsilon: float, known: list[int]) -> None:
    embedding = ring_without(known)
    # Rows of the channel list their likeliest outputs only, and the judge draws 4,000 words.
    expected = pytest.approx(exactly(embedding, COUNTS, epsilon), abs=0.035)
    assert share_named(embedding, TEXT, epsilon) == expected


@pytest.mark.parametrize("name", ["multivariate", "mahalanobis", "gaussian", "vickrey"])
def test_each_word_is_as_frequent_for_the_attacker_as_it_is_however_the_channel_orders_words(
    name: str,
) -> None:
    # A few frequent words and many rare ones: an attacker who takes one for another names fewer than one who
    # sees nothing.
    embedding = random_embedding(300, 3)
    words = np.random.default_rng(5).permutation(300)
    counts = {f"w{word}": 1 + int(2_000 / (1 + place) ** 1.5) for place, word in enumerate(words.tolist())}
    texts = cut_texts([" ".join([word] * count) for word, count in counts.items()], embedding)
    attacker = Named.by_spelling(texts, embedding)
    mechanism = ChosenMechanism(name=name)
    found = read(attacker, embedding, 2.0, mechanism=mechanism, fine=300)
    draws = Draws(mechanism(embedding, epsilon=2.0), seed=7).of_each(np.repeat(np.arange(300), 1_000))
    chances = np.stack([np.bincount(row, minlength=300) for row in draws.reshape(300, -1)]) / 1_000
    prior = np.array([counts[word] for word in embedding.words]) / sum(counts.values())
    assert found.words == pytest.approx(float((prior[:, None] * chances).max(axis=0).sum()), abs=0.05)
    assert found.words > attacker.blind.words + 0.02


def test_of_words_that_an_embedding_does_not_know_only_the_most_frequent_one_is_named() -> None:
    nothing_known = Embedding(["x", "y", "z"], np.eye(3), name="nothing")
    attacker = Named.by_spelling(cut_texts(TEXT, nothing_known), nothing_known)
    assert attacker.blind.words == 1_200 / 4_000
    assert share_named(nothing_known, TEXT, 100.0) == 1_200 / 4_000
    assert share_named(ring(), TEXT, 100.0) == 1.0
    # w0 and w5 come out as themselves, and so does w1; but unknown words come out as w1 too, the most
    # frequent of them 1,200 times.
    assert share_named(ring_without([0, 1, 5]), TEXT, 1e4) == (900 + 700 + 1_200) / 4_000


def test_a_protected_word_is_named_only_as_what_is_most_frequent_of_those_that_go_in_alike() -> None:
    protected = ring()
    # w20, 1,200 times, goes in as w25, 300 times
    protected.protection = np.where(np.arange(41) == 20, 25, np.arange(41))
    assert share_named(protected, TEXT, 1e4) == pytest.approx((4_000 - 300) / 4_000, abs=1e-9)


def test_upper_and_lower_case_are_one_word() -> None:
    cased = Embedding(["The", "the", "cat", "dog"], 10 * np.eye(4), name="cased")
    texts = ["The cat the dog"] * 50
    assert cased.cased
    assert Named.by_spelling(cut_texts(texts, cased), cased).blind.words == 0.5
    assert share_named(cased, texts, 1e-6) == pytest.approx(0.5, abs=0.01)


def test_more_words_than_are_judged_are_still_all_candidates(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(named, "MOST_JUDGED", 500)
    found = read(Named.by_spelling(cut_texts(TEXT, ring()), ring()), ring(), 5.0, fine=10)
    assert found.words == pytest.approx(exactly(ring(), COUNTS, 5.0), abs=5 * found.words_error)
    assert found.words_error > 1e-3


def as_texts(documents: list[Ids]) -> list[str]:
    return [" ".join(f"w{i}" for i in document) for document in documents]


def attacker_of(documents: list[Ids], public: list[Ids] | None, *, clusters: int = 0) -> Named:
    embedding = random_embedding(WORDS, 3)
    of = np.append(np.arange(WORDS) % max(1, clusters), -1)
    of[:6] = -1  # these stand apart
    return Named.by_spelling(
        cut_texts(as_texts(documents), embedding),
        embedding,
        context=None if public is None else count_bigrams(public, WORDS + 1),
        kinds_of=kinds_by_spelling(embedding, Kinds(of=of, count=clusters)) if clusters else None,
    )


def share_of(attacker: Named, way: Way, epsilon: float = 2.0) -> float:
    return read(attacker, random_embedding(WORDS, 3), epsilon, way=way).share_of(way)


def test_whole_texts_are_read_until_there_are_enough_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(named, "MOST_IN_CONTEXT", 90)
    documents, public = follow_one_another(WORDS, 50, 20, seed=2), follow_one_another(WORDS, 200, 20, seed=1)
    found = read(attacker_of(documents, public), random_embedding(WORDS, 3), 2.0, way="context")
    assert found.judged == 100, "five texts of 20 words"


def test_kinds_are_judged_at_words_that_have_one() -> None:
    attacker = attacker_of(follow_one_another(WORDS, 50, 20, seed=2), None, clusters=2)
    judged = attacker.kinds
    assert judged is not None
    assert attacker.blind.kinds == pytest.approx(max(np.bincount(judged[judged >= 0])) / (judged >= 0).sum())
    assert share_of(attacker, "kinds", 1e-6) == pytest.approx(attacker.blind.kinds, abs=0.02)
    assert share_of(attacker, "kinds", 1e4) == 1.0
    with pytest.raises(ValueError, match="kinds"):
        share_of(attacker_of(follow_one_another(WORDS, 10, 20, seed=2), None), "kinds")


def test_kinds_of_all_embeddings_are_those_of_the_first() -> None:
    whole = ring()
    kinds = make_kinds(whole, counts=np.ones(40))
    for embedding in (whole, ring_without(list(range(0, 40, 2)))):
        texts = cut_texts(["w4 w5 w39 elsewhere W6"], embedding)
        attacker = Named.by_spelling(texts, embedding, kinds_of=kinds_by_spelling(whole, kinds))
        assert attacker.kinds is not None
        assert attacker.kinds.tolist() == [*kinds.of[[4, 5, 39]], -1, kinds.of[6]]


def test_what_is_compared_is_not_read_in_the_public_text(tmp_path: Path) -> None:
    path, embedding = tmp_path / "public.txt", random_embedding(WORDS, 3)
    path.write_text("w1 w2 w3\nW4  w5\n\nw6 w7\n", encoding="utf-8")
    found = read_context(embedding, path, ["w4\nw5", "other"])
    assert (found.left_out, int(found.bigrams.counts.sum())) == (1, 5)
    assert found.bigrams.counts[[4, 5]].tolist() == [0.0, 0.0]
    assert read_context(embedding, path, []).bigrams.counts[4] == 1.0
    with pytest.raises(UnusableAuditData):
        read_context(embedding, path, ["w1 w2 w3", "w4 w5", "w6 w7"])
