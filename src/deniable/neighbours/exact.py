"""The last word on which of a few candidates is nearest: decided without rounding.

With score(u) = ⟨q, φ_u⟩ - ‖φ_u‖²/2, the nearest word has the largest score. Queries and vectors are float32, so every
product of two coordinates is exact in float64, and ``math.fsum`` adds any number of float64 values with a single
rounding at the end: the *sign* of its result is exact. Comparing two candidates by that sign gives the true order in
real arithmetic, whatever path found the candidates. That is why all implementations agree to the last word.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from deniable.interfaces import Floats, Ids, Vectors

UNIT_ROUNDOFF = 2.0**-53


def score_error(dimension: int, query_norms: Floats, largest_norm: float) -> Floats:
    """Return a bound on the rounding error of a score computed in float64, for each query.

    A sum of n products in any order is off by at most γ_n·Σ|aᵢbᵢ| with γ_n = n·u/(1-n·u); Cauchy–Schwarz bounds the sum
    by the product of norms. The half squared norm and the subtraction add a few units; 8 covers them.
    """
    growth = (dimension + 8) * UNIT_ROUNDOFF
    bound: Floats = growth / (1.0 - growth) * largest_norm * (query_norms + largest_norm) + np.finfo(np.float64).tiny
    return bound


def nearest_of(query: Vectors, vectors: Vectors, candidates: Iterable[int]) -> int:
    """Return the candidate row that is truly nearest to the query; of equal ones the lowest number."""
    q = np.asarray(query, dtype=np.float64)
    ordered: Ids = np.sort(np.fromiter(candidates, dtype=np.int64))
    best = int(ordered[0])
    best_vector = np.asarray(vectors[best], dtype=np.float64)
    for challenger in ordered[1:].tolist():
        vector = np.asarray(vectors[challenger], dtype=np.float64)
        terms = np.concatenate([q * vector, -(q * best_vector), -0.5 * vector * vector, 0.5 * best_vector * best_vector])
        if math.fsum(terms.tolist()) > 0.0:
            best, best_vector = challenger, vector
    return best


def squared_distances(query: Floats, vectors: Floats) -> Floats:
    """Return the squared distance of the query to each row, in float64, by differences (no cancellation)."""
    differences = vectors - query
    squares: Floats = np.einsum("ij,ij->i", differences, differences)
    return squares
