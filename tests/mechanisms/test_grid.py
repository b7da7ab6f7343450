from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from deniable import Embedding
from deniable.mechanisms.grid import Grid
from tests.support.strategies import random_embedding


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e9])
def test_distances_are_the_exact_ones_of_the_grid_correctly_rounded(scale: float) -> None:
    embedding = random_embedding(40, 300, scale=scale)
    grid = Grid(embedding)
    found = grid.to_all(np.array([0, 7, embedding.unknown_id]))
    for row, word in enumerate((0, 7, embedding.unknown_id)):
        for other in (0, 3, 39):
            a, b = grid.rows(np.array([word, other]))
            square = sum(
                (Fraction(x) - Fraction(y)) ** 2 for x, y in zip(a.tolist(), b.tolist(), strict=True)
            )
            assert square < 2**53
            assert float(square) == square
            assert found[row, other] == np.sqrt(float(square)) * grid.unit


def test_any_batch_and_any_way_give_the_same_bits() -> None:
    embedding = random_embedding(5_000, 50)
    grid, ids = Grid(embedding), np.arange(64)
    whole = grid.to_all(ids)
    assert np.array_equal(np.concatenate([grid.to_all(ids[i : i + 1]) for i in ids]), whole)
    others = np.random.default_rng(0).integers(0, 5_000, (64, 17))
    assert np.array_equal(grid.to_some(ids, others), np.take_along_axis(whole, others, axis=1))


def test_a_plain_product_would_not() -> None:
    # The reason for the grid: float32 products of the same vectors differ between batches or from float64.
    embedding = random_embedding(5_000, 50)
    vectors = embedding.vectors
    assert not np.array_equal(
        (vectors[:64] @ vectors.T).astype(np.float64),
        vectors[:64].astype(np.float64) @ vectors.T.astype(np.float64),
    )


def test_the_grid_is_fine() -> None:
    embedding = random_embedding(500, 300)
    longest = np.linalg.norm(embedding.vectors, axis=1).max()
    true = np.linalg.norm(
        embedding.vectors[3].astype(np.float64) - embedding.vectors.astype(np.float64), axis=1
    )
    assert np.abs(Grid(embedding).to_all(np.array([3]))[0] - true).max() < 1e-6 * longest


def test_vectors_of_nothing_have_distance_zero() -> None:
    assert Grid(Embedding(["a", "b"], [[0.0], [0.0]])).between(0, 1) == 0.0
