"""The paper's classifier: a biLSTM and one linear layer, trained until validation gets no better."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from deniable.arrays import Ids
from deniable.lab.neural.encoder import (
    BiLstmEncoder,
    DeviceTexts,
    EncoderSettings,
    outputs_of,
    shuffled_batches,
    train,
    trained_weights,
)
from deniable.utility.classifiers import accuracy


@dataclass(frozen=True, kw_only=True)
class ClassifierSettings(EncoderSettings):
    """How a classifier is built and trained."""

    units: int = 128
    dropout: float = 0.5
    longest: int = 400
    batch: int = 128
    epochs: int = 12
    patience: int = 2


class Classifier(nn.Module):
    """A text in, a score for each class out."""

    def __init__(self, vectors: Tensor, classes: int, settings: ClassifierSettings) -> None:
        super().__init__()
        self.encoder = BiLstmEncoder(vectors, settings, with_mean=True)
        self.dropout = nn.Dropout(settings.dropout)
        self.output = nn.Linear(self.encoder.size, classes)

    def forward(self, words: Tensor, lengths: Tensor) -> Tensor:
        """Return one row of class scores per text."""
        scores: Tensor = self.output(self.dropout(self.encoder(words, lengths)))
        return scores


def train_classifier(
    model: Classifier,
    texts: DeviceTexts,
    labels: Ids,
    validation: DeviceTexts,
    validation_labels: Ids,
    settings: ClassifierSettings,
    seed: int,
) -> int:
    """Train the model in place and return the number of epochs; it ends in the best state on validation."""
    device = model.output.weight.device
    rng, targets = np.random.Generator(np.random.PCG64(seed)), torch.from_numpy(labels).to(device)

    def loss(chosen: Ids) -> Tensor:
        right = targets[torch.from_numpy(chosen).to(device)]
        return nn.functional.cross_entropy(model(*texts.batch(chosen)), right)

    return train(
        model,
        torch.optim.Adam(trained_weights(model), lr=settings.learning_rate),
        lambda _: shuffled_batches(texts.lengths, settings.batch, rng),
        loss,
        lambda: accuracy(predict_classes(model, validation), validation_labels),
        epochs=settings.epochs,
        patience=settings.patience,
    )


def predict_classes(model: Classifier, texts: DeviceTexts) -> Ids:
    """Return the class that the model gives each text."""
    classes: Ids = outputs_of(model, texts).argmax(dim=1).cpu().numpy()
    return classes
