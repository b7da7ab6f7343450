"""The slow search every other search is tested against: float64, every word looked at for every query."""

from __future__ import annotations

import numpy as np

from deniable.arrays import Floats, Ids, Vectors
from deniable.embeddings.embedding import Embedding
from deniable.neighbours.exact import nearest_of, rank, score_error

_QUERIES_AT_ONCE = 16


class OracleNeighbours:
    """Brute force in float64 over the whole vocabulary; nothing is skipped."""

    def __init__(self, embedding: Embedding) -> None:
        self._vectors = embedding.vectors
        self._vectors64: Floats = np.asarray(embedding.vectors, dtype=np.float64)
        self._half_squares: Floats = 0.5 * np.einsum("ij,ij->i", self._vectors64, self._vectors64)
        self._largest_norm = float(np.sqrt(2 * self._half_squares.max()))

    def nearest(self, queries: Vectors) -> Ids:
        """Return the id of the nearest word of every row; ties go to the lowest id."""
        queries = np.asarray(queries, dtype=np.float32)
        nearest = np.empty(len(queries), dtype=np.int64)
        for start in range(0, len(queries), _QUERIES_AT_ONCE):
            batch = queries[start : start + _QUERIES_AT_ONCE]
            points = batch.astype(np.float64)
            scores = points @ self._vectors64.T - self._half_squares
            slack = 2 * score_error(points.shape[1], np.linalg.norm(points, axis=1), self._largest_norm)
            close = scores >= scores.max(axis=1, keepdims=True) - slack[:, None]
            for i, query in enumerate(batch):
                nearest[start + i] = nearest_of(query, self._vectors, np.flatnonzero(close[i]).tolist())
        return nearest

    def nearest_k(self, queries: Vectors, k: int) -> tuple[Ids, Floats]:
        """Return the ids of the ``k`` nearest words of every row, nearest first, and their distances."""
        queries = np.asarray(queries, dtype=np.float32)
        ids = np.empty((len(queries), k), dtype=np.int64)
        distances = np.empty((len(queries), k))
        everything = np.arange(len(self._vectors), dtype=np.int64)
        for i, query in enumerate(queries):
            ids[i], distances[i] = rank(query, self._vectors, everything, k)
        return ids, distances
