"""The slow search every other search is tested against: float64, one query at a time, every word looked at."""

from __future__ import annotations

import numpy as np

from deniable.embeddings.embedding import Embedding
from deniable.interfaces import Floats, Ids, Vectors
from deniable.neighbours.exact import nearest_of, score_error, scores_float64, squared_distances


class OracleNeighbours:
    """Brute force in float64 over the whole vocabulary; nothing is skipped."""

    def __init__(self, embedding: Embedding) -> None:
        self._vectors = embedding.vectors
        self._vectors64: Floats = np.asarray(embedding.vectors, dtype=np.float64)
        self._largest_norm = float(np.sqrt(np.einsum("ij,ij->i", self._vectors64, self._vectors64).max()))

    def nearest(self, queries: Vectors) -> Ids:
        """Return the id of the nearest word of every row; ties go to the lowest id."""
        queries = np.asarray(queries, dtype=np.float32)
        nearest = np.empty(len(queries), dtype=np.int64)
        for i, query in enumerate(queries):
            query64 = query.astype(np.float64)
            scores = scores_float64(query64, self._vectors64)
            error = score_error(len(query), np.array([np.linalg.norm(query64)]), self._largest_norm)[0]
            nearest[i] = nearest_of(query, self._vectors, np.flatnonzero(scores >= scores.max() - 2 * error).tolist())
        return nearest

    def nearest_k(self, queries: Vectors, k: int) -> tuple[Ids, Floats]:
        """Return the ids of the ``k`` nearest words of every row, nearest first, and their distances."""
        queries = np.asarray(queries, dtype=np.float32)
        ids = np.empty((len(queries), k), dtype=np.int64)
        distances = np.empty((len(queries), k))
        for i, query in enumerate(queries):
            squares = squared_distances(query.astype(np.float64), self._vectors64)
            ids[i] = np.argsort(squares, kind="stable")[:k]
            distances[i] = np.sqrt(squares[ids[i]])
        return ids, distances
