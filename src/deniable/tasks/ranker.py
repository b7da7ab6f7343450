"""The answer ranker of InsuranceQA: one biLSTM for questions and answers, compared by GESD, trained by a margin.

After the paper: 141 units a direction, max-pooling over time, unit length; GESD(a, b) = 1/(1 + ‖a - b‖) · 1/(1 + exp(-γ(a·b + c)))
with γ = c = 1; loss max(0, 0.2 - s⁺ + s⁻) with the hardest wrong answer. The wrong answers are the right ones to other questions of the
batch, which are encoded anyway: some 50 of them at first, as in the paper, then all. The hardest of many is what the pools hold, but a
model that cannot tell any two answers apart yet learns nothing from it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from deniable.interfaces import Ids
from deniable.tasks.batches import DeviceTexts, shuffled_batches, sorted_batches
from deniable.tasks.early_stopping import BestSoFar
from deniable.tasks.encoder import BiLstmEncoder
from deniable.tasks.material import Material
from deniable.tasks.metrics import ranking_scores

_TEXTS_TO_ENCODE_AT_ONCE = 1024
_NO_DISTANCE = 1e-15  # a square root has no slope at zero
GAMMA = C = 1.0


@dataclass(frozen=True, kw_only=True)
class RankerRecipe:
    """How a ranker is built and trained."""

    units: int = 141
    dropout: float = 0.3
    tune_vectors: bool = True
    longest: int = 200
    batch: int = 256
    learning_rate: float = 1e-3
    margin: float = 0.2
    negatives_at_first: int = 50
    epochs_at_first: int = 2
    epochs: int = 30
    patience: int = 4


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


def train_ranker(
    model: Ranker,
    questions: DeviceTexts,
    validation: DeviceTexts,
    answers: DeviceTexts,
    material: Material,
    recipe: RankerRecipe,
    seed: int,
) -> int:
    """Train the model in place and return the number of epochs; it ends as it was when validation (MRR) was best."""
    device = next(model.parameters()).device
    rng = np.random.Generator(np.random.PCG64(seed))
    optimiser = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=recipe.learning_rate)
    counts = np.diff(material.arrays["right_offsets/train"])
    pair_questions, pair_answers = np.repeat(np.arange(len(counts)), counts), material.arrays["right/train"]
    right_pairs = pair_questions * len(answers) + pair_answers
    best = BestSoFar(model, patience=recipe.patience)
    for epoch in range(recipe.epochs):
        model.train()
        for pairs in shuffled_batches(answers.lengths[pair_answers], recipe.batch, rng):
            asked, right = pair_questions[pairs], pair_answers[pairs]
            similar = gesd(_encode(model, questions, asked) @ _encode(model, answers, right).T)
            wrong = ~np.isin(asked[:, None] * len(answers) + right, right_pairs)
            if epoch < recipe.epochs_at_first:
                wrong &= rng.random(wrong.shape) < recipe.negatives_at_first / len(asked)
            hardest = similar.masked_fill(~_there(wrong, device), -1.0).amax(dim=1)
            loss = torch.relu(recipe.margin - similar.diagonal() + hardest).mean()
            optimiser.zero_grad(set_to_none=True)
            loss.backward()  # type: ignore[no-untyped-call]
            nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            optimiser.step()
        reached = evaluate_ranker(model, validation, answers, material, "validation", smallest_only=True)
        if best.enough(next(value for name, value in reached.items() if name.startswith("MRR"))):
            break
    best.restore()
    return best.epochs


def evaluate_ranker(
    model: Ranker, questions: DeviceTexts, answers: DeviceTexts, material: Material, split: str, *, smallest_only: bool = False
) -> dict[str, float]:
    """Return MAP, MRR and top-1 in the pools of each size. A question whose pool has no right answer scores 0."""
    asked, known = encoded(model, questions), encoded(model, answers)
    found: dict[str, float] = {}
    for size, pools in list(material.pools(split).items())[: 1 if smallest_only else None]:
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
    return every[_there(back, every.device)]


def _encode(model: Ranker, texts: DeviceTexts, chosen: Ids) -> Tensor:
    order = np.argsort(-texts.lengths[chosen], kind="stable")
    vectors: Tensor = model(*texts.batch(chosen[order]))
    return vectors[_there(np.argsort(order, kind="stable"), vectors.device)]


def _there(array: np.ndarray[tuple[int, ...], np.dtype[np.generic]], device: torch.device) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(array)).to(device)
