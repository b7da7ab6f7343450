"""How large N_w can be at most, for all words at once, and how many words of a vocabulary can miss a target.

For each word the rays or draws give J independent numbers between 0 and 1 with mean N_w. Two bounds hold for
such numbers whatever their distribution, each with probability 1 - δ:

- Hoeffding (1963, theorem 1): J·kl(mean, N_w) ≤ ln(1/δ) where N_w is above the mean, kl being the relative
  entropy of two coins. It is sharp where the mean is near 0 or 1.
- Maurer and Pontil (2009, theorem 4): N_w ≤ mean + √(2·V·ln(2/δ)/J) + 7·ln(2/δ)/(3·(J - 1)), V the sample
  variance. It is sharp where the numbers vary little.

Each is used with δ = α/(2·words) and the smaller one is taken. By the union bound all of them hold together
with probability at least 1 - α, so also the one of the worst word. That the words share rays does not matter
to a union bound. The words and the ε must not have been chosen by looking at the same rays, except through
this bound itself: it holds for all words that were looked at, and for each fixed ε. Of words that were not
looked at it says nothing.

Of words drawn at random from the vocabulary a bound on the share of the vocabulary that misses a target
follows; of words that somebody listed nothing follows for the others. n of N words are drawn without
replacement, and k of them are counted as missing, also those that might miss by the error of their N_w. Were
more than M words of the vocabulary to miss, so few in the sample would have a probability of at most δ; the
largest M for which it is more gives the bound M/N (Clopper and Pearson's, for a finite vocabulary). Half of δ
is for the draw of the words, and half for their N_w: Hoeffding's bound on each, for all of them at once.

The ε is often chosen by looking at these very words, so that k is not known beforehand. So each k = 0, 1, 2,
… has a δ of its own, α/((k + 1)(k + 2)), and all of them together make α. Where N_w grows with ε, the bound
of every k fails with probability δ at most, whatever ε is looked at: if it fails somewhere, then also at the
smallest ε where the vocabulary exceeds it, which no draw changes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from deniable.arrays import Floats

CONFIDENCE = 0.95


@dataclass(frozen=True, kw_only=True)
class ShareBound:
    """With 95 % confidence, at most this share of the vocabulary misses the targets.

    ``counted`` words of the sample are counted as missing. ``for_any_epsilon``: it holds for an ε that was
    chosen by looking at these words, and not only for one fixed beforehand.
    """

    at_most: float
    counted: int
    for_any_epsilon: bool

    @property
    def provided(self) -> str:
        """The confidence, and what it depends on."""
        return "95 % confidence" if self.for_any_epsilon else "95 % confidence, for an ε fixed beforehand"

    def to_dict(self) -> dict[str, Any]:
        """Return the bound as JSON-ready data."""
        holds_for = "an ε chosen on these words too" if self.for_any_epsilon else "an ε fixed beforehand"
        return {
            "at_most": self.at_most,
            "confidence": CONFIDENCE,
            "words_counted_as_missing": self.counted,
            "holds_for": holds_for,
        }


def bound_share(missing: Callable[[float], int], *, sample: int, vocabulary: int, grows: bool) -> ShareBound:
    """Return the bound for a random sample of this many words of a vocabulary.

    ``missing`` returns how many of them may miss the targets unless an event of a given probability happened;
    ``grows`` says whether N_w grows with ε.
    """
    k = missing(_level(0) / 2.0)
    while (more := missing(_level(k) / 2.0)) > k:
        k = more
    at_most = _finite_share(k, sample, vocabulary, _level(k) / 2.0)
    return ShareBound(at_most=at_most, counted=k, for_any_epsilon=grows)


def _level(k: int) -> float:
    return (1.0 - CONFIDENCE) / ((k + 1) * (k + 2))


def _finite_share(hits: int, draws: int, population: int, level: float) -> float:
    """Return what the share of a population does not exceed unless an event of probability ``level``
    happened."""
    from scipy.stats import hypergeom

    low, high = hits, population - (draws - hits)  # the fewest and the most there can be
    while low < high:
        middle = (low + high + 1) // 2
        if hypergeom.cdf(hits, population, middle, draws) > level:
            low = middle
        else:
            high = middle - 1
    return low / population


def simultaneous_upper(
    means: Floats, errors: Floats, draws: int, *, words: int, alpha: float = 0.05
) -> Floats:
    """Return what no N_w exceeds, with probability at least 1 - α for all words together.

    ``means`` and ``errors`` are those of ``statistics.unchanged``; ``words`` counts all words looked at.
    """
    delta = alpha / (2.0 * words)
    by_variance = np.ones_like(means)
    if draws > 1:
        log = math.log(2.0 / delta)
        by_variance = means + errors * math.sqrt(2.0 * log) + 7.0 * log / (3.0 * (draws - 1))
    upper: Floats = np.minimum(np.minimum(by_variance, hoeffding(means, math.log(1.0 / delta) / draws)), 1.0)
    return upper


def hoeffding(means: Floats, allowance: float) -> Floats:
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
