"""What a ranker learns from: the similarities of the questions of a batch (rows) to its answers (columns), the own one on the diagonal.

The wrong answers to a question are the right ones to the other questions of the batch, which are encoded anyway.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn


@dataclass(frozen=True, kw_only=True)
class HardestOfSome:
    """After Tan et al. (2015): max(0, margin - s⁺ + s⁻) with s⁻ the most similar of some ``negatives`` wrong answers of the batch."""

    margin: float = 0.2
    negatives: int = 50

    def __call__(self, similar: Tensor, wrong: NDArray[np.bool_], rng: np.random.Generator) -> Tensor:
        """Return the mean loss of a batch; ``wrong`` says which answers are wrong to which question."""
        drawn = wrong & (rng.random(wrong.shape) < self.negatives / len(wrong))
        hardest = similar.masked_fill(~torch.from_numpy(drawn).to(similar.device), -1.0).amax(dim=1)
        return torch.relu(self.margin - similar.diagonal() + hardest).mean()


@dataclass(frozen=True, kw_only=True)
class SoftmaxOfAll:
    """Cross-entropy of picking the own answer among all wrong ones of the batch, by ``sharpness`` times the similarity.

    Every wrong answer pulls, the hardest most. So nothing collapses while no two answers can be told apart yet, and noisy
    questions, whose hardest answer says little, are learnt from too.
    """

    sharpness: float = 60.0

    def __call__(self, similar: Tensor, wrong: NDArray[np.bool_], rng: np.random.Generator) -> Tensor:  # noqa: ARG002 - draws nothing
        """Return the mean loss of a batch; ``wrong`` says which answers are wrong to which question."""
        other_right = ~wrong & ~np.eye(len(wrong), dtype=bool)
        logits = (self.sharpness * similar).masked_fill(torch.from_numpy(other_right).to(similar.device), -torch.inf)
        return nn.functional.cross_entropy(logits, torch.arange(len(wrong), device=similar.device))
