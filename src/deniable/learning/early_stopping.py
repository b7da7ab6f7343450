"""Training ends when validation has not got better for a while, with the model as it was when it was best."""

from __future__ import annotations

import copy

from torch import nn


class BestSoFar:
    """Watches the score of a model after each epoch and keeps the best state."""

    def __init__(self, model: nn.Module, *, patience: int) -> None:
        """Watch a model; ``patience`` epochs without a better score are enough."""
        self._model, self._patience = model, patience
        self._best, self._waited, self._state = float("-inf"), 0, copy.deepcopy(model.state_dict())
        self.epochs = 0

    def enough(self, score: float) -> bool:
        """Take note of the score of one more epoch and return whether to stop."""
        self.epochs += 1
        self._waited += 1
        if score > self._best:
            self._best, self._waited, self._state = score, 0, copy.deepcopy(self._model.state_dict())
        return self._waited >= self._patience

    def restore(self) -> None:
        """Bring the model back to its best state."""
        self._model.load_state_dict(self._state)
