"""How often a guess is right, and the guess of somebody who only counts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deniable.arrays import Ids


def majority(outputs: Ids) -> Ids:
    """Return the most frequent word of each row, the earliest on a tie: what a naive adversary guesses from repeats."""
    guesses = np.empty(len(outputs), dtype=np.int64)
    for row, seen in enumerate(outputs):
        words, first, counts = np.unique(seen, return_index=True, return_counts=True)
        guesses[row] = words[np.lexsort((first, -counts))[0]]
    return guesses


@dataclass(frozen=True, kw_only=True)
class Share:
    """How often something was right: hits of tries, and what the probability lies between with 95 % confidence."""

    hits: int
    tries: int

    @property
    def value(self) -> float:
        """The share."""
        return self.hits / self.tries

    def interval(self) -> tuple[float, float]:
        """Return the Clopper–Pearson interval."""
        from deniable.audit.bound.refutation import lower, upper

        return lower(self.hits, self.tries, 0.025), upper(self.hits, self.tries, 0.025)

    def to_dict(self) -> dict[str, float]:
        """Return the share as JSON-ready data."""
        low, high = self.interval()
        return {"value": self.value, "low": low, "high": high, "tries": self.tries}
