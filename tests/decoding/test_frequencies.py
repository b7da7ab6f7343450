"""Intervals of word frequencies hold the truth as often as they say, for rare and for frequent words."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from deniable import Embedding, InsecureSeededRandomness
from deniable.arrays import Floats, Ids
from deniable.channel.channel import Channel
from deniable.channel.draws import Draws
from deniable.channel.making import make_channel
from deniable.decoding import frequencies
from deniable.decoding.frequencies import Frequencies, FrequencyEstimator
from deniable.decoding.priors import first_shares
from deniable.decoding.shares import learn_shares
from deniable.mechanisms.catalogue import ChosenMechanism
from tests.support.strategies import random_embedding

WORDS, RECORDS = 40, 300
EMBEDDING = random_embedding(WORDS, 3)


def covered(
    epsilon: float, releases: int, *, as_received: bool = True, narrower: float = 1.0
) -> tuple[float, float]:
    """Return how often intervals hold the truth, of frequent and of rare words.

    All is learnt from the release as a receiver does; else equal shares are expected.
    """
    from scipy.sparse import csr_array

    mechanism = ChosenMechanism()
    channel = make_channel(EMBEDDING, mechanism, epsilon=epsilon, directions=4_000)
    truth: Floats = 1.0 / (np.arange(WORDS, dtype=np.float64) + 2.0)
    truth /= truth.sum()
    random, source = np.random.default_rng(1), InsecureSeededRandomness(insecure_seed=2)
    made, hits = mechanism(EMBEDDING, epsilon=epsilon), np.zeros(WORDS)
    starts = np.concatenate([[0], np.cumsum(random.integers(3, 15, RECORDS))])
    expected = np.full(len(channel), 1.0 / len(channel))
    for _ in range(releases):
        released = made.perturb(random.choice(WORDS, int(starts[-1]), p=truth), source)
        counts = csr_array((np.ones(len(released)), released, starts), shape=(RECORDS, WORDS))
        total, held_out = counts.sum(axis=0), counts[::5].sum(axis=0)
        if as_received:
            start, weight = first_shares(channel), 0.1 * len(released)
            expected = learn_shares(
                channel, total - held_out, held_out=held_out, start=start, weight=weight
            ).shares
        found = FrequencyEstimator(channel, expected, observed=total).estimate(counts)[0]
        found = replace(found, errors=narrower * found.errors)
        known = found.words < WORDS
        ids = found.words[known]
        hits[ids] += (found.lower[known] <= truth[ids]) & (truth[ids] <= found.upper[known])
    frequent = truth > 0.03
    return float(hits[frequent].mean() / releases), float(hits[~frequent].mean() / releases)


@pytest.mark.parametrize("epsilon", [3.0, 6.0])
def test_intervals_hold_the_truth_as_often_as_they_say(epsilon: float) -> None:
    assert covered(epsilon, 200, as_received=False) == pytest.approx((0.95, 0.95), abs=0.03)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [6.0, 10.0])
def test_intervals_hold_the_truth_in_93_to_97_of_100_of_a_thousand_releases(epsilon: float) -> None:
    for share in covered(epsilon, 1_000):
        assert 0.93 <= share <= 0.97


@pytest.mark.slow
def test_intervals_hold_the_truth_too_often_rather_than_too_rarely_where_a_release_says_little() -> None:
    assert min(covered(3.0, 1_000)) >= 0.93


@pytest.mark.slow
def test_intervals_that_are_a_fifth_too_narrow_are_noticed() -> None:
    assert max(covered(6.0, 300, narrower=0.8)) < 0.93


def test_a_wide_interval_says_nothing_of_a_word() -> None:
    errors, before = np.array([0.01, 0.5, 0.01]), np.array([0.05, 5.0, 0.01])
    found = Frequencies(
        words=np.arange(3),
        shares=np.full(3, 0.04),
        errors=errors,
        expected=errors,
        before=before,
        total=9,
        records=3,
    )
    assert found.informed.tolist() == [True, False, False]


def test_groups_are_estimated_as_each_by_itself() -> None:
    from scipy.sparse import csr_array

    channel = make_channel(EMBEDDING, epsilon=3.0, directions=100)
    random = np.random.default_rng(1)
    counts = csr_array(random.poisson(0.2, (60, WORDS)).astype(float))
    estimator = FrequencyEstimator(
        channel, random.dirichlet(np.ones(len(channel))), observed=counts.sum(axis=0)
    )
    records = np.arange(60)
    groups = [np.flatnonzero(records % 4 == number) for number in range(3)]
    together = estimator.estimate(counts, groups)
    alone = [records, *groups, *(np.setdiff1d(records, own) for own in groups)]
    for found, own in zip(together, alone, strict=True):
        expected = estimator.estimate(counts[own])[0]
        assert found.shares == pytest.approx(expected.shares)
        assert found.errors == pytest.approx(expected.errors)
        assert (found.total, found.records) == (expected.total, expected.records)


def covered_in_many_words(
    channel: Channel, used: Ids, *, releases: int, narrower: float = 1.0
) -> tuple[float, float]:
    """Return how often intervals hold the truth, of words in use and of others, in text of few words among
    many that are like them."""
    from scipy.sparse import csr_array

    made, random, number = (
        ChosenMechanism()(channel.embedding, epsilon=channel.epsilon),
        np.random.default_rng(2),
        6_000,
    )
    hits, seen, size = np.zeros(2), np.zeros(2), len(channel.embedding)
    for release in range(releases):
        ids = np.repeat(used, random.multinomial(number, random.dirichlet(np.full(len(used), 2.0))))
        random.shuffle(ids)
        released = Draws(made, seed=release).of_each(ids)
        counts = csr_array(
            (np.ones(number), released, np.arange(0, number + 1, 20)), shape=(number // 20, size)
        )
        counts.sum_duplicates()
        total, held_out = counts.sum(axis=0), counts[::5].sum(axis=0)
        learnt = learn_shares(
            channel, total - held_out, held_out=held_out, start=first_shares(channel), weight=0.1 * number
        ).shares
        text = np.repeat(channel.inputs, np.random.default_rng(3).multinomial(100_000, learnt))
        rehearsal = np.bincount(Draws(made, seed=11).of_each(text), minlength=size).astype(float)
        found = FrequencyEstimator(channel, learnt, observed=total, rehearsal=rehearsal).estimate(counts)[0]
        found = replace(found, errors=narrower * found.errors)
        truth = np.bincount(ids, minlength=size + 1)[found.words] / number
        holds, in_use = (found.lower <= truth) & (truth <= found.upper), truth > 0.0
        hits += [holds[in_use].sum(), holds[~in_use].sum()]
        seen += [in_use.sum(), (~in_use).sum()]
    return float(hits[0] / seen[0]), float(hits[1] / seen[1])


def no_word_can_have_been_used(channel: Channel, _observed: Floats) -> Floats:
    return np.zeros(len(channel))


def test_intervals_hold_the_truth_in_text_of_few_words_among_many() -> None:
    random = np.random.default_rng(2)
    vectors = np.tile(random.standard_normal((120, 8)), (10, 1)) + 0.3 * random.standard_normal(
        (1_200, 8)
    )  # each has nine neighbours
    embedding = Embedding([f"w{i}" for i in range(1_200)], vectors)
    channel = make_channel(embedding, epsilon=10.0, directions=40, keep=False)
    assert channel.method == "points"
    used = 600 + random.choice(600, 20, replace=False)  # words that are expected to be rare
    in_use, others = covered_in_many_words(channel, used, releases=3)
    assert in_use >= 0.93
    assert others >= 0.93
    assert covered_in_many_words(channel, used, releases=3, narrower=0.2)[0] < 0.9


@pytest.mark.slow
def test_intervals_hold_the_truth_in_text_of_few_words_of_the_built_in_vocabulary(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    embedding = Embedding.open()
    channel = make_channel(
        embedding,
        epsilon=8.0,
        inputs=np.append(np.arange(2_000), embedding.unknown_id),
        directions=500,
        keep=False,
    )
    words = "the and was is come room my to for we food friends i good clean".split()
    used = np.array([*(embedding.index[word] for word in words), embedding.unknown_id])
    in_use, others = covered_in_many_words(channel, used, releases=3)
    assert in_use >= 0.9
    assert others >= 0.93
    monkeypatch.setattr(frequencies, "largest_shares", no_word_can_have_been_used)
    by_what_was_learnt_alone, _ = covered_in_many_words(channel, used, releases=3)
    print(in_use, others, by_what_was_learnt_alone)
    assert by_what_was_learnt_alone < 0.8
