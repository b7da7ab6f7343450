"""P(y | x) as the mechanism computes it itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol, runtime_checkable

import numpy as np

from deniable.arrays import Floats, Ids
from deniable.embeddings.embedding import Embedding

_NEVER = -1e9


@runtime_checkable
class HasProbabilities(Protocol):
    """A mechanism that can say its output distribution."""

    @property
    def embedding(self) -> Embedding:
        """The public embedding whose words go in and come out."""
        ...

    def probabilities(self, ids: Ids) -> Iterator[tuple[Ids, Floats]]:
        """Yield for each input id the ids of words that can be released and their probabilities."""
        ...


class ExactChannel:
    """The exact channel: goes through all inputs once for all outputs asked for."""

    how = "exact probabilities"

    def __init__(self, mechanism: HasProbabilities) -> None:
        self._mechanism = mechanism

    def log_likelihoods(self, outputs: Ids) -> Iterator[Floats]:
        """Yield for each output the logarithm of its probability for every input word."""
        embedding = self._mechanism.embedding
        words = len(embedding)
        wanted, places = np.unique(outputs, return_inverse=True)
        found = np.full((len(wanted), words), _NEVER)
        column = np.full(words, -1, dtype=np.int64)
        column[wanted] = np.arange(len(wanted))
        for word, (ids, probabilities) in enumerate(self._mechanism.probabilities(embedding.stands_in(np.arange(words, dtype=np.int64)))):
            rows = column[ids]
            asked = (rows >= 0) & (probabilities > 0.0)
            found[rows[asked], word] = np.log(probabilities[asked])
        yield from found[places]
