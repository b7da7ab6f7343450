"""The classifier of IMDb and Enron: a biLSTM and one linear layer, trained until validation gets no better."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from deniable.arrays import Ids
from deniable.learning.batches import DeviceTexts, shuffled_batches, sorted_batches
from deniable.learning.early_stopping import BestSoFar
from deniable.learning.encoder import BiLstmEncoder
from deniable.learning.metrics import accuracy

_TEXTS_TO_JUDGE_AT_ONCE = 1024


@dataclass(frozen=True, kw_only=True)
class ClassifierRecipe:
    """How a classifier is built and trained."""

    units: int = 128
    dropout: float = 0.5
    tune_vectors: bool = True
    longest: int = 400
    batch: int = 128
    learning_rate: float = 1e-3
    epochs: int = 12
    patience: int = 2


class Classifier(nn.Module):
    """A text in, a score for each class out."""

    def __init__(self, vectors: Tensor, classes: int, recipe: ClassifierRecipe) -> None:
        super().__init__()
        self.encoder = BiLstmEncoder(vectors, units=recipe.units, dropout=recipe.dropout, tune_vectors=recipe.tune_vectors, with_mean=True)
        self.dropout = nn.Dropout(recipe.dropout)
        self.output = nn.Linear(self.encoder.size, classes)

    def forward(self, words: Tensor, lengths: Tensor) -> Tensor:
        """Return one row of class scores per text."""
        scores: Tensor = self.output(self.dropout(self.encoder(words, lengths)))
        return scores


def train_classifier(
    model: Classifier, train: DeviceTexts, labels: Ids, validation: DeviceTexts, validation_labels: Ids, recipe: ClassifierRecipe, seed: int
) -> int:
    """Train the model in place and return the number of epochs; it ends as it was when validation was best."""
    device = model.output.weight.device
    rng = np.random.Generator(np.random.PCG64(seed))
    optimiser = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=recipe.learning_rate)
    targets = torch.from_numpy(labels).to(device)
    best = BestSoFar(model, patience=recipe.patience)
    for _ in range(recipe.epochs):
        model.train()
        for chosen in shuffled_batches(train.lengths, recipe.batch, rng):
            loss = nn.functional.cross_entropy(model(*train.batch(chosen)), targets[torch.from_numpy(chosen).to(device)])
            optimiser.zero_grad(set_to_none=True)
            loss.backward()  # type: ignore[no-untyped-call]
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimiser.step()
        if best.enough(accuracy(predicted(model, validation), validation_labels)):
            break
    best.restore()
    return best.epochs


def predicted(model: Classifier, texts: DeviceTexts) -> Ids:
    """Return the class that the model gives each text."""
    classes = np.empty(len(texts), dtype=np.int64)
    model.eval()
    with torch.inference_mode():
        for chosen in sorted_batches(texts.lengths, _TEXTS_TO_JUDGE_AT_ONCE):
            classes[chosen] = model(*texts.batch(chosen)).argmax(dim=1).cpu().numpy()
    return classes
