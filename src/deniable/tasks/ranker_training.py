"""Trains a ranker on pairs of a question and a right answer to it; the answers to other questions of a batch are wrong ones.

Wrong answers drawn at random are soon told apart, while the pools of the task hold answers to questions much like the one
asked. So questions that the model finds alike share a batch: the wrong answers are then hard ones, and cost nothing more.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor, nn

from deniable.interfaces import Ids
from deniable.tasks.batches import DeviceTexts, grouped_batches, shuffled_batches
from deniable.tasks.early_stopping import BestSoFar
from deniable.tasks.material import Material
from deniable.tasks.nearby import groups_of_alike
from deniable.tasks.ranker import Ranker, RankerRecipe, encoded, evaluate_ranker, gesd

_QUESTIONS_IN_A_GROUP = 100


def train_ranker(
    model: Ranker,
    questions: DeviceTexts,
    validation: DeviceTexts,
    answers: DeviceTexts,
    material: Material,
    recipe: RankerRecipe,
    seed: int,
) -> int:
    """Train the model in place and return the number of epochs; it ends as it was when validation (MRR, mean of all pools) was best."""
    rng = np.random.Generator(np.random.PCG64(seed))
    optimiser = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=recipe.learning_rate)
    counts = np.diff(material.arrays["right_offsets/train"])
    pair_questions, pair_answers = np.repeat(np.arange(len(counts)), counts), material.arrays["right/train"]
    right_pairs = pair_questions * len(answers) + pair_answers

    def batches(epoch: int) -> Iterator[Ids]:
        lengths = answers.lengths[pair_answers]
        if not recipe.near or epoch < recipe.epochs_before_near:
            return shuffled_batches(lengths, recipe.batch, rng)
        groups = groups_of_alike(encoded(model, questions), _QUESTIONS_IN_A_GROUP, rng)
        return grouped_batches(groups[pair_questions], lengths, recipe.batch, recipe.near, rng)

    best = BestSoFar(model, patience=recipe.patience)
    for epoch in range(recipe.epochs):
        order = batches(epoch)
        model.train()
        for pairs in order:
            asked, right = pair_questions[pairs], pair_answers[pairs]
            similar = gesd(_encode(model, questions, asked) @ _encode(model, answers, right).T)
            wrong = ~np.isin(asked[:, None] * len(answers) + right, right_pairs)
            loss = recipe.loss(similar, wrong, rng)
            optimiser.zero_grad(set_to_none=True)
            loss.backward()  # type: ignore[no-untyped-call]
            nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            optimiser.step()
        reached = evaluate_ranker(model, validation, answers, material, "validation")
        if best.enough(float(np.mean([value for name, value in reached.items() if name.startswith("MRR")]))):
            break
    best.restore()
    return best.epochs


def _encode(model: Ranker, texts: DeviceTexts, chosen: Ids) -> Tensor:
    order = np.argsort(-texts.lengths[chosen], kind="stable")
    vectors: Tensor = model(*texts.batch(chosen[order]))
    return vectors[torch.from_numpy(np.argsort(order, kind="stable")).to(vectors.device)]
