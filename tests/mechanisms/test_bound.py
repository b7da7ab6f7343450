"""The promise itself: Pr[M(w) = y] ≤ exp(ε·d(w, w'))·Pr[M(w') = y], in dimensions where a violation is
visible.

The true mechanism is never refuted; every mutant is. A pass is no proof (that is in multivariate.py): it says
that the code does what the proof speaks of.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from deniable import Embedding, InsecureSeededRandomness, Multivariate
from deniable.arrays import Floats, Ids
from deniable.neighbours import best_neighbours
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
    mechanism, randomness = (
        Multivariate(embedding, epsilon=EPSILON),
        InsecureSeededRandomness(insecure_seed=seed),
    )
    return lambda word, draws: mechanism.perturb(np.full(draws, word), randomness)


@pytest.mark.parametrize("dimension", [1, 2, 3])
@pytest.mark.parametrize("pair", [(0, 1), (0, 2), (1, 3)])
def test_the_mechanism_is_not_refuted(dimension: int, pair: tuple[int, int]) -> None:
    embedding = grid(dimension)
    first, second = pair
    distance = float(np.linalg.norm(embedding.vectors[first] - embedding.vectors[second]))
    assert not refuted_either_way(true_draw(embedding), first, second, EPSILON * distance)


@pytest.mark.slow
@pytest.mark.parametrize("dimension", [1, 2, 3])
@pytest.mark.parametrize("seed", range(20))
def test_a_million_draws_a_side_do_not_refute_it_in_twenty_runs(dimension: int, seed: int) -> None:
    embedding = grid(dimension)
    distance = float(np.linalg.norm(embedding.vectors[0] - embedding.vectors[1]))
    assert not refuted_either_way(true_draw(embedding, seed=seed), 0, 1, EPSILON * distance, draws=1_000_000)


@pytest.mark.parametrize("dimension", [1, 2, 3])
def test_the_unknown_word_keeps_the_bound_too(dimension: int) -> None:
    embedding = grid(dimension)
    distance = float(np.linalg.norm(embedding.vectors[0] - embedding.unknown))
    assert not refuted_either_way(true_draw(embedding), 0, embedding.unknown_id, EPSILON * distance)


def test_the_bound_is_nearly_reached_so_the_test_is_sharp() -> None:
    embedding = grid(1)
    distance = float(abs(embedding.vectors[0, 0] - embedding.vectors[1, 0]))
    assert refuted_either_way(true_draw(embedding), 0, 1, 0.8 * EPSILON * distance)


Noise = Callable[[np.random.Generator, int, int], Floats]


def _direction(rng: np.random.Generator, draws: int, n: int) -> Floats:
    normal = rng.standard_normal((draws, n))
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    return normal


def with_noise(embedding: Embedding, noise: Noise) -> Draw:
    search, rng = best_neighbours(embedding), np.random.default_rng(0)

    def draw(word: int, draws: int) -> Ids:
        points = embedding.rows(np.full(draws, word)) + noise(rng, draws, embedding.dimension)
        return search.nearest(points.astype(np.float32))

    return draw


def starts_at_the_input(embedding: Embedding) -> Draw:
    """Keeps the input word unless another word is clearly nearer: a search that looks at w."""
    search, rng = best_neighbours(embedding), np.random.default_rng(0)

    def draw(word: int, draws: int) -> Ids:
        noise = (
            _direction(rng, draws, embedding.dimension)
            * rng.standard_gamma(embedding.dimension, draws)[:, None]
            / EPSILON
        )
        points = (embedding.rows(np.full(draws, word)) + noise).astype(np.float32)
        nearest = search.nearest(points)
        own = np.linalg.norm(points - embedding.vectors[word], axis=1)
        found = np.linalg.norm(points - embedding.vectors[nearest], axis=1)
        return np.where(own < 1.5 * found, word, nearest)

    return draw


def skips_the_input(embedding: Embedding) -> Draw:
    """Never returns the input word: the second nearest in its place."""
    rng = np.random.default_rng(0)

    def draw(word: int, draws: int) -> Ids:
        noise = (
            _direction(rng, draws, embedding.dimension)
            * rng.standard_gamma(embedding.dimension, draws)[:, None]
            / EPSILON
        )
        points = embedding.rows(np.full(draws, word)) + noise
        distances = np.stack([np.linalg.norm(points - vector, axis=1) for vector in embedding.vectors])
        distances[word] = np.inf
        nearest: Ids = distances.argmin(axis=0)
        return nearest

    return draw


WRONG_NOISE: dict[str, Noise] = {
    "half the noise": lambda rng, m, n: (
        _direction(rng, m, n) * rng.standard_gamma(n, m)[:, None] / EPSILON / 2
    ),
    "scale -30 %": lambda rng, m, n: (
        _direction(rng, m, n) * rng.standard_gamma(n, m)[:, None] / EPSILON * 0.7
    ),
    "bounded noise": lambda rng, m, n: (
        _direction(rng, m, n) * np.minimum(rng.standard_gamma(n, m), 1.0)[:, None] / EPSILON
    ),
    "Gaussian": lambda rng, m, n: rng.standard_normal((m, n)) / EPSILON,
    "no noise for some": lambda rng, m, n: (
        _direction(rng, m, n) * (rng.standard_gamma(n, m) * (rng.random(m) < 0.9))[:, None] / EPSILON
    ),
}


# A little too little noise shows on a line; the grids of two and three dimensions are too coarse for it.
SHOWS_ON_A_LINE = {"scale -30 %", "bounded noise"}


@pytest.mark.parametrize(
    ("wrong", "dimension"),
    [(wrong, n) for wrong in WRONG_NOISE for n in (1, 2, 3) if n == 1 or wrong not in SHOWS_ON_A_LINE],
)
def test_wrong_noise_is_refuted(wrong: str, dimension: int) -> None:
    embedding = grid(dimension)
    distances = np.linalg.norm(embedding.vectors[0] - embedding.vectors, axis=1)
    draw = with_noise(embedding, WRONG_NOISE[wrong])
    assert any(refuted_either_way(draw, 0, other, EPSILON * float(distances[other])) for other in (1, 2))


@pytest.mark.parametrize("dimension", [2, 3])
def test_a_wrong_shape_is_refuted(dimension: int) -> None:
    embedding = grid(dimension)
    distance = float(np.linalg.norm(embedding.vectors[0] - embedding.vectors[1]))
    peaked: Noise = lambda rng, m, n: _direction(rng, m, n) * rng.standard_gamma(n - 1, m)[:, None] / EPSILON  # noqa: E731
    assert refuted_either_way(with_noise(embedding, peaked), 0, 1, EPSILON * distance)


@pytest.mark.parametrize("dimension", [1, 2, 3])
@pytest.mark.parametrize("broken", [starts_at_the_input, skips_the_input])
def test_a_search_that_sees_the_input_word_is_refuted(
    broken: Callable[[Embedding], Draw], dimension: int
) -> None:
    embedding = grid(dimension)
    distance = float(np.linalg.norm(embedding.vectors[0] - embedding.vectors[1]))
    assert refuted_either_way(broken(embedding), 0, 1, EPSILON * distance)
