"""P(y | x) by columns: how likely each word is to have been the input when a word is released.

By exact sums, by points that all words share, by rays or by draws. An estimate from few of them makes a weaker reader, never a wrong
number: whoever decodes is judged on draws that the estimate has not seen.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np

from deniable.arrays import Floats, Ids
from deniable.channel.draws import Draws
from deniable.channel.likelihood_by_points import PointChannel
from deniable.channel.likelihood_by_rays import RayChannel
from deniable.channel.rows import shares_points
from deniable.embeddings.embedding import Embedding
from deniable.interfaces import Mechanism
from deniable.mechanisms.base import ExactSums, NearestWord, exact_sums, radial_noise

_NEVER = -1e9
_WORDS_AT_ONCE = 2_000
_HALF_A_DRAW = 0.5


class Likelihoods(Protocol):
    """Knows how likely a released word is for every input word; ``how`` says from what."""

    how: str

    def log_likelihoods(self, outputs: Ids) -> Iterator[Floats]:
        """Yield for each output the logarithm of its probability for every input word, ⊥ left out."""
        ...


def channel_of(mechanism: Mechanism, outputs: Ids, *, seed: int, points: int = 128, draws_per_word: int = 100) -> Likelihoods:
    """Return the likelihoods of some outputs: exact if the mechanism can say its probabilities, by points, by rays, or by simulation.

    ``points`` is how many are drawn for each word of the embedding, or how many rays there are where it has few words.
    """
    embedding = mechanism.embedding
    if (sums := exact_sums(mechanism)) is not None:
        return ExactChannel(sums, embedding)
    if isinstance(mechanism, NearestWord) and shares_points(mechanism, np.arange(len(embedding), dtype=np.int64)):
        return PointChannel(mechanism, outputs, points=points, seed=seed)
    noise = radial_noise(mechanism)
    # The rays through an output's cell know the density of round Gamma noise only.
    if noise is not None and noise.lengths == "gamma" and noise.shape is None:
        return RayChannel(mechanism, rays=points, seed=seed)
    return DrawnChannel(mechanism, draws_per_word=draws_per_word, seed=seed)


class ExactChannel:
    """The exact channel: goes through all inputs once for all outputs asked for."""

    how = "exact probabilities"

    def __init__(self, sums: ExactSums, embedding: Embedding) -> None:
        self._sums, self._embedding = sums, embedding

    def log_likelihoods(self, outputs: Ids) -> Iterator[Floats]:
        """Yield for each output the logarithm of its probability for every input word."""
        embedding, words = self._embedding, len(self._embedding)
        wanted, places = np.unique(outputs, return_inverse=True)
        found = np.full((len(wanted), words), _NEVER)
        column = np.full(words, -1, dtype=np.int64)
        column[wanted] = np.arange(len(wanted))
        for word, (ids, probabilities) in enumerate(self._sums.probabilities(embedding.stands_in(np.arange(words, dtype=np.int64)))):
            rows = column[ids]
            asked = (rows >= 0) & (probabilities > 0.0)
            found[rows[asked], word] = np.log(probabilities[asked])
        yield from (found[place] for place in places)


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
        yield from (answer[place] for place in places)
