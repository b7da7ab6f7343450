"""Which words were looked at, and what they say of the others.

A statement about all words is made only where all words were looked at. Of words that somebody listed, nothing follows for the others.
Of words drawn at random from the vocabulary something follows: a bound on the share of the vocabulary that misses a target.

The bound: n of N words are drawn without replacement, and k of them are counted as missing, also those that might miss by the error of
their N_w. Were more than M words of the vocabulary to miss, so few in the sample would have a probability of at most δ; the largest M
for which it is more gives the bound M/N (Clopper and Pearson's, for a finite vocabulary). Half of δ is for the draw of the words, and
half for their N_w: Hoeffding's bound on each, for all of them at once.

The ε is often chosen by looking at these very words, so that k is not known beforehand. So each k = 0, 1, 2, … has a δ of its own,
α/((k + 1)(k + 2)), and all of them together make α. Where N_w grows with ε, the bound of every k fails with probability δ at most,
whatever ε is looked at: if it fails somewhere, then also at the smallest ε where the vocabulary exceeds it, which no draw changes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from deniable.report.wording import most_words, percent, words

CONFIDENCE = 0.95


@dataclass(frozen=True, kw_only=True)
class LookedAt:
    """How many words were looked at, of how many, and whether they were drawn at random from the whole vocabulary."""

    count: int
    vocabulary: int
    at_random: bool

    @property
    def all(self) -> bool:
        """Whether no word was left out."""
        return self.count == self.vocabulary

    @property
    def how(self) -> Literal["all", "at random", "listed"]:
        """How the words were chosen."""
        return "all" if self.all else "at random" if self.at_random else "listed"

    def __str__(self) -> str:
        """Return which words these are."""
        chosen = {"all": "", "at random": ", drawn at random", "listed": ", those asked for"}[self.how]
        return f"all {words(self.count)}" if self.all else f"{self.count:,} of {words(self.vocabulary)}{chosen}"

    @property
    def them(self) -> str:
        """The words as a sentence speaks of them again."""
        return "all words" if self.all else f"the {words(self.count)} looked at"

    def share(self, quantile: float) -> str:
        """Return which words a share of them is; never more than were looked at."""
        if self.all:
            return most_words(quantile)
        return f"{'each' if quantile == 1.0 else percent(quantile)} of {self.them}"

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        return {"words": self.count, "vocabulary": self.vocabulary, "chosen": self.how, "statement": str(self)}


@dataclass(frozen=True, kw_only=True)
class ShareBound:
    """The share of the vocabulary that misses the targets is ``at_most`` this, with 95 % confidence.

    ``counted`` words of the sample are counted as missing. ``for_any_epsilon`` says whether it holds for an ε that was chosen by
    looking at these words; otherwise it holds for one fixed beforehand.
    """

    at_most: float
    counted: int
    for_any_epsilon: bool

    @property
    def provided(self) -> str:
        """What the confidence depends on, in words."""
        return "95 % confidence" if self.for_any_epsilon else "95 % confidence, for an ε fixed beforehand"

    def to_dict(self) -> dict[str, Any]:
        """Return the bound as JSON-ready data."""
        return {
            "at_most": self.at_most,
            "confidence": CONFIDENCE,
            "words_counted_as_missing": self.counted,
            "holds_for": "an ε chosen on these words too" if self.for_any_epsilon else "an ε fixed beforehand",
        }


def bound_share(looked_at: LookedAt, missing: Callable[[float], int], *, grows: bool) -> ShareBound:
    """Return the bound, given how many words may miss the targets unless an event of a given probability happened.

    ``grows`` says whether N_w grows with ε.
    """
    k = missing(_level(0) / 2.0)
    while (more := missing(_level(k) / 2.0)) > k:
        k = more
    at_most = _finite_share(k, looked_at.count, looked_at.vocabulary, _level(k) / 2.0)
    return ShareBound(at_most=at_most, counted=k, for_any_epsilon=grows)


def _level(k: int) -> float:
    return (1.0 - CONFIDENCE) / ((k + 1) * (k + 2))


def _finite_share(hits: int, draws: int, population: int, level: float) -> float:
    """Return what the share of a population does not exceed unless an event of probability ``level`` happened."""
    from scipy.stats import hypergeom

    low, high = hits, population - (draws - hits)  # the fewest and the most there can be
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if hypergeom.cdf(hits, population, middle, draws) > level else (low, middle - 1)
    return low / population
