"""What a ranker is trained on: every training question with every right answer to it, in batches whose other answers are wrong ones.

Wrong answers drawn at random are soon told apart, while the pools of the task hold answers to questions much like the one
asked. So questions that the model finds alike can share a batch: the wrong answers are then hard ones, and cost nothing more.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from deniable.arrays import Ids
from deniable.learning.batches import grouped_batches, shuffled_batches
from deniable.learning.encoded_task import EncodedTask
from deniable.learning.nearby import groups_of_alike

QUESTIONS_IN_A_GROUP = 100


class Pairs:
    """Questions and right answers, one pair a place; ``lengths`` are those of all answers."""

    def __init__(self, material: EncodedTask, lengths: Ids) -> None:
        counts = np.diff(material.arrays["right_offsets/train"])
        self.questions: Ids = np.repeat(np.arange(len(counts)), counts)
        self.answers: Ids = material.arrays["right/train"]
        self._lengths, self._of_all = lengths[self.answers], len(lengths)
        self._right = self.questions * self._of_all + self.answers

    def wrong(self, chosen: Ids) -> NDArray[np.bool_]:
        """Return which answers of the chosen pairs (columns) are wrong to which of their questions (rows)."""
        asked, given = self.questions[chosen], self.answers[chosen]
        return ~np.isin(asked[:, None] * self._of_all + given, self._right)

    def batches(self, size: int, rng: np.random.Generator) -> Iterator[Ids]:
        """Yield every pair once, in random batches of answers about as long as each other."""
        return shuffled_batches(self._lengths, size, rng)

    def batches_of_alike(
        self, vectors: Tensor, size: int, together: int, rng: np.random.Generator, *, group: int = QUESTIONS_IN_A_GROUP
    ) -> Iterator[Ids]:
        """Yield every pair once, in batches of runs of ``together`` pairs whose questions are alike by the vectors of all questions."""
        return grouped_batches(groups_of_alike(vectors, group, rng)[self.questions], self._lengths, size, together, rng)
