"""What a ranker is trained on: every training question with every right answer to it, in batches whose other answers are wrong ones.

Wrong answers drawn at random are soon told apart, while the pools of the task hold answers to questions much like the one
asked. So questions that the model finds alike can share a batch: the wrong answers are then hard ones, and cost nothing more.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from deniable.arrays import Ids
from deniable.learning.batches import grouped_batches, shuffled_batches
from deniable.learning.encoded_task import EncodedTask

QUESTIONS_IN_A_GROUP = 100
_ROUNDS_OF_K_MEANS = 8


class Pairs:
    """Questions and right answers, one pair a place; ``lengths`` are those of all answers."""

    def __init__(self, task: EncodedTask, lengths: Ids) -> None:
        counts = np.diff(task.arrays["right_offsets/train"])
        self.questions: Ids = np.repeat(np.arange(len(counts)), counts)
        self.answers: Ids = task.arrays["right/train"]
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


def groups_of_alike(vectors: Tensor, size: int, rng: np.random.Generator) -> Ids:
    """Return the group of each vector of length 1 by k-means; an average group holds ``size`` of them."""
    count = max(1, len(vectors) // size)
    centres = vectors[torch.from_numpy(rng.choice(len(vectors), count, replace=False)).to(vectors.device)]
    for _ in range(_ROUNDS_OF_K_MEANS):
        group = (vectors @ centres.T).argmax(dim=1)
        sums = torch.zeros_like(centres).index_add_(0, group, vectors)
        length = torch.linalg.vector_norm(sums, dim=1, keepdim=True)
        centres = torch.where(length > 0, sums / length, centres)  # a group that lost all its members stays where it was
    groups: Ids = group.cpu().numpy()
    return groups
