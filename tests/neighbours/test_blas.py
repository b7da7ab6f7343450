"""The search by matrix products: its error bound is needed, and its memory does not grow with the batch."""

from __future__ import annotations

import tracemalloc

import numpy as np

from deniable.neighbours.blas import BlasNeighbours
from tests.support.hostile import near_ties, noisy_queries
from tests.support.oracle import OracleNeighbours
from tests.support.strategies import random_embedding


def test_a_search_without_its_error_bound_is_told_from_the_oracle() -> None:
    """The comparison has power: plain float32 scores pick wrong words on near ties."""
    embedding = near_ties()
    queries = noisy_queries(embedding, 1.0, 500)
    half_squares = 0.5 * np.einsum("ij,ij->i", embedding.vectors, embedding.vectors)
    careless = (queries @ embedding.vectors.T - half_squares).argmax(axis=1)
    assert not np.array_equal(careless, OracleNeighbours(embedding).nearest(queries))


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
