"""Guesses inputs from outputs, and counts how often the guess is right, on draws the adversary has not seen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deniable.audit.inversion.channel import Channel
from deniable.interfaces import Floats, Ids


class BayesAdversary:
    """Guesses argmax_x π(x)·P(y | x): nobody who knows π and the mechanism guesses right more often."""

    def __init__(self, channel: Channel, prior: Floats) -> None:
        self._channel = channel
        with np.errstate(divide="ignore"):
            self._log_prior = np.log(prior)

    def guesses(self, outputs: Ids) -> Ids:
        """Return the guess for each released word."""
        wanted, places = np.unique(outputs, return_inverse=True)
        best = [int(np.argmax(found + self._log_prior)) for found in self._channel.log_likelihoods(wanted)]
        return np.array(best, dtype=np.int64)[places]

    def guesses_from_repeats(self, outputs: Ids, counts: tuple[int, ...]) -> dict[int, Ids]:
        """Return for each row of ``outputs`` (independent releases of one word) the guess from its first m, for each m."""
        wanted, places = np.unique(outputs, return_inverse=True)
        known = np.stack(list(self._channel.log_likelihoods(wanted))).astype(np.float32)
        table = places.reshape(outputs.shape)
        answer = {m: np.empty(len(outputs), dtype=np.int64) for m in counts}
        for row, seen in enumerate(table):
            for m in counts:
                answer[m][row] = int(np.argmax(known[seen[:m]].sum(axis=0) + self._log_prior))
        return answer


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
