"""The paper's classifier: a biLSTM and one linear layer, trained until validation gets no better. Tasks and
``utility`` use it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from deniable.arrays import Ids
from deniable.embeddings.embedding import Embedding
from deniable.lab.neural.batches import DeviceTexts, shuffled_batches, sorted_batches
from deniable.lab.neural.encoder import BiLstmEncoder, EarlyStopping, EncoderSettings, vectors_for_models
from deniable.measures.texts import Texts
from deniable.utility.accuracy import Classify, Version
from deniable.utility.scores import accuracy

_TEXTS_TO_CLASSIFY_AT_ONCE = 1024
_ONE_IN_VALIDATES = 8


@dataclass(frozen=True, kw_only=True)
class ClassifierSettings(EncoderSettings):
    """How a classifier is built and trained."""

    units: int = 128
    dropout: float = 0.5
    longest: int = 400
    batch: int = 128
    epochs: int = 12
    patience: int = 2


OWN_TEXTS = ClassifierSettings(batch=32, longest=300, epochs=20, patience=3)
"""How the learner for users' own texts is trained, of which there are fewer than in the paper's tasks."""


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
    train: DeviceTexts,
    labels: Ids,
    validation: DeviceTexts,
    validation_labels: Ids,
    settings: ClassifierSettings,
    seed: int,
) -> int:
    """Train the model in place and return the number of epochs; it ends as it was when validation was
    best."""
    device = model.output.weight.device
    rng = np.random.Generator(np.random.PCG64(seed))
    optimiser = torch.optim.Adam(
        [p for p in model.parameters() if p.requires_grad], lr=settings.learning_rate
    )
    targets = torch.from_numpy(labels).to(device)
    stopping = EarlyStopping(model, patience=settings.patience)
    for _ in range(settings.epochs):
        model.train()
        for chosen in shuffled_batches(train.lengths, settings.batch, rng):
            loss = nn.functional.cross_entropy(
                model(*train.batch(chosen)), targets[torch.from_numpy(chosen).to(device)]
            )
            optimiser.zero_grad(set_to_none=True)
            loss.backward()  # type: ignore[no-untyped-call]
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimiser.step()
        if stopping.should_stop(accuracy(predict_classes(model, validation), validation_labels)):
            break
    stopping.restore_best()
    return stopping.epochs


def predict_classes(model: Classifier, texts: DeviceTexts) -> Ids:
    """Return the class that the model gives each text."""
    classes = np.empty(len(texts), dtype=np.int64)
    model.eval()
    with torch.inference_mode():
        for chosen in sorted_batches(texts.lengths, _TEXTS_TO_CLASSIFY_AT_ONCE):
            classes[chosen] = model(*texts.batch(chosen)).argmax(dim=1).cpu().numpy()
    return classes


class BiLstmLearner:
    """The slow learner: the classifier above on the vectors of the embedding. An eighth of the texts to learn
    from says when to stop."""

    name = "biLSTM"

    def __init__(
        self, embedding: Embedding, *, device: str = "cpu", settings: ClassifierSettings = OWN_TEXTS
    ) -> None:
        """Learn on a device, from the vectors of an embedding."""
        self._vectors, self._padding = vectors_for_models(embedding), len(embedding) + 1
        self._device, self._settings = torch.device(device), settings

    def learn(self, version: Version, places: Ids, labels: Ids, *, seed: int) -> Classify:
        """Return what classifies texts after learning from those at ``places``; ``labels`` are those of all
        texts."""
        torch.manual_seed(seed)
        model = Classifier(self._vectors, int(labels.max()) + 1, self._settings).to(self._device)
        order = np.random.Generator(np.random.PCG64(seed)).permutation(places)
        held_out = order[: max(1, len(order) // _ONE_IN_VALIDATES)]
        rest = order[len(held_out) :]
        train, validation = (
            self._texts(version.texts.take(rest)),
            self._texts(version.texts.take(held_out)),
        )
        train_classifier(model, train, labels[rest], validation, labels[held_out], self._settings, seed)
        return lambda other, where: predict_classes(model, self._texts(other.texts.take(where)))

    def _texts(self, texts: Texts) -> DeviceTexts:
        return DeviceTexts(texts, longest=self._settings.longest, padding=self._padding, device=self._device)
