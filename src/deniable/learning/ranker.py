"""The answer ranker of InsuranceQA: one biLSTM for questions and answers, compared by GESD.

After Tan et al. (2015), whom the paper replicates: max-pooling over time, unit length, and
GESD(a, b) = 1/(1 + ‖a - b‖) · 1/(1 + exp(-γ(a·b + c))) with γ = c = 1. It is trained in ranker_training.py.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor, nn

from deniable.learning.batches import DeviceTexts, sorted_batches
from deniable.learning.encoded_task import EncodedTask
from deniable.learning.encoder import BiLstmEncoder
from deniable.learning.metrics import ranking_scores
from deniable.learning.ranking_losses import HardestOfSome, SoftmaxOfAll

_TEXTS_TO_ENCODE_AT_ONCE = 1024
_NO_DISTANCE = 1e-15  # a square root has no slope at zero
GAMMA = C = 1.0


@dataclass(frozen=True, kw_only=True)
class RankerRecipe:
    """How a ranker is built and trained.

    ``near`` questions that the model finds alike come together in a batch once it has learnt for ``epochs_before_near`` epochs, so
    that the wrong answers are of the kind that the pools hold. 0 leaves batches to chance.
    """

    units: int = 300
    dropout: float = 0.3
    tune_vectors: bool = True
    longest: int = 200
    batch: int = 256
    learning_rate: float = 1e-3
    loss: HardestOfSome | SoftmaxOfAll = field(default_factory=SoftmaxOfAll)
    near: int = 32
    epochs_before_near: int = 3
    epochs: int = 16
    patience: int = 3


AFTER_TAN = RankerRecipe(units=141, batch=128, loss=HardestOfSome(), near=0, epochs=30, patience=4)
"""After Tan et al. (2015), whom the paper replicates: 141 units a direction, a margin of 0.2 to the hardest of 50 wrong answers.

Theirs are drawn from all answers, ours from those in the batch. Dropout, the tuned vectors, the step and the batch are ours.
"""


class Ranker(nn.Module):
    """A text in, a vector of length 1 out."""

    def __init__(self, vectors: Tensor, recipe: RankerRecipe) -> None:
        super().__init__()
        self.encoder = BiLstmEncoder(vectors, units=recipe.units, dropout=recipe.dropout, tune_vectors=recipe.tune_vectors, with_mean=False)

    def forward(self, words: Tensor, lengths: Tensor) -> Tensor:
        """Return one vector per text."""
        return nn.functional.normalize(self.encoder(words, lengths), dim=1)


def gesd(cosine: Tensor) -> Tensor:
    """Return the similarity of vectors of length 1 by their dot product, which is all it depends on: ‖a - b‖² = 2 - 2 a·b."""
    distance = (2.0 - 2.0 * cosine).clamp_min(_NO_DISTANCE).sqrt()
    similarity: Tensor = torch.sigmoid(GAMMA * (cosine + C)) / (1.0 + distance)
    return similarity


def evaluate_ranker(model: Ranker, questions: DeviceTexts, answers: DeviceTexts, material: EncodedTask, split: str) -> dict[str, float]:
    """Return MAP, MRR and top-1 in the pools of each size. A question whose pool has no right answer scores 0."""
    asked, known = encoded(model, questions), encoded(model, answers)
    found: dict[str, float] = {}
    for size, pools in material.pools(split).items():
        scores = np.empty(pools.shape)
        for start in range(0, len(pools), 64):
            part = torch.from_numpy(pools[start : start + 64]).to(known.device)
            scores[start : start + 64] = gesd(torch.einsum("qd,qpd->qp", asked[start : start + 64], known[part])).cpu().numpy()
        right = [material.right(split, question) for question in range(len(pools))]
        found |= {f"{name}@{size}": value for name, value in ranking_scores(scores, pools, right).items()}
    return found


def encoded(model: Ranker, texts: DeviceTexts) -> Tensor:
    """Return the vectors of all texts."""
    model.eval()
    with torch.no_grad():
        rows = [(chosen, model(*texts.batch(chosen))) for chosen in sorted_batches(texts.lengths, _TEXTS_TO_ENCODE_AT_ONCE)]
    every = torch.cat([vectors for _, vectors in rows])
    back = np.argsort(np.concatenate([chosen for chosen, _ in rows]), kind="stable")
    return every[torch.from_numpy(back).to(every.device)]
