"""The distribution of what a word becomes, and the statistics that are read from it: S_w and the Rényi
entropies."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from deniable.arrays import Floats, Ids
from deniable.mechanisms.base import Method

ETA = 0.05
"""S_w leaves out at most this much probability, by default."""


@dataclass(frozen=True, kw_only=True)
class Distribution:
    """The estimated output distribution of one word at one ε: words by falling probability."""

    words: Ids
    probabilities: Floats
    standard_errors: Floats

    def support(self, eta: float = ETA) -> int:
        """Return S_w: the size of the smallest set of words outside of which at most η of the probability
        lies."""
        reached = np.cumsum(self.probabilities) >= (1.0 - eta) * (1.0 - 1e-12)
        return int(np.argmax(reached)) + 1 if reached.any() else len(self.words)

    def entropies(self) -> tuple[float, float, float, float]:
        """Return H₀ (max-entropy), H₁ (Shannon), H₂ (collision) and H_∞ (min-entropy), in bits."""
        p = self.probabilities[self.probabilities > 0.0]
        shannon = -float((p * np.log2(p)).sum())
        return math.log2(len(p)), shannon, -math.log2(float((p * p).sum())), -math.log2(float(p.max()))


@dataclass(frozen=True, kw_only=True)
class OutputDistribution(Distribution):
    """The words that an input becomes, by falling probability, with standard errors.

    ``draws`` are the directions or draws it was estimated from, and ``distinct`` how many distinct words one
    draw for each of them gave; for an exact distribution as many draws were made just for that.
    """

    method: Method
    draws: int
    distinct: int


def binomial_error(counts: Ids | Floats, draws: int | Ids | Floats) -> Floats:
    """Return the standard errors of shares counted in this many draws."""
    # Two draws more, one of each kind, keep the error of "never" and "always" above zero.
    smoothed = (counts + 1) / (draws + 2)
    errors: Floats = np.sqrt(smoothed * (1 - smoothed) / (draws + 2))
    return errors
