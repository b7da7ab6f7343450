"""The fast search returns the oracle's word for every query, on kind and on hostile data."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deniable import Embedding
from deniable.arrays import Vectors
from deniable.neighbours.blas import TILE, BlasNeighbours
from tests.support.hostile import (
    HOSTILE,
    all_norms,
    equal_vectors,
    hostile_queries,
    near_ties,
    noisy_queries,
    one_outlier,
)
from tests.support.oracle import OracleNeighbours
from tests.support.strategies import random_embedding


def assert_same_words(embedding: Embedding, queries: Vectors) -> None:
    assert np.array_equal(
        BlasNeighbours(embedding).nearest(queries), OracleNeighbours(embedding).nearest(queries)
    )


@pytest.mark.parametrize("epsilon", [0.001, 1.0, 5.0, 50.0, 1e6])
@pytest.mark.parametrize(
    ("words", "dimension"), [(1, 3), (2, 1), (TILE - 1, 2), (TILE, 7), (TILE + 1, 50), (1000, 301)]
)
def test_equal_to_the_oracle_at_every_size_and_noise_level(
    words: int, dimension: int, epsilon: float
) -> None:
    embedding = random_embedding(words, dimension)
    assert_same_words(embedding, noisy_queries(embedding, epsilon, 600))


def test_equal_to_the_oracle_when_words_share_vectors() -> None:
    embedding = equal_vectors()
    queries = np.concatenate([noisy_queries(embedding, 2.0, 500), embedding.vectors])
    nearest = BlasNeighbours(embedding).nearest(queries)
    assert np.array_equal(nearest, OracleNeighbours(embedding).nearest(queries))
    assert not np.isin(nearest, embedding.shadowed).any()
    assert len(embedding.shadowed) == 100 + 99


def test_equal_to_the_oracle_on_norms_from_tiny_to_huge() -> None:
    embedding = all_norms()
    for epsilon in (1e-3, 1.0, 1e3, 1e6):
        assert_same_words(embedding, noisy_queries(embedding, epsilon, 300))


def test_equal_to_the_oracle_beside_one_huge_outlier() -> None:
    embedding = one_outlier()
    assert_same_words(embedding, noisy_queries(embedding, 1.0, 500))


def test_equal_to_the_oracle_on_near_ties_one_float_apart() -> None:
    assert_same_words(near_ties(), noisy_queries(near_ties(), 1.0, 500))


def test_a_search_without_its_error_bound_is_told_from_the_oracle() -> None:
    """The comparison has power: plain float32 scores pick wrong words on near ties."""
    embedding = near_ties()
    queries = noisy_queries(embedding, 1.0, 500)
    half_squares = 0.5 * np.einsum("ij,ij->i", embedding.vectors, embedding.vectors)
    careless = (queries @ embedding.vectors.T - half_squares).argmax(axis=1)
    assert not np.array_equal(careless, OracleNeighbours(embedding).nearest(queries))


@settings(deadline=None)
@given(st.integers(1, 80), st.integers(1, 9), st.integers(0, 2**32 - 1), st.sampled_from([1e-6, 1.0, 1e6]))
def test_equal_to_the_oracle_on_small_integer_grids(
    words: int, dimension: int, seed: int, scale: float
) -> None:
    # Coordinates from {-1, 0, 1} make exact ties common.
    rng = np.random.default_rng(seed)
    embedding = Embedding([f"w{i}" for i in range(words)], rng.integers(-1, 2, (words, dimension)) * scale)
    assert_same_words(embedding, (rng.integers(-2, 3, (40, dimension)) * scale / 2).astype(np.float32))


def test_memory_does_not_grow_with_the_batch() -> None:
    embedding = random_embedding(2_000, 8)
    search = BlasNeighbours(embedding)

    def peak(count: int) -> int:
        queries = noisy_queries(embedding, 1.0, count)
        tracemalloc.start()
        search.nearest(queries)
        held = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return held

    assert peak(20_000) < peak(2_000) + 8 * 20_000 + 1_000_000


@pytest.mark.parametrize("data", HOSTILE)
def test_equal_to_the_oracle_on_hostile_data(data: str) -> None:
    embedding = HOSTILE[data]()
    assert_same_words(embedding, hostile_queries(embedding))
