"""How large N_w can be at most, for all words at once, with a stated confidence.

For each word the rays give J independent numbers between 0 and 1 with mean N_w. Two bounds hold for such numbers whatever
their distribution, each with probability 1 - δ:

- Hoeffding (1963, theorem 1): J·kl(mean, N_w) ≤ ln(1/δ) where N_w is above the mean, kl being the relative entropy of two
  coins. It is sharp where the mean is near 0 or 1.
- Maurer and Pontil (2009, theorem 4): N_w ≤ mean + √(2·V·ln(2/δ)/J) + 7·ln(2/δ)/(3·(J - 1)), V the sample variance. It is
  sharp where the numbers vary little.

Each is used with δ = α/(2·words) and the smaller one is taken. By the union bound all of them hold together with
probability at least 1 - α, so also the one of the worst word. That the words share rays does not matter to a union bound.
The words and the ε must not have been chosen by looking at the same rays, except through this bound itself: it holds for
all words, and for each fixed ε.
"""

from __future__ import annotations

import math

import numpy as np

from deniable.arrays import Floats


def simultaneous_upper(means: Floats, errors: Floats, rays: int, *, words: int, alpha: float = 0.05) -> Floats:
    """Return what no N_w exceeds, with probability at least 1 - α for all words together.

    ``means`` and ``errors`` are those of ``statistics.unchanged``; ``words`` counts all the words that were looked at.
    """
    delta = alpha / (2.0 * words)
    by_variance = np.ones_like(means)
    if rays > 1:
        log = math.log(2.0 / delta)
        by_variance = means + errors * math.sqrt(2.0 * log) + 7.0 * log / (3.0 * (rays - 1))
    upper: Floats = np.minimum(np.minimum(by_variance, _hoeffding(means, math.log(1.0 / delta) / rays)), 1.0)
    return upper


def _hoeffding(means: Floats, allowance: float) -> Floats:
    """Return the largest u with kl(mean, u) ≤ allowance, rounded up, by halving."""
    means = np.clip(means, 0.0, 1.0)
    low, high = means.copy(), np.ones_like(means)
    for _ in range(50):
        middle = 0.5 * (low + high)
        inside = _relative_entropy(means, middle) <= allowance
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
    return high


def _relative_entropy(p: Floats, q: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        left = np.where(p > 0.0, p * np.log(p / q), 0.0)
        right = np.where(p < 1.0, (1.0 - p) * np.log((1.0 - p) / (1.0 - q)), 0.0)
    total: Floats = left + right
    return total
