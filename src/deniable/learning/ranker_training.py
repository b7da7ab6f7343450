"""Trains a ranker on pairs of a question and a right answer to it; the answers to other questions of a batch are wrong ones."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn

from deniable.learning.batches import DeviceTexts
from deniable.learning.early_stopping import BestSoFar
from deniable.learning.encoded_task import EncodedTask
from deniable.learning.pairs import Pairs
from deniable.learning.ranker import Ranker, RankerRecipe, encoded, evaluate_ranker, gesd


def train_ranker(
    model: Ranker,
    questions: DeviceTexts,
    validation: DeviceTexts,
    answers: DeviceTexts,
    material: EncodedTask,
    recipe: RankerRecipe,
    seed: int,
) -> int:
    """Train the model in place and return the number of epochs; it ends as it was when validation (MRR, mean of all pools) was best."""
    rng = np.random.Generator(np.random.PCG64(seed))
    optimiser = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=recipe.learning_rate)
    pairs = Pairs(material, answers.lengths)
    best = BestSoFar(model, patience=recipe.patience)
    for epoch in range(recipe.epochs):
        if recipe.near and epoch >= recipe.epochs_before_near:
            batches = pairs.batches_of_alike(encoded(model, questions), recipe.batch, recipe.near, rng)
        else:
            batches = pairs.batches(recipe.batch, rng)
        model.train()
        for chosen in batches:
            asked = model(*questions.batch(pairs.questions[chosen]))
            given = model(*answers.batch(pairs.answers[chosen]))
            loss = recipe.loss(gesd(asked @ given.T), pairs.wrong(chosen), rng)
            optimiser.zero_grad(set_to_none=True)
            loss.backward()  # type: ignore[no-untyped-call]
            nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            optimiser.step()
        reached = evaluate_ranker(model, validation, answers, material, "validation")
        if best.enough(float(np.mean([value for name, value in reached.items() if name.startswith("MRR")]))):
            break
    best.restore()
    return best.epochs
