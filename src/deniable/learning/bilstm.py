"""The slow learner: the biLSTM of the paper's experiments, on the vectors of the embedding."""

from __future__ import annotations

import numpy as np
import torch

from deniable.arrays import Ids
from deniable.embeddings.embedding import Embedding
from deniable.learning.batches import DeviceTexts
from deniable.learning.classifier import Classifier, ClassifierRecipe, predicted, train_classifier
from deniable.learning.passages import Passages
from deniable.learning.vectors import vectors_for_models
from deniable.learning.version import Judge, Version

RECIPE = ClassifierRecipe(batch=32, longest=300, epochs=20, patience=3)
_ONE_IN_VALIDATES = 8


class BiLstmLearner:
    """A biLSTM; an eighth of the texts to learn from says when to stop."""

    name = "biLSTM"

    def __init__(self, embedding: Embedding, *, device: str = "cpu", recipe: ClassifierRecipe = RECIPE) -> None:
        """Learn on a device, from the vectors of an embedding."""
        self._vectors, self._padding = vectors_for_models(embedding), len(embedding) + 1
        self._device, self._recipe = torch.device(device), recipe

    def learnt(self, version: Version, places: Ids, labels: Ids, *, seed: int) -> Judge:
        """Return what was learnt."""
        torch.manual_seed(seed)
        model = Classifier(self._vectors, int(labels.max()) + 1, self._recipe).to(self._device)
        order = np.random.Generator(np.random.PCG64(seed)).permutation(places)
        held = order[: max(1, len(order) // _ONE_IN_VALIDATES)]
        rest = order[len(held) :]
        passages = version.passages
        train_classifier(
            model, self._texts(passages.chosen(rest)), labels[rest], self._texts(passages.chosen(held)), labels[held], self._recipe, seed
        )
        return lambda judged, where: predicted(model, self._texts(judged.passages.chosen(where)))

    def _texts(self, passages: Passages) -> DeviceTexts:
        return DeviceTexts(passages, longest=self._recipe.longest, padding=self._padding, device=self._device)
