"""Holds what a note says of N_w against fresh draws: a folder that was received may state anything of itself.

The note states that a share q of the words has N_w of at most u(q). If that is true, a word drawn at random
stays as it is with a probability of at most the sum of (q - q')·u(q) over neighbouring shares q' < q, and no
word with one above u(1). Both are tested at a level of one in a million. The words for the second test are
found by draws of their own: those that stay again and again.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from deniable.arrays import Ids
from deniable.interfaces import Mechanism
from deniable.noise.randomness import SecureRandomness

_LEVEL = 1e-6
_WORDS = 2000
_ROUNDS = ((256, 4), (64, 8), (16, 60))
"""How many of the words that stayed are drawn again, and how often; the last draws are those that count."""

_DIRECTIONS = 1000
"""A calibration follows this many directions of each word, the same of all, so it may be wrong by three
standard errors of that many."""

_passed: set[tuple[object, ...]] = set()


def contradiction(claims: Mapping[float, float], mechanism: Mechanism, epsilon: float) -> str | None:
    """Return what fresh draws contradict, in words, or None. ``claims`` is the largest N_w of each share of
    the words.

    Claims that passed are not checked again in this process.
    """
    key = (
        mechanism.embedding.fingerprint,
        type(mechanism),
        repr(mechanism.guarantee.parameters),
        epsilon,
        *sorted(claims.items()),
    )
    if not claims or key in _passed:
        return None
    problem = _contradiction(claims, mechanism, epsilon)
    if problem is None:
        _passed.add(key)
    return problem


def _contradiction(claims: Mapping[float, float], mechanism: Mechanism, epsilon: float) -> str | None:
    chance = np.random.default_rng()
    ids = chance.integers(0, len(mechanism.embedding), _WORDS)
    stays = _times_unchanged(mechanism, ids, 1, epsilon) == 1
    mean = _mean_bound(claims)
    if _too_many(int(stays.sum()), _WORDS, mean, _LEVEL):
        return (
            f"it states that at ε = {epsilon:g} a word stays as it is with at most {mean:.1%}, and "
            f"{stays.mean():.1%} of fresh draws do"
        )
    left = np.unique(ids[stays])
    for most, draws in _ROUNDS:
        left = chance.permutation(left)[:most]
        times = _times_unchanged(mechanism, left, draws, epsilon)
        found, left = times.max(initial=0), left[times == draws]
    if _too_many(int(found), draws, claims[1.0], _LEVEL / most):
        return (
            f"it states that at ε = {epsilon:g} no word stays as it is in more than {claims[1.0]:.1%} of "
            "draws, and fresh draws show one"
        )
    return None


def _times_unchanged(mechanism: Mechanism, ids: Ids, draws: int, epsilon: float) -> Ids:
    """Return how often each word stays as it is."""
    each = np.repeat(ids, draws)
    drawn = mechanism.perturb(
        mechanism.embedding.stands_in(each), SecureRandomness(), epsilon=np.full(len(each), epsilon)
    )
    times: Ids = (drawn == each).reshape(-1, draws).sum(axis=1)
    return times


def _mean_bound(claims: Mapping[float, float]) -> float:
    """Return the largest mean of N_w that is in line with the claims."""
    total, before = 0.0, 0.0
    for quantile in sorted(quantile for quantile in claims if 0.0 < quantile <= 1.0):
        total += (quantile - before) * min(share for other, share in claims.items() if other >= quantile)
        before = quantile
    return total


def _too_many(count: int, draws: int, share: float, level: float) -> bool:
    """Return whether draws that stay with a probability of at most ``share``, which may be off by its error,
    hardly give that count."""
    from scipy.special import betainc  # loaded when it is needed

    allowed = min(share + 3.0 * math.sqrt(share * (1.0 - share) / _DIRECTIONS), 1.0)
    return count > 0 and bool(betainc(count, draws - count + 1, allowed) < level)
