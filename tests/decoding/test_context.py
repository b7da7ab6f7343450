"""Forward–backward equals the sum over all sequences; the language model is Kneser and Ney's."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest

from deniable import Embedding, InsecureSeededRandomness, Multivariate, RecordError
from deniable.arrays import Floats, Ids
from deniable.channel.channel import Channel
from deniable.channel.draws import Draws
from deniable.channel.making import make_channel
from deniable.decoding.context import ContextDecoder
from deniable.decoding.ngrams import Bigrams, count_bigrams, read_bigrams
from deniable.decoding.posterior import make_posterior
from deniable.decoding.reading import Reading
from deniable.errors import UnusableAuditData
from tests.channel.test_channel import dense
from tests.support.strategies import random_embedding

WORDS = 5
EMBEDDING = random_embedding(WORDS, 2)
RANDOM = np.random.default_rng(0)
DOCUMENTS = [RANDOM.integers(0, WORDS + 1, length) for length in (9, 4, 7, 12, 1)]


@pytest.fixture
def channel() -> Channel:
    return make_channel(EMBEDDING, epsilon=2.0, directions=200)


@pytest.fixture
def model() -> Bigrams:
    made = count_bigrams(DOCUMENTS, WORDS + 1)
    assert made is not None
    return made


def transitions(model: Bigrams) -> Floats:
    return np.array([[model.probability(a, b) for b in range(WORDS + 1)] for a in range(WORDS + 1)])


def by_all_sequences(matrix: Floats, moves: Floats, prior: Floats, released: Ids) -> Floats:
    """Return P(x_i | all released words), by going through every sequence there is."""
    answer = np.zeros((len(released), WORDS + 1))
    for hidden in product(range(WORDS + 1), repeat=len(released)):
        chance = prior[hidden[0]] * matrix[hidden[0], released[0]]
        for place in range(1, len(released)):
            chance *= moves[hidden[place - 1], hidden[place]] * matrix[hidden[place], released[place]]
        answer[np.arange(len(released)), hidden] += chance
    return np.asarray(answer / answer.sum(axis=1, keepdims=True))


def test_the_model_sums_to_one_and_is_that_of_the_formula(model: Bigrams) -> None:
    assert transitions(model).sum(axis=1) == pytest.approx(np.ones(WORDS + 1))
    pairs = [(a, b) for ids in DOCUMENTS for a, b in zip(ids[:-1].tolist(), ids[1:].tolist(), strict=True)]
    counts = {pair: pairs.count(pair) for pair in set(pairs)}
    once, twice = (sum(count == n for count in counts.values()) for n in (1, 2))
    discount = once / (once + 2 * twice)
    first, second = max(counts, key=lambda pair: counts[pair])
    sums = sum(count for (a, _), count in counts.items() if a == first)
    distinct = sum(a == first for a, _ in counts)
    alone = 0.999 * sum(b == second for _, b in counts) / len(counts) + 0.001 / (WORDS + 1)
    expected = (counts[first, second] - discount) / sums + discount * distinct / sums * alone
    assert model.probability(first, second) == pytest.approx(expected)


def listed(found: Reading) -> Floats:
    """Return the probabilities of the candidates, a column for each word."""
    full = np.zeros((len(found), WORDS + 1))
    for place in range(len(found)):
        words, chances = found.at(place)
        full[place, words] = chances
    return full


@pytest.mark.parametrize("text", [[0, 3, 3, 1], [2], [4, 4, 0, 2, 1], []])
def test_forward_backward_is_the_sum_over_all_sequences(
    channel: Channel, model: Bigrams, text: list[int]
) -> None:
    prior, released = np.random.default_rng(1).dirichlet(np.ones(WORDS + 1)), np.array(text, dtype=np.int64)
    decoder = ContextDecoder(channel, model, prior[channel.inputs], candidates=WORDS + 1)
    beside = np.array([1, 1, 2])
    found = list(decoder.decode([beside, released]))[1]
    if not text:
        assert found.likeliest.tolist() == []
        return
    moves = transitions(model)
    expected = by_all_sequences(dense(channel), moves, prior, released)
    assert np.abs(listed(found) - expected).max() < 5e-3  # a row of the channel lists all but a thousandth
    assert found.likeliest.tolist() == expected.argmax(axis=1).tolist()
    turned = moves.T / moves.T.sum(axis=1, keepdims=True)
    backwards = by_all_sequences(dense(channel), turned, prior, released)
    assert len(text) == 1 or np.abs(listed(found) - backwards).max() > 5e-3, "the model read backwards"


def test_a_long_text_is_read_in_parts_and_only_their_ends_hang_on_it(
    channel: Channel, model: Bigrams, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = np.random.default_rng(2).integers(0, WORDS, 200)
    prior = np.full(WORDS + 1, 1.0 / (WORDS + 1))
    decoder = ContextDecoder(channel, model, prior[channel.inputs], candidates=WORDS + 1)
    (whole,) = decoder.decode([text])
    monkeypatch.setattr("deniable.decoding.context.PLACES_AT_ONCE", 80)
    (parts,) = decoder.decode([text])
    for name in ("words", "chances", "rest"):
        assert getattr(parts, name).shape == getattr(whole, name).shape
    differs = np.abs(parts.chances - whole.chances).max(axis=1)
    assert differs[[79, 80]].max() > 1e-3
    middle = np.r_[0:70, 90:150, 170:200]
    assert differs[middle].max() < 1e-3


def test_context_names_more_words_than_single_words_do() -> None:
    embedding = random_embedding(30, 3)
    channel = make_channel(embedding, epsilon=1.5, directions=300)
    random = np.random.default_rng(2)
    chain = np.array([[(word + step) % 30 for step in (1, 2)] for word in range(30)])

    def written(length: int) -> Ids:
        words = [int(random.integers(30))]
        for _ in range(length - 1):
            words.append(int(chain[words[-1], int(random.random() < 0.3)]))
        return np.array(words)

    model = count_bigrams([written(200) for _ in range(20)], 31)
    assert model is not None
    texts = [written(20) for _ in range(60)]
    source, truth = InsecureSeededRandomness(insecure_seed=1), np.concatenate(texts)
    released = [Multivariate(embedding, epsilon=1.5).perturb(text, source) for text in texts]
    prior = np.full(len(channel), 1.0 / len(channel))
    in_context = ContextDecoder(channel, model, prior).read(released).likeliest
    alone = make_posterior(channel, prior).best[np.concatenate(released)]
    assert (in_context == truth).mean() > (alone == truth).mean() + 0.1


def test_text_is_read_and_cut_as_a_release_cuts_it(tmp_path: Path) -> None:
    cased = Embedding(["Apple", "apple", "pie"], np.eye(3))
    path = tmp_path / "public.txt"
    path.write_text("Apple pie, Apple pie\n\napple pie\n", encoding="utf-8")
    model = read_bigrams(cased, path)
    assert model.counts.tolist() == [2.0, 1.0, 3.0, 0.0]
    path.write_bytes(b"one\ntwo \xff\n")
    with pytest.raises(RecordError, match="line 2: is not UTF-8"):
        read_bigrams(cased, path)
    path.write_text("apple\n")
    with pytest.raises(UnusableAuditData, match="no two words"):
        read_bigrams(cased, path)
    with pytest.raises(RecordError, match="No such file"):
        read_bigrams(cased, tmp_path / "absent.txt")


def test_words_that_are_no_candidates_are_not_taken_for_impossible() -> None:
    """At a small ε a few candidates hold little of the probability: what stands beside a word is then hardly
    known, and says little."""
    embedding, random = random_embedding(300, 3), np.random.default_rng(4)
    channel = make_channel(embedding, epsilon=0.5, directions=200, keep=False)
    follows = random.permutation(300)

    def written() -> Ids:
        words = [int(random.integers(300))]
        while len(words) < 40:
            words.append(int(follows[words[-1]]) if random.random() < 0.5 else int(random.integers(300)))
        return np.array(words)

    model = count_bigrams([written() for _ in range(500)], 301)
    assert model is not None
    prior = np.full(len(channel), 1.0 / len(channel))
    texts = [written() for _ in range(20)]
    released = [Draws(Multivariate(embedding, epsilon=0.5), seed=9).of_each(text) for text in texts]

    def surprise(*, others: bool, candidates: int) -> float:
        decoder = ContextDecoder(channel, model, prior, candidates=candidates)
        if not others:
            decoder.likelihoods[:, -1] = 0.0  # as if no other word could have stood there
        logs = []
        for text, found in zip(texts, decoder.decode(released), strict=True):
            assert np.allclose(found.chances.sum(axis=1) + found.rest, 1.0)
            held = np.where(found.words == text[:, None], found.chances, 0.0).sum(axis=1)
            logs.append(-np.log(np.maximum(held, found.rest / 300 + 1e-6)))
        return float(np.concatenate(logs).mean())

    few, wrong, all_words = (
        surprise(others=True, candidates=20),
        surprise(others=False, candidates=20),
        surprise(others=True, candidates=301),
    )
    assert all_words < few < wrong - 0.5


@pytest.mark.parametrize("trust", [0.0, 0.5, 1.0])
def test_trust_says_how_much_the_model_counts(channel: Channel, model: Bigrams, trust: float) -> None:
    prior = np.random.default_rng(1).dirichlet(np.ones(WORDS + 1))
    text = np.array([0, 3, 3, 1])
    decoder = ContextDecoder(channel, model, prior[channel.inputs], candidates=WORDS + 1, trust=trust)
    found = next(decoder.decode([text]))
    moves = prior * (transitions(model) / prior) ** trust
    expected = by_all_sequences(dense(channel), moves, prior, text)
    full = listed(found)
    assert np.abs(full - expected).max() < 5e-3
    if trust == 0.0:
        alone = prior * dense(channel)[:, text].T
        assert np.abs(full - alone / alone.sum(axis=1, keepdims=True)).max() < 5e-3
