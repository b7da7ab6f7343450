"""P(y | x) of any mechanism by simulation: every word is drawn many times, and what comes out is counted.

An estimate with few draws makes a weaker adversary, never a wrong number: the attack is judged on draws it has not seen.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from deniable.arrays import Floats, Ids
from deniable.channel.draws import Draws
from deniable.interfaces import Mechanism

_WORDS_AT_ONCE = 2_000
_HALF_A_DRAW = 0.5


class DrawnChannel:
    """Counts the outputs of ``draws_per_word`` draws of every word; an output that was never seen counts as half a draw."""

    def __init__(self, mechanism: Mechanism, *, draws_per_word: int, seed: int) -> None:
        self.how = f"{draws_per_word:,} simulated draws of every word"
        self._draws, self._per_word = Draws(mechanism, seed=seed), draws_per_word
        self._words = len(mechanism.embedding)

    def log_likelihoods(self, outputs: Ids) -> Iterator[Floats]:
        """Yield for each output the logarithm of its estimated probability for every input word."""
        wanted, places = np.unique(outputs, return_inverse=True)
        counts = np.zeros((len(wanted), self._words), dtype=np.float32)
        column = np.full(self._words, -1, dtype=np.int64)
        column[wanted] = np.arange(len(wanted))
        for start in range(0, self._words, _WORDS_AT_ONCE):
            words = np.arange(start, min(start + _WORDS_AT_ONCE, self._words), dtype=np.int64)
            inputs = np.repeat(words, self._per_word)
            rows = column[self._draws.of_each(inputs)]
            np.add.at(counts, (rows[rows >= 0], inputs[rows >= 0]), 1.0)
        answer: Floats = np.log(np.maximum(counts, _HALF_A_DRAW).astype(np.float64) / self._per_word)
        yield from answer[places]
