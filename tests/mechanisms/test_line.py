"""The line: its lists, its bound word by word, and noise that is precise near the word and far away from
it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from deniable import Embedding, InsecureSeededRandomness
from deniable.arrays import Floats
from deniable.mechanisms import Line
from deniable.mechanisms import line as module
from deniable.mechanisms.line import exponentials
from tests.support.strategies import random_embedding

E = random_embedding(60, 6)


def on_a_ruler(count: int) -> Embedding:
    """Return words at 0, 1, 2, …, so that a walk from the first one is their order; ⊥ lies nearest to the
    last but one."""
    return Embedding(
        [f"w{i}" for i in range(count)], np.arange(count, dtype=float)[:, None], unknown=[count - 2.2]
    )


def test_every_list_holds_every_word_that_can_be_released_once() -> None:
    twins = Embedding([f"w{i}" for i in range(60)], np.vstack([E.vectors[:50], E.vectors[:10]]))
    mechanism = Line(twins, epsilon=1.0, lists=4)
    assert np.array_equal(np.sort(mechanism.orders, axis=1), np.tile(np.arange(50), (4, 1)))
    assert mechanism.orders[:, 0].tolist() == [0, 1, 2, 3]
    assert np.array_equal(mechanism.places[:, 50:60], mechanism.places[:, :10])


def test_a_walk_goes_to_the_nearest_word_that_was_not_met_yet() -> None:
    mechanism = Line(on_a_ruler(9), epsilon=1.0, lists=3)
    assert mechanism.orders.tolist() == [
        [0, 1, 2, 3, 4, 5, 6, 7, 8],
        [1, 0, 2, 3, 4, 5, 6, 7, 8],
        [2, 1, 0, 3, 4, 5, 6, 7, 8],
    ]
    assert mechanism.places[:, 9].tolist() == [7, 7, 7], "⊥ stands where the word nearest to it stands"


def test_a_walk_that_is_stuck_goes_on_at_the_first_word_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "NEIGHBOURS_KNOWN", 3)  # each word knows itself and two others
    embedding = on_a_ruler(9)
    assert Line(embedding, epsilon=1.0, lists=5).orders[4].tolist() == [4, 3, 2, 1, 0, 5, 6, 7, 8]


def test_the_lists_are_the_same_whatever_the_search() -> None:
    from deniable.neighbours.blas import BlasNeighbours

    found, _ = BlasNeighbours(E).nearest_k(E.vectors, 50)
    assert np.array_equal(Line(E, epsilon=1.0).orders[0], module._walk(found, 0))


@pytest.mark.parametrize(("epsilon", "lists"), [(0.02, 1), (0.7, 1), (0.7, 3), (3.0, 5)])
def test_no_pair_of_words_exceeds_its_bound_and_one_list_attains_it(epsilon: float, lists: int) -> None:
    mechanism = Line(E, epsilon=epsilon, lists=lists)
    rows = np.stack([chances for _, chances in mechanism.probabilities(np.arange(61))])
    assert rows.min() > 0.0
    ratios = np.log(rows[:, None] / rows[None]).max(axis=2)
    bounds = np.array([[mechanism.log_bound(first, second) for second in range(61)] for first in range(61)])
    assert (ratios <= bounds + 1e-9).all()
    if lists == 1:
        assert np.allclose(ratios, bounds, rtol=1e-9, atol=1e-9)
        assert (ratios > bounds / 2 + 1e-9)[bounds > 0].all(), "half the bound would be refuted"
    else:
        assert (np.abs(rows.sum(axis=1) - 1.0) < 1e-12).all()


def test_the_bound_of_several_lists_is_that_of_the_worst() -> None:
    mechanism = Line(E, epsilon=0.5, lists=3)
    apart = np.abs(mechanism.places[:, 4] - mechanism.places[:, 9])
    assert len(set(apart.tolist())) > 1
    assert mechanism.log_bound(4, 9) == 0.5 * apart.max()


def test_exponential_numbers_are_exponential_and_two_uniforms_reach_further_than_one() -> None:
    drawn = exponentials(np.random.default_rng(0).random((200_000, 2)))
    assert stats.kstest(drawn, "expon").pvalue > 1e-6
    small, log2 = 2.0**-53, math.log(2)
    expected = {
        (0.0, 0.0): 107 * log2,
        (0.0, small): 106 * log2,
        (small, 0.0): 53 * log2,
        (0.5 - small, 0.5): log2 + 2.0**-53,
        (0.5, 0.5): log2 - 2.0**-53,
        (1 - small, 1 - small): 2.0**-106,
    }
    assert exponentials(np.array(list(expected))) == pytest.approx(list(expected.values()), rel=1e-15)


class Given:
    """Uniform numbers that are given, and zeros after that."""

    def __init__(self, *calls: list[list[float]]) -> None:
        self.calls = list(calls)

    def uniforms(self, tokens: int, count: int) -> Floats:
        given = np.array(self.calls.pop(0)) if self.calls else np.zeros((tokens, count))
        assert given.shape == (tokens, count)
        return given


def test_no_place_is_too_far_to_be_reached() -> None:
    mechanism = Line(on_a_ruler(3_000), epsilon=0.05)
    ordinary = [0.25, 0.125, 0.9, 0.9, 0.0]
    source = Given([[0.0, 0.0, 0.9, 0.9, 0.0], ordinary], [[0.0], [0.5]], [[0.5], [0.5]], [[0.25], [0.5]])
    released = mechanism.draw(np.array([3, 3]), source, np.full(2, 0.05))  # type: ignore[arg-type]
    assert released.tolist() == [3 + math.floor(160 * math.log(2) / 0.05), 3 + math.floor(math.log(4) / 0.05)]
    assert source.calls == []
    nothing_but_zeros = mechanism.draw(np.array([3]), Given([[0.0, 0.0, 0.9, 0.9, 0.0]]), np.full(1, 0.05))  # type: ignore[arg-type]
    assert nothing_but_zeros.tolist() == [2_999]


@pytest.mark.parametrize("epsilon", [1e-5, 1e-9])
def test_steps_are_even_around_the_word_where_noise_is_wide(epsilon: float) -> None:
    # Small exponential numbers: with one uniform number of 53 bits the places near the word would be hit
    # unevenly or never.
    uniforms = np.array([[1.0 - step * epsilon, 0.5] for step in (0.5, 1.5, 2.5, 3.5)])
    assert np.floor(exponentials(uniforms) / epsilon).tolist() == [0, 1, 2, 3]


def test_the_end_words_hold_what_lies_beyond() -> None:
    mechanism = Line(on_a_ruler(5), epsilon=1e-7)
    _, chances = next(mechanism.probabilities(np.array([2])))
    assert chances[[0, 4]] == pytest.approx([0.5, 0.5], abs=1e-6)
    released = mechanism.perturb(np.full(20_000, 2), InsecureSeededRandomness(insecure_seed=3))
    assert set(released.tolist()) == {0, 4}


def test_mechanisms_at_several_epsilons_share_the_neighbours_of_their_embedding() -> None:
    Line(E, epsilon=1.0).orders  # noqa: B018 - made on first use
    near = module._neighbours[E]
    Line(E, epsilon=2.0, lists=2).orders  # noqa: B018
    assert module._neighbours[E] is near
