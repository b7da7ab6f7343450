"""Exact nearest words by the certified int8 scan: the native code in ``native/``.

The nearest word of q is argmax_u ⟨q, φ_u⟩ - ‖φ_u‖²/2. Integer dot products of vectors rounded to 8 bits give approximate
scores with a proven error (``native/query.cpp`` has the proof). Only words whose upper bound reaches the best lower bound
can win; these few are scored again in float64, and what float64 cannot tell apart is decided without rounding
(``native/exact.cpp``). So the word is the true nearest one, whatever the data; bad data make it slower, never wrong.
"""

from __future__ import annotations

import numpy as np

from deniable.arrays import Floats, Ids, Vectors
from deniable.embeddings.embedding import Embedding
from deniable.errors import InvalidParameter
from deniable.neighbours import _native
from deniable.neighbours.index_file import open_index
from deniable.neighbours.threads import threads
from deniable.parameters import checked_k, checked_queries

_QUERIES_PER_THREAD = 384
_MULTIPLICATIONS_AT_ONCE = 1 << 37


UNTRIED = ("neon",)
"""Paths that no machine of ours could run: the tests cover them where they exist, but nobody gets them unasked."""


def usable_paths() -> list[str]:
    """Return the instruction paths this machine can run, fastest first."""
    return [name for name, obstacle in _native.paths() if not obstacle]


def chosen_path() -> str | None:
    """Return the path that searches use on this machine, or None where numpy's matrix product serves better.

    The portable path is that slow: without wide integer instructions the matrix product wins.
    """
    return next((name for name in usable_paths() if name not in (*UNTRIED, "portable")), None)


class ScanNeighbours:
    """Exact search at the speed of integer hardware. Safe to use from several threads at once."""

    def __init__(self, embedding: Embedding, *, path: str | None = None) -> None:
        """Open or build the index of an embedding; ``path`` forces an instruction path, for tests and benchmarks.

        :raises InvalidParameter: if the machine cannot run that path.
        :raises MalformedEmbedding: if a vector of a stored embedding is not finite or absurdly long.
        """
        usable = usable_paths()
        if path is not None and path not in usable:
            raise InvalidParameter("path", path, f"must be one this machine can run: {', '.join(usable)}")
        self.path = path or chosen_path() or "portable"
        vectors: Vectors = np.ascontiguousarray(embedding.vectors, dtype=np.float32)
        self._words, self._dimension = vectors.shape
        self._index = _native.Index(open_index(embedding, vectors), vectors)

    def nearest(self, queries: Vectors) -> Ids:
        """Return the id of the nearest word of every row; ties go to the lowest id."""
        queries = checked_queries(queries, self._dimension)
        ids = np.empty(len(queries), dtype=np.int64)
        count = threads()
        at_once = self._at_once(count, per_query=self._words * self._dimension)
        for start in range(0, len(queries), at_once):
            part = slice(start, start + at_once)
            self._index.nearest(queries[part], ids[part], self.path, count)
        return ids

    def nearest_k(self, queries: Vectors, k: int) -> tuple[Ids, Floats]:
        """Return the ids of the ``k`` nearest words of every row, nearest first, and their distances.

        :raises InvalidParameter: if ``k`` is not between 1 and the number of words.
        """
        queries = checked_queries(queries, self._dimension)
        shape = (len(queries), checked_k(k, self._words))
        ids, distances = np.empty(shape, dtype=np.int64), np.empty(shape)
        count = threads()
        at_once = self._at_once(count, per_query=self._words * (self._dimension + k))
        for start in range(0, len(queries), at_once):
            part = slice(start, start + at_once)
            self._index.nearest_k(queries[part], ids[part], distances[part], self.path, count)
        return ids, distances

    def _at_once(self, count: int, *, per_query: int) -> int:
        """Return how many queries one call takes: it cannot be interrupted, so a long one is made of several.

        A multiple of what the threads take at a time, so that none waits for another at the end of a call.
        """
        turn = count * _QUERIES_PER_THREAD
        return turn * max(1, _MULTIPLICATIONS_AT_ONCE // (per_query * turn))
