"""Intervals of word frequencies hold the truth as often as they say, for rare and for frequent words."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from deniable import InsecureSeededRandomness
from deniable.analysis.frequencies import FrequencyEstimator
from deniable.arrays import Floats
from deniable.channel.making import make_channel
from deniable.mechanisms.catalogue import ChosenMechanism
from tests.support.strategies import random_embedding

WORDS, RECORDS = 40, 300
EMBEDDING = random_embedding(WORDS, 3)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DENIABLE_HOME", str(tmp_path))


def covered(epsilon: float, releases: int, *, off: float = 1.0) -> tuple[Floats, Floats, Floats]:
    """Return how often the interval of each word holds its true share, the shares, and the mean widths."""
    from scipy.sparse import csr_array

    mechanism = ChosenMechanism()
    channel = make_channel(EMBEDDING, mechanism, epsilon=epsilon * off, directions=4_000)
    truth: Floats = 1.0 / (np.arange(WORDS, dtype=np.float64) + 2.0)
    truth /= truth.sum()
    random, source = np.random.default_rng(1), InsecureSeededRandomness(insecure_seed=2)
    made = mechanism(EMBEDDING, epsilon=epsilon)
    lengths = random.integers(3, 15, RECORDS)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    expected = np.full(len(channel), 1.0 / len(channel))
    estimator = FrequencyEstimator(channel, expected, words=int(starts[-1]))
    hits, widths = np.zeros(WORDS), np.zeros(WORDS)
    for _ in range(releases):
        released = made.perturb(random.choice(WORDS, int(starts[-1]), p=truth), source)
        counts = csr_array((np.ones(len(released)), released, starts), shape=(RECORDS, WORDS))
        found = estimator.estimate(counts)
        known = found.words < WORDS
        ids = found.words[known]
        hits[ids] += (found.lower[known] <= truth[ids]) & (truth[ids] <= found.upper[known])
        widths[ids] += (found.upper - found.lower)[known]
    return hits / releases, truth, widths / releases


@pytest.mark.parametrize("epsilon", [3.0, 6.0])
def test_intervals_hold_the_truth_as_often_as_they_say(epsilon: float) -> None:
    share, truth, widths = covered(epsilon, 200)
    frequent = truth > 0.03
    print(epsilon, share[frequent].mean(), share[~frequent].mean(), share.min(), widths.mean())
    assert share[frequent].mean() == pytest.approx(0.95, abs=0.03)
    assert share[~frequent].mean() == pytest.approx(0.95, abs=0.03)
