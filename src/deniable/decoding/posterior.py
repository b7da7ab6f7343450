"""Bayes' rule: from a released word back to the word that most likely stood there."""

from __future__ import annotations

import numpy as np

from deniable.arrays import Floats, Ids
from deniable.channel.likelihood import Channel


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
