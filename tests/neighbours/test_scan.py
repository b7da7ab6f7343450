"""The certified scan returns the oracle's word on every instruction path: hostile data and batches of every
size, many neighbours, damaged indexes."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest

from deniable import Embedding, InvalidParameter
from deniable.arrays import Floats, Ids, Vectors
from deniable.neighbours.blas import BlasNeighbours
from tests.support.hostile import (
    HOSTILE,
    HOSTILE_AT_ANY_SIZE,
    hostile_queries,
    hostile_vectors,
    named,
    noisy_queries,
)
from tests.support.oracle import OracleNeighbours
from tests.support.strategies import random_embedding

pytest.importorskip("deniable.neighbours._native", reason="installed without the native module")

from deniable.neighbours import _native
from deniable.neighbours.scan import ScanNeighbours, open_index, usable_paths

PATHS = usable_paths()
every_path = pytest.mark.parametrize("path", PATHS)


Case = tuple[Embedding, Vectors, Ids]
"""Words, queries and what the slow oracle says: asked once for all paths, which follow one another."""


def case(embedding: Embedding, queries: Vectors) -> Case:
    return embedding, queries, OracleNeighbours(embedding).nearest(queries)


@lru_cache(maxsize=1)
def hostile_cases_of_dimension(kind: str, dimension: int) -> list[Case]:
    embeddings = [named(hostile_vectors(kind, words, dimension)) for words in (1, 2, 63, 64, 65)]
    return [case(embedding, hostile_queries(embedding, count=4)) for embedding in embeddings]


@every_path
@pytest.mark.parametrize("dimension", [1, 2, 3, 7, 50, 300, 301, 1024])
@pytest.mark.parametrize("kind", HOSTILE_AT_ANY_SIZE)
def test_equal_to_the_oracle_on_hostile_data_at_every_size(kind: str, dimension: int, path: str) -> None:
    for embedding, queries, expected in hostile_cases_of_dimension(kind, dimension):
        assert np.array_equal(ScanNeighbours(embedding, path=path).nearest(queries), expected)


def test_a_scan_without_rescoring_is_told_from_the_oracle() -> None:
    """The comparison has power: scores of 8-bit vectors alone, without bound and second look, pick wrong
    words."""
    embedding = random_embedding(700, 50)
    queries = noisy_queries(embedding, 2.0, 500)
    scales = np.abs(embedding.vectors).max(axis=1, keepdims=True) / 127
    rounded = np.rint(embedding.vectors / scales) * scales
    careless = (queries @ rounded.T - 0.5 * np.einsum("ij,ij->i", rounded, rounded)).argmax(axis=1)
    assert not np.array_equal(careless, OracleNeighbours(embedding).nearest(queries))


@lru_cache(maxsize=1)
def five_thousand_words() -> tuple[Embedding, BlasNeighbours]:
    embedding = random_embedding(5_000, 12)
    return embedding, BlasNeighbours(embedding)


@every_path
@pytest.mark.parametrize("count", [1, 2, 15, 16, 17, 47, 48, 49, 100, 1000])
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_batches_of_every_size_on_any_number_of_threads(
    count: int, threads: int, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DENIABLE_THREADS", str(threads))
    embedding, expected = five_thousand_words()
    queries = noisy_queries(embedding, 3.0, count)
    assert np.array_equal(ScanNeighbours(embedding, path=path).nearest(queries), expected.nearest(queries))


Order = tuple[Embedding, Vectors, Ids, Floats]
"""Words, queries, the oracle's nearest words in their order and their distances: asked once for all paths."""


@lru_cache(maxsize=1)
def order_of_a_thousand(count: int) -> Order:
    embedding = random_embedding(9_000, 20)
    queries = noisy_queries(embedding, 5.0, count)
    return embedding, queries, *OracleNeighbours(embedding).nearest_k(queries, 1000)


@every_path
@pytest.mark.parametrize("count", [1, 60])
def test_a_thousand_nearest_equal_the_oracle(count: int, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DENIABLE_THREADS", "3")
    embedding, queries, expected_ids, expected_distances = order_of_a_thousand(count)
    ids, distances = ScanNeighbours(embedding, path=path).nearest_k(queries, 1000)
    assert np.array_equal(ids, expected_ids)
    assert np.allclose(distances, expected_distances, rtol=1e-12, atol=0)


@lru_cache(maxsize=1)
def order_of_close_words(k: int, count: int) -> Order:
    # Twelve thousand candidates and more are twice the room there is; equal vectors make ties across what was
    # dropped.
    apart = HOSTILE["all_within_the_bound"]().vectors
    embedding = named(np.concatenate([apart, apart[:3000], apart[::-1][:3000]]))
    queries = noisy_queries(embedding, 5.0, count)
    # The oracle takes seconds for so many close words, so it sees some of the queries.
    return embedding, queries, *OracleNeighbours(embedding).nearest_k(queries[::35], k)


@every_path
@pytest.mark.parametrize("count", [1, 70])
@pytest.mark.parametrize("k", [2, 1000])
def test_the_k_nearest_are_right_when_candidates_have_to_be_dropped_on_the_way(
    k: int, count: int, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DENIABLE_THREADS", "2")
    embedding, queries, expected_ids, expected_distances = order_of_close_words(k, count)
    ids, distances = ScanNeighbours(embedding, path=path).nearest_k(queries, k)
    assert np.array_equal(ids[::35], expected_ids)
    assert np.allclose(distances[::35], expected_distances, rtol=1e-12, atol=0)


def test_an_index_that_changed_after_it_was_checked_gives_an_error_and_no_word() -> None:
    embedding = random_embedding(100, 8)
    search = ScanNeighbours(embedding)
    data = open_index(embedding, embedding.vectors)
    data[64 : 64 + 13 * 224] = 0xFF  # the heads of all tiles: not a number anywhere
    damaged = _native.Index(data, embedding.vectors)
    queries, ids = noisy_queries(embedding, 5.0, 3), np.full((3, 2), 7, dtype=np.int64)
    with pytest.raises(RuntimeError, match="damaged"):
        damaged.nearest(queries, ids[:, 0].copy(), search.path, 1)
    with pytest.raises(RuntimeError, match="damaged"):
        damaged.nearest_k(queries, ids, np.zeros((3, 2)), search.path, 1)


def test_results_are_never_written_into_a_copy() -> None:
    embedding = random_embedding(100, 8)
    index = _native.Index(open_index(embedding, embedding.vectors), embedding.vectors)
    with pytest.raises(TypeError):
        index.nearest(noisy_queries(embedding, 5.0, 3), np.zeros(3, dtype=np.int32), "portable", 1)
    with pytest.raises(ValueError, match="thread"):
        index.nearest(noisy_queries(embedding, 5.0, 3), np.zeros(3, dtype=np.int64), "portable", 0)


def test_a_path_that_the_machine_lacks_is_refused() -> None:
    with pytest.raises(InvalidParameter, match=r"this machine can run: .*portable"):
        ScanNeighbours(random_embedding(3, 2), path="abacus")
