from __future__ import annotations

import pickle

import numpy as np
import pytest

from deniable.mechanisms.softmax import TILE, SumsCache, pick_words, running_sums, weigh


def picked(costs: np.ndarray, rate: float, uniforms: np.ndarray) -> np.ndarray:
    sums = running_sums(costs, rate)
    tiles, rests, _ = sums.pick_tiles(uniforms)
    padded = np.append(costs, np.full(-len(costs) % TILE, np.inf))
    weights = weigh(padded.reshape(-1, TILE)[tiles], rate, sums.least)
    return pick_words(tiles, weights, rests, rests)[0]


@pytest.mark.parametrize("words", [1, 63, 64, 65, 1000])
@pytest.mark.parametrize("rate", [1e-6, 0.5, 40.0])
def test_it_inverts_the_distribution_function(words: int, rate: float) -> None:
    random = np.random.default_rng(words)
    costs = random.random(words) * 3
    costs[random.random(words) < 0.2] = np.inf
    costs[0] = 1.0
    uniforms = np.linspace(0, 1, 5_000, endpoint=False)
    weights = np.where(np.isinf(costs), 0.0, np.exp(-rate * (costs - costs.min())))
    reached = np.cumsum(weights) / weights.sum()
    found = picked(costs, rate, uniforms)
    assert (weights[found] > 0).all()
    assert (reached[found] >= uniforms - 1e-12).all()
    assert (np.append(0.0, reached)[found] <= uniforms + 1e-12).all()


def test_the_ends_of_the_unit_interval_give_words_of_some_weight() -> None:
    costs = np.full(300, np.inf)
    costs[[70, 200]] = [0.0, 40.0]
    assert picked(costs, 1.0, np.array([0.0, np.nextafter(1.0, 0.0)])).tolist() == [70, 70]
    costs[200] = 1.0
    assert picked(costs, 1.0, np.array([0.0, np.nextafter(1.0, 0.0)])).tolist() == [70, 200]


def test_the_cache_keeps_the_last_ones_used_and_stays_small() -> None:
    cache, sums = SumsCache(most_bytes=3 * 8 * 2), running_sums(np.zeros(TILE * 2), 1.0)
    for word in range(3):
        cache.put(word, 1.0, sums)
    assert cache.get(0, 1.0) is sums
    cache.put(3, 1.0, sums)
    assert [cache.get(word, 1.0) is not None for word in range(4)] == [True, False, True, True]
    assert cache.get(0, 2.0) is None


def test_a_pickled_cache_does_not_tell_which_words_were_seen() -> None:
    cache = SumsCache()
    cache.put(5, 1.0, running_sums(np.zeros(3), 1.0))
    assert pickle.loads(pickle.dumps(cache)).get(5, 1.0) is None
