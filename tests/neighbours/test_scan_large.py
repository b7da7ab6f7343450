"""The scan on hostile data at full size, 400,000 words, on every path. Run by `make check-slow`."""

from __future__ import annotations

import numpy as np
import pytest

from deniable import Embedding
from deniable.arrays import Floats, Ids, Vectors
from deniable.embeddings.content import shadowed_rows
from deniable.neighbours.exact import nearest_of, score_error
from tests.support.hostile import HOSTILE_AT_ANY_SIZE, hostile_queries, hostile_vectors

pytest.importorskip("deniable.neighbours._native", reason="installed without the native module")

from deniable.neighbours.scan import ScanNeighbours, usable_paths

WORDS = 400_000
_WORDS_AT_ONCE = 16_384


def brute_force(vectors: Vectors, queries: Vectors) -> Ids:
    """Return what the oracle returns, in less memory: words scored in float64 with their own errors, close
    ones without rounding."""
    points = queries.astype(np.float64)
    lengths = np.linalg.norm(points, axis=1)
    scores, errors = (np.empty((len(queries), len(vectors))) for _ in range(2))
    for start in range(0, len(vectors), _WORDS_AT_ONCE):
        block = vectors[start : start + _WORDS_AT_ONCE].astype(np.float64)
        norms = np.linalg.norm(block, axis=1)
        scores[:, start : start + len(block)] = points @ block.T - 0.5 * np.einsum("ij,ij->i", block, block)
        errors[:, start : start + len(block)] = _errors(vectors.shape[1], lengths, norms)
    reached = (scores - errors).max(axis=1, keepdims=True)
    close = scores + errors >= reached
    return np.array(
        [nearest_of(query, vectors, _without_copies(vectors, close[i])) for i, query in enumerate(queries)]
    )


def _errors(dimension: int, lengths: Floats, norms: Floats) -> Floats:
    # Twice the bound of score_error, for a word's own norm; the norms are rounded themselves.
    growth = 2 * float(score_error(dimension, np.zeros(1), 1.0)[0])
    bound: Floats = growth * norms * (lengths[:, None] + norms) + 1e-300
    return bound


def _without_copies(vectors: Vectors, close: Ids) -> list[int]:
    # Hundreds of thousands of equal words would be compared one by one, and only the first can be right.
    first: dict[bytes, int] = {}
    for word in np.flatnonzero(close).tolist():
        first.setdefault((vectors[word] + np.float32(0.0)).tobytes(), word)
    return list(first.values())


@pytest.mark.slow
@pytest.mark.parametrize("dimension", [1, 2, 3, 7, 50, 300, 301, 1024])
@pytest.mark.parametrize("kind", HOSTILE_AT_ANY_SIZE)
def test_equal_to_float64_on_hostile_data_at_full_size_on_every_path(kind: str, dimension: int) -> None:
    vectors = hostile_vectors(kind, WORDS, dimension)
    words, shadowed = [str(i) for i in range(WORDS)], shadowed_rows(vectors)
    embedding = Embedding.from_checked(
        words, vectors, vectors[0].copy(), name="large", shadowed=shadowed, fingerprint="", cased=False
    )
    queries = hostile_queries(embedding, count=4)
    expected = brute_force(vectors, queries)
    for path in usable_paths():
        search = ScanNeighbours(embedding, path=path)
        assert np.array_equal(search.nearest(queries), expected), path
        ids, distances = search.nearest_k(queries[::5], 1000)
        assert np.array_equal(ids[:, 0], expected[::5]), path
        # The order is that of the true distances; of those that are one rounding apart the later may come out
        # smaller.
        assert (distances[:, 1:] >= distances[:, :-1] * (1 - 1e-12)).all(), path
