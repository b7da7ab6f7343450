"""The last word on which of a few candidates is nearest: decided without rounding.

With score(u) = ⟨q, φ_u⟩ - ‖φ_u‖²/2, the nearest word has the largest score. Queries and vectors are float32,
so every product of two coordinates is exact in float64, and ``math.fsum`` adds any number of float64 values
with a single rounding at the end: the *sign* of its result is exact. Comparing two candidates by that sign
gives the true order in real arithmetic, whatever path found the candidates. That is why all implementations
agree to the last word.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import cmp_to_key

import numpy as np

from deniable.arrays import Floats, Ids, Vectors

UNIT_ROUNDOFF = 2.0**-53
_NUMBERS_AT_ONCE = 1 << 20


def score_error(dimension: int, query_norms: Floats, largest_norm: float) -> Floats:
    """Return a bound on the rounding error of a score computed in float64, for each query.

    A sum of n products in any order is off by at most γ_n·Σ|aᵢbᵢ| with γ_n = n·u/(1-n·u); Cauchy–Schwarz
    bounds the sum by the product of norms. The half squared norm and the subtraction add a few units; 8
    covers them.
    """
    growth = (dimension + 8) * UNIT_ROUNDOFF
    bound: Floats = (
        growth / (1.0 - growth) * largest_norm * (query_norms + largest_norm) + np.finfo(np.float64).tiny
    )
    return bound


def nearest_of(query: Vectors, vectors: Vectors, candidates: Iterable[int]) -> int:
    """Return the candidate row that is truly nearest to the query; of equal ones the lowest number."""
    q = np.asarray(query, dtype=np.float64)
    best, *challengers = sorted(candidates)
    for challenger in challengers:
        if _score_sign(q, vectors[challenger], vectors[best]) > 0:
            best = challenger
    return best


def rank(query: Vectors, vectors: Vectors, candidates: Ids, k: int) -> tuple[Ids, Floats]:
    """Return the ``k`` candidate rows truly nearest to the query, nearest first, equal ones by number, and
    their distances.

    The candidates must be in increasing order.
    """
    q = np.asarray(query, dtype=np.float64)
    squares: Floats = np.empty(len(candidates))
    # All words can be candidates, so their float64 copies are made a few at a time.
    at_once = max(1, _NUMBERS_AT_ONCE // len(q))
    for start in range(0, len(candidates), at_once):
        part = slice(start, start + at_once)
        differences = vectors[candidates[part]].astype(np.float64) - q
        squares[part] = np.einsum("ij,ij->i", differences, differences)
    order = np.argsort(squares, kind="stable")
    sorted_squares = squares[order]
    # Differences do not cancel, so a square is off by a few units of its own size. What lies closer is
    # decided exactly.
    slack = 4 * (len(q) + 8) * UNIT_ROUNDOFF
    starts = np.flatnonzero(np.r_[True, np.diff(sorted_squares) > slack * sorted_squares[1:]])
    ends = np.r_[starts[1:], len(order)]

    def nearer(first: int, second: int) -> int:
        sign = _score_sign(q, vectors[candidates[second]], vectors[candidates[first]])
        return sign if sign else first - second

    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        if start >= k:
            break
        if end - start > 1:
            order[start:end] = sorted(order[start:end].tolist(), key=cmp_to_key(nearer))
    first_k = order[:k]
    return candidates[first_k], np.sqrt(squares[first_k])


def _score_sign(query: Floats, first: Vectors, second: Vectors) -> int:
    """Return 1 if the first vector is nearer to the query, -1 if the second is, else 0."""
    u, v = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    difference = math.fsum(np.concatenate([query * u, -(query * v), -0.5 * u * u, 0.5 * v * v]).tolist())
    return (difference > 0.0) - (difference < 0.0)
