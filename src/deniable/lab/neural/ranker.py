"""The answer ranker of InsuranceQA: one biLSTM for questions and answers, compared by GESD, and how it is
trained.

After Tan et al. (2015), whom the paper replicates: max-pooling over time, unit length, and GESD(a, b) = 1/(1
+ ‖a - b‖) · 1/(1 + exp(-γ(a·b + c))) with γ = c = 1. It is trained on pairs of a question and a right answer
to it. The wrong answers to a question are the right ones to the other questions of the batch, which are
encoded anyway.

Wrong answers drawn at random are soon distinguished, while the pools of the task hold answers to questions
much like the one asked. So questions that the model finds alike can share a batch: the wrong answers are then
hard ones, and cost nothing more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from deniable.arrays import Ids
from deniable.lab.neural.encoder import (
    BiLstmEncoder,
    DeviceTexts,
    EncoderSettings,
    grouped_batches,
    outputs_of,
    shuffled_batches,
    train,
    trained_weights,
)
from deniable.lab.tasks.task import Part, Task
from deniable.utility.classifiers import ranking_scores

_QUESTIONS_AT_ONCE = 64
_NO_DISTANCE = 1e-15  # a square root has no slope at zero
_ROUNDS_OF_K_MEANS = 8
GAMMA = C = 1.0
QUESTIONS_IN_A_GROUP = 100


class Pairs:
    """Questions and right answers, one pair a place; ``lengths`` are those of all answers."""

    def __init__(self, right: Sequence[Sequence[int]], lengths: Ids) -> None:
        """Take the right answers to each question."""
        self.questions: Ids = np.repeat(np.arange(len(right)), [len(answers) for answers in right])
        self.answers: Ids = np.array([answer for answers in right for answer in answers], dtype=np.int64)
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
        self,
        vectors: Tensor,
        size: int,
        together: int,
        rng: np.random.Generator,
        *,
        group: int = QUESTIONS_IN_A_GROUP,
    ) -> Iterator[Ids]:
        """Yield every pair once, in batches of runs of ``together`` pairs with similar questions."""
        groups = groups_of_alike(vectors, group, rng)[self.questions]
        return grouped_batches(groups, self._lengths, size, together, rng)


def groups_of_alike(vectors: Tensor, size: int, rng: np.random.Generator) -> Ids:
    """Return the group of each vector of length 1 by k-means; an average group holds ``size`` of them."""
    count = max(1, len(vectors) // size)
    centres = vectors[torch.from_numpy(rng.choice(len(vectors), count, replace=False)).to(vectors.device)]
    for _ in range(_ROUNDS_OF_K_MEANS):
        group = (vectors @ centres.T).argmax(dim=1)
        sums = torch.zeros_like(centres).index_add_(0, group, vectors)
        length = torch.linalg.vector_norm(sums, dim=1, keepdim=True)
        centres = torch.where(length > 0, sums / length, centres)  # a group without members stays
    groups: Ids = group.cpu().numpy()
    return groups


@dataclass(frozen=True, kw_only=True)
class HardestOfSome:
    """After Tan et al. (2015): max(0, margin - s⁺ + s⁻) with s⁻ the most similar of some ``negatives`` wrong
    answers of the batch."""

    margin: float = 0.2
    negatives: int = 50

    def __call__(self, similar: Tensor, wrong: NDArray[np.bool_], rng: np.random.Generator) -> Tensor:
        """Return the mean loss of a batch: similarities of its questions (rows) and answers (columns), which
        are ``wrong`` or not, the own ones on the diagonal."""
        drawn = wrong & (rng.random(wrong.shape) < self.negatives / len(wrong))
        hardest = similar.masked_fill(~torch.from_numpy(drawn).to(similar.device), -1.0).amax(dim=1)
        return torch.relu(self.margin - similar.diagonal() + hardest).mean()


@dataclass(frozen=True, kw_only=True)
class SoftmaxOfAll:
    """Cross-entropy of picking the own answer among all wrong ones of the batch, by ``sharpness`` times the
    similarity.

    Every wrong answer pulls, the hardest most: nothing collapses while answers cannot be distinguished yet,
    and noisy questions, whose hardest answer says little, are learnt from too.
    """

    sharpness: float = 60.0

    def __call__(self, similar: Tensor, wrong: NDArray[np.bool_], rng: np.random.Generator) -> Tensor:  # noqa: ARG002 - draws nothing
        """Return the mean loss of a batch; ``wrong`` says which answers are wrong to which question."""
        other_right = torch.from_numpy(~wrong & ~np.eye(len(wrong), dtype=bool)).to(similar.device)
        logits = (self.sharpness * similar).masked_fill(other_right, -torch.inf)
        return nn.functional.cross_entropy(logits, torch.arange(len(wrong), device=similar.device))


@dataclass(frozen=True, kw_only=True)
class RankerSettings(EncoderSettings):
    """How a ranker is built and trained.

    ``near`` questions that the model finds alike come together in a batch once it has learnt for
    ``epochs_before_near`` epochs, so that the wrong answers are of the kind that the pools hold. 0 leaves
    batches to chance.
    """

    units: int = 300
    dropout: float = 0.3
    longest: int = 200
    batch: int = 256
    loss: HardestOfSome | SoftmaxOfAll = field(default_factory=SoftmaxOfAll)
    near: int = 32
    epochs_before_near: int = 3
    epochs: int = 16
    patience: int = 3


AFTER_TAN = RankerSettings(units=141, batch=128, loss=HardestOfSome(), near=0, epochs=30, patience=4)
"""After Tan et al. (2015), whom the paper replicates: 141 units a direction, a margin of 0.2 to the hardest
of 50 wrong answers.

