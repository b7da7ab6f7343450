"""Checks of the numbers people hand in, made before any work is done: they raise ``InvalidParameter``."""

from __future__ import annotations

import math
from numbers import Real

import numpy as np

from deniable.arrays import Floats, Vectors
from deniable.errors import InvalidParameter

SMALLEST_EPSILON = 1e-200
"""Below this, noise of scale 1/ε comes near the largest float64 and could overflow."""

STARTING_EPSILON = 6.0
"""Where to begin with the built-in embedding and the default mechanism; docs/guide/choosing-epsilon.md gives
the reason."""

FURTHEST_POINT = 1e24
"""A mechanism pulls points back along their ray that have a coordinate beyond this."""

FURTHEST_QUERY = 1e25
"""With vectors no longer than 10¹² (``embeddings.content``), no score of fewer than 1,000 dimensions
overflows float32; the mechanism stays ten times below."""

LONGEST_VECTOR = 1e12
"""Vectors beyond this length are refused: their squared distances leave no room for those of others in
float32."""

_ROWS_AT_ONCE = 16_384


def validated_epsilon(value: object, name: str = "epsilon") -> float:
    """Return ``value`` as a float if it is a finite number greater than zero."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise InvalidParameter(name, value, "must be a number greater than 0, such as 6")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not (math.isfinite(number) and number > 0):
        raise InvalidParameter(name, value, "must be a finite number greater than 0, such as 6")
    if number < SMALLEST_EPSILON:
        raise InvalidParameter(
            name, value, f"is too small: noise this large cannot be represented (at least {SMALLEST_EPSILON})"
        )
    return number


def validated_epsilons(values: object, count: int) -> Floats:
    """Return ``values`` as an array if they are ``count`` finite numbers greater than zero, one per word."""
    problem = f"must be {count:,} finite numbers greater than 0, one per word"
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidParameter("epsilon", type(values).__name__, problem) from None
    # A budget per record is divided by the record's words, so these may lie below the smallest ε a user may
    # choose.
    if array.shape != (count,) or not (np.isfinite(array) & (array >= SMALLEST_EPSILON * 1e-20)).all():
        raise InvalidParameter("epsilon", f"array of shape {array.shape}", problem)
    return array


def validated_count(value: object, name: str, *, at_least: int = 1) -> int:
    """Return ``value`` as an int if it is a whole number of at least ``at_least``."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise InvalidParameter(name, value, f"must be a whole number of at least {at_least}")
    number = int(value.__index__())
    if number < at_least:
        raise InvalidParameter(name, value, f"must be a whole number of at least {at_least}")
    return number


def validated_share(value: object, name: str, *, below_one: bool = False) -> float:
    """Return ``value`` as a float if it is a number from 0 to 1."""
    allowed = "from 0 to less than 1" if below_one else "from 0 to 1"
    if isinstance(value, bool) or not isinstance(value, Real):
        raise InvalidParameter(name, value, f"must be a number {allowed}")
    number = float(value)
    if not 0.0 <= number <= 1.0 or (below_one and number == 1.0):
        raise InvalidParameter(name, value, f"must be a number {allowed}")
    return number


def validated_max_unchanged(value: float) -> float:
    """Return ``value`` if it is a share that N_w can be held to."""
    if not 0.0 < value < 1.0:
        raise InvalidParameter("max_unchanged", value, "must lie between 0 and 1, such as 0.5")
    return value


def checked_queries(queries: Vectors, dimension: int) -> Vectors:
    """Return the queries as a contiguous float32 table."""
    queries = np.ascontiguousarray(queries, dtype=np.float32)
    if queries.ndim != 2 or queries.shape[1] != dimension:
        raise InvalidParameter(
            "queries", queries.shape, f"must be a table of points with {dimension} coordinates each"
        )
    # A NaN would lose every comparison and return a word that has nothing to do with the point. The message
    # must not say which value it was: queries are noisy vectors.
    if not np.isfinite(queries).all() or (queries.size and np.abs(queries).max() > FURTHEST_QUERY):
        raise InvalidParameter("queries", "<hidden>", f"must be finite numbers of at most {FURTHEST_QUERY:g}")
    return queries


def checked_k(k: int, words: int) -> int:
    """Return ``k`` if there are that many words."""
    if not 1 <= k <= words:
        raise InvalidParameter("k", k, f"must be from 1 to the number of words, {words:,}")
    return k


def first_unusable(vectors: Vectors) -> int | None:
    """Return the first row that is not finite or longer than ``LONGEST_VECTOR``; None if there is none."""
    for start in range(0, len(vectors), _ROWS_AT_ONCE):
        block = vectors[start : start + _ROWS_AT_ONCE]
        squared = np.einsum("ij,ij->i", block, block, dtype=np.float64)
        usable = squared <= LONGEST_VECTOR**2  # False for NaN
        if not usable.all():
            return start + int(np.argmin(usable))
    return None
