"""The answer ranker of InsuranceQA: one biLSTM for questions and answers, compared by GESD, trained by a margin.

After the paper: 141 units a direction, max-pooling over time, unit length; GESD(a, b) = 1/(1 + ‖a - b‖) · 1/(1 + exp(-γ(a·b + c)))
with γ = c = 1; loss max(0, 0.2 - s⁺ + s⁻) with the hardest of 50 random negatives. The negatives are right answers to other
questions of the batch, so that 50 of them are compared by their present encodings and cost no more than one.
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
GAMMA = C = 1.0


@dataclass(frozen=True, kw_only=True)
class RankerRecipe:
    """How a ranker is built and trained."""

    units: int = 141
    dropout: float = 0.3
    tune_vectors: bool = True
    longest: int = 200
    batch: int = 128
    learning_rate: float = 1e-3
    margin: float = 0.2
    negatives: int = 50
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


def gesd(first: Tensor, second: Tensor) -> Tensor:
    """Return the similarity of vectors in the last dimension: geometric mean of Euclidean and sigmoid dot product."""
    distance = torch.linalg.vector_norm(first - second, dim=-1)
    similarity: Tensor = torch.sigmoid(GAMMA * ((first * second).sum(dim=-1) + C)) / (1.0 + distance)
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
    for _ in range(recipe.epochs):
        model.train()
        for pairs in shuffled_batches(answers.lengths[pair_answers], recipe.batch, rng):
            asked, right = pair_questions[pairs], pair_answers[pairs]
            question, good = _encode(model, questions, asked), _encode(model, answers, right)
            similar = gesd(question[:, None], good[None])
            allowed = _there(_negatives(asked, right, len(answers), right_pairs, recipe.negatives, rng), device)
            hardest = similar.masked_fill(~allowed, -1.0).amax(dim=1)
            loss = torch.relu(recipe.margin - similar.diagonal() + hardest).mean()
            optimiser.zero_grad(set_to_none=True)
            loss.backward()  # type: ignore[no-untyped-call]
            nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            optimiser.step()
        reached = evaluate_ranker(model, validation, answers, material, "validation", smallest_only=True)
        mrr = next(value for name, value in reached.items() if name.startswith("MRR"))
        if best.enough(mrr):
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
            scores[start : start + 64] = gesd(asked[start : start + 64, None], known[part]).cpu().numpy()
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


def _negatives(
    asked: Ids, right: Ids, answers: int, right_pairs: Ids, count: int, rng: np.random.Generator
) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    """Return which answers of the batch (columns) are among the random wrong ones of each question (rows): at most ``count``."""
    wrong = ~np.isin(asked[:, None] * answers + right[None], right_pairs)
    order = np.where(wrong, rng.random(wrong.shape), np.inf)
    last = np.partition(order, min(count, len(asked)) - 1, axis=1)[:, min(count, len(asked)) - 1]
    chosen: np.ndarray[tuple[int, ...], np.dtype[np.bool_]] = wrong & (order <= last[:, None])
    return chosen


def _there(array: np.ndarray[tuple[int, ...], np.dtype[np.generic]], device: torch.device) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(array)).to(device)