Theirs are drawn from all answers, ours from those in the batch. Dropout, the tuned vectors, the step and the
batch are ours.
"""


class Ranker(nn.Module):
    """A text in, a vector of length 1 out."""

    def __init__(self, vectors: Tensor, settings: RankerSettings) -> None:
        super().__init__()
        self.encoder = BiLstmEncoder(vectors, settings, with_mean=False)

    def forward(self, words: Tensor, lengths: Tensor) -> Tensor:
        """Return one vector per text."""
        return nn.functional.normalize(self.encoder(words, lengths), dim=1)


def gesd(cosine: Tensor) -> Tensor:
    """Return GESD of vectors of length 1 by their dot product: ‖a - b‖² = 2 - 2 a·b."""
    distance = (2.0 - 2.0 * cosine).clamp_min(_NO_DISTANCE).sqrt()
    similarity: Tensor = torch.sigmoid(GAMMA * (cosine + C)) / (1.0 + distance)
    return similarity


def evaluate_ranker(
    model: Ranker, questions: DeviceTexts, answers: DeviceTexts, part: Part
) -> dict[str, float]:
    """Return MAP, MRR and top-1 in the pools of each size. A question whose pool has no right answer scores
    0."""
    asked, known = outputs_of(model, questions), outputs_of(model, answers)
    right, found = [np.array(answers) for answers in part.answers], dict[str, float]()
    for size in sorted(part.pools):
        pools = np.array(part.pools[size])
        scores = np.empty(pools.shape)
        for start in range(0, len(pools), _QUESTIONS_AT_ONCE):
            some = slice(start, start + _QUESTIONS_AT_ONCE)
            pool = known[torch.from_numpy(pools[some]).to(known.device)]
            scores[some] = gesd(torch.einsum("qd,qpd->qp", asked[some], pool)).cpu().numpy()
        for name, value in ranking_scores(scores, pools, right).items():
            found[f"{name}@{size}"] = value
    return found


def train_ranker(
    model: Ranker,
    questions: DeviceTexts,
    validation: DeviceTexts,
    answers: DeviceTexts,
    task: Task,
    settings: RankerSettings,
    seed: int,
) -> int:
    """Train the model in place and return the number of epochs; it ends in the state of the best MRR."""
    rng, pairs = np.random.Generator(np.random.PCG64(seed)), Pairs(task.train.answers, answers.lengths)

    def batches(epoch: int) -> Iterator[Ids]:
        if not settings.near or epoch < settings.epochs_before_near:
            return pairs.batches(settings.batch, rng)
        return pairs.batches_of_alike(outputs_of(model, questions), settings.batch, settings.near, rng)

    def loss(chosen: Ids) -> Tensor:
        asked, given = (
            model(*texts.batch(places[chosen]))
            for texts, places in ((questions, pairs.questions), (answers, pairs.answers))
        )
        return settings.loss(gesd(asked @ given.T), pairs.wrong(chosen), rng)

    def mean_rank() -> float:
        reached = evaluate_ranker(model, validation, answers, task.validation)
        return float(np.mean([value for name, value in reached.items() if name.startswith("MRR")]))

    return train(
        model,
        torch.optim.Adam(trained_weights(model), lr=settings.learning_rate),
        batches,
        loss,
        mean_rank,
        epochs=settings.epochs,
        patience=settings.patience,
        clip=5.0,
    )
