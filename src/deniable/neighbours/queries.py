"""What every search accepts as queries."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from deniable.arrays import Ids, Vectors
from deniable.errors import InvalidParameter

FURTHEST_QUERY = 1e25
"""With vectors no longer than 10¹² (checks.py), no score of fewer than 1,000 dimensions overflows float32; the mechanism stays
ten times below."""


def checked_queries(queries: Vectors, dimension: int) -> Vectors:
    """Return the queries as a contiguous float32 table.

    :raises InvalidParameter: if they are not points with ``dimension`` finite coordinates.
    """
    queries = np.ascontiguousarray(queries, dtype=np.float32)
    if queries.ndim != 2 or queries.shape[1] != dimension:
        raise InvalidParameter("queries", queries.shape, f"must be a table of points with {dimension} coordinates each")
    # A NaN would lose every comparison and return a word that has nothing to do with the point. The message must
    # not say which value it was: queries are noisy vectors.
    if not np.isfinite(queries).all() or (queries.size and np.abs(queries).max() > FURTHEST_QUERY):
        raise InvalidParameter("queries", "<hidden>", f"must be finite numbers of at most {FURTHEST_QUERY:g}")
    return queries


def nearest_in_parts(queries: Vectors, at_once: int, nearest: Callable[[Vectors], Ids]) -> Ids:
    """Return the nearest word of every row, found for ``at_once`` rows at a time: what they need in between takes bounded memory."""
    found = np.empty(len(queries), dtype=np.int64)
    for start in range(0, len(queries), at_once):
        found[start : start + at_once] = nearest(queries[start : start + at_once])
    return found


def checked_k(k: int, words: int) -> int:
    """Return ``k`` if there are that many words.

    :raises InvalidParameter: otherwise.
    """
    if not 1 <= k <= words:
        raise InvalidParameter("k", k, f"must be from 1 to the number of words, {words:,}")
    return k
