"""The promise itself: Pr[M(w) = y] ≤ exp(ε·d(w, w'))·Pr[M(w') = y], in dimensions where a violation is
visible.

The true mechanism is never refuted; every mutant is. A pass is no proof (that is in multivariate.py): it says
that the code does what the proof speaks of.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from deniable import Embedding, Multivariate
from deniable.arrays import Floats, Ids
from deniable.neighbours import best_neighbours
from tests.mechanisms.mutants import drawn
from tests.mechanisms.refutation import Draw, refuted_either_way

EPSILON = 1.0


def grid(dimension: int) -> Embedding:
    """Words around the origin: 0 and 1 are close together, the others catch the tails where the bound is
    tight."""
    far = np.concatenate([np.eye(dimension), -np.eye(dimension)]) * 1.5
    points = np.concatenate(
        [np.zeros((1, dimension)), np.full((1, dimension), 0.4) / np.sqrt(dimension), far, 2 * far]
    )
    return Embedding([f"w{i}" for i in range(len(points))], points)


def true_draw(embedding: Embedding, *, seed: int = 0) -> Draw:
    return drawn(Multivariate(embedding, EPSILON), seed=seed)


def bound(embedding: Embedding, first: int, second: int) -> float:
    """Return ε times the distance of two word ids."""
    one, other = embedding.rows(np.array([first, second]))
    return EPSILON * float(np.linalg.norm(one - other))


dimensions = pytest.mark.parametrize("dimension", [1, 2, 3])


@dimensions
@pytest.mark.parametrize("pair", [(0, 1), (0, 2), (1, 3)])
def test_the_mechanism_is_not_refuted(dimension: int, pair: tuple[int, int]) -> None:
    embedding = grid(dimension)
    assert not refuted_either_way(true_draw(embedding), *pair, bound(embedding, *pair))


@pytest.mark.slow
@dimensions
@pytest.mark.parametrize("seed", range(20))
def test_a_million_draws_a_side_do_not_refute_it_in_twenty_runs(dimension: int, seed: int) -> None:
    embedding = grid(dimension)
    draw = true_draw(embedding, seed=seed)
    assert not refuted_either_way(draw, 0, 1, bound(embedding, 0, 1), draws=1_000_000)


@dimensions
def test_the_unknown_word_keeps_the_bound_too(dimension: int) -> None:
    embedding = grid(dimension)
    unknown = embedding.unknown_id
    assert not refuted_either_way(true_draw(embedding), 0, unknown, bound(embedding, 0, unknown))


def test_the_bound_is_nearly_reached_so_the_test_is_sharp() -> None:
    embedding = grid(1)
    assert refuted_either_way(true_draw(embedding), 0, 1, 0.8 * bound(embedding, 0, 1))


Noise = Callable[[np.random.Generator, int, int], Floats]


def _direction(rng: np.random.Generator, draws: int, n: int) -> Floats:
    normal = rng.standard_normal((draws, n))
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    return normal


def gamma(rng: np.random.Generator, draws: int, n: int) -> Floats:
    lengths: Floats = rng.standard_gamma(n, draws)[:, None] / EPSILON
    return lengths


def true_noise(rng: np.random.Generator, draws: int, n: int) -> Floats:
    return _direction(rng, draws, n) * gamma(rng, draws, n)


def with_noise(embedding: Embedding, noise: Noise) -> Draw:
    search, rng = best_neighbours(embedding), np.random.default_rng(0)

    def draw(word: int, draws: int) -> Ids:
        points = embedding.rows(np.full(draws, word)) + noise(rng, draws, embedding.dimension)
        return search.nearest(points.astype(np.float32))

    return draw


def seeing_the_input(embedding: Embedding, choose: Callable[[Floats, int], Ids]) -> Draw:
    """Choose by the distances of the noisy points to all words, and by the input word."""
    rng = np.random.default_rng(0)

    def draw(word: int, draws: int) -> Ids:
        points = embedding.rows(np.full(draws, word)) + true_noise(rng, draws, embedding.dimension)
        return choose(
            np.stack([np.linalg.norm(points - vector, axis=1) for vector in embedding.vectors]), word
        )

    return draw


def starts_at_the_input(distances: Floats, word: int) -> Ids:
    """Keep the input word unless another word is clearly nearer: a search that looks at w."""
    return np.where(distances[word] < 1.5 * distances.min(axis=0), word, distances.argmin(axis=0))


def skips_the_input(distances: Floats, word: int) -> Ids:
    """Never return the input word: the second nearest in its place."""
    others = distances.copy()
    others[word] = np.inf
    nearest: Ids = others.argmin(axis=0)
    return nearest


WRONG_NOISE: dict[str, Noise] = {
    "half the noise": lambda rng, m, n: true_noise(rng, m, n) / 2,
    "scale -30 %": lambda rng, m, n: true_noise(rng, m, n) * 0.7,
    "bounded noise": lambda rng, m, n: _direction(rng, m, n) * np.minimum(gamma(rng, m, n), 1.0 / EPSILON),
    "Gaussian": lambda rng, m, n: rng.standard_normal((m, n)) / EPSILON,
    "no noise for some": lambda rng, m, n: true_noise(rng, m, n) * (rng.random(m) < 0.9)[:, None],
}


# A little too little noise shows on a line; the grids of two and three dimensions are too coarse for it.
SHOWS_ON_A_LINE = {"scale -30 %", "bounded noise"}


@pytest.mark.parametrize(
    ("wrong", "dimension"),
    [(wrong, n) for wrong in WRONG_NOISE for n in (1, 2, 3) if n == 1 or wrong not in SHOWS_ON_A_LINE],
)
def test_wrong_noise_is_refuted(wrong: str, dimension: int) -> None:
    embedding = grid(dimension)
    draw = with_noise(embedding, WRONG_NOISE[wrong])
    assert any(refuted_either_way(draw, 0, other, bound(embedding, 0, other)) for other in (1, 2))


@pytest.mark.parametrize("dimension", [2, 3])
def test_a_wrong_shape_is_refuted(dimension: int) -> None:
    embedding = grid(dimension)
    peaked: Noise = lambda rng, m, n: _direction(rng, m, n) * gamma(rng, m, n - 1)  # noqa: E731
    assert refuted_either_way(with_noise(embedding, peaked), 0, 1, bound(embedding, 0, 1))


@dimensions
@pytest.mark.parametrize("broken", [starts_at_the_input, skips_the_input])
def test_a_search_that_sees_the_input_word_is_refuted(
    broken: Callable[[Floats, int], Ids], dimension: int
) -> None:
    embedding = grid(dimension)
    assert refuted_either_way(seeing_the_input(embedding, broken), 0, 1, bound(embedding, 0, 1))
