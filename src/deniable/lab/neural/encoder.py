"""What the paper's models share: a biLSTM over word vectors, and when its training stops."""

from __future__ import annotations

import copy
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from deniable.embeddings.embedding import Embedding


def vectors_for_models(embedding: Embedding) -> Tensor:
    """Return one row for each id that passages and batches hold: the words, then ⊥, then zeros for the
    padding."""
    rows = np.concatenate([embedding.vectors, embedding.unknown[None], np.zeros((1, embedding.dimension))])
    return torch.from_numpy(rows.astype(np.float32))


@dataclass(frozen=True, kw_only=True)
class EncoderSettings:
    """How an encoder is built and what it learns from: texts up to ``longest`` words, ``batch`` of them a
    step."""

    units: int
    dropout: float
    tune_vectors: bool = True
    longest: int
    batch: int
    learning_rate: float = 1e-3


class BiLstmEncoder(nn.Module):
    """Word vectors, dropout, one bidirectional LSTM, pooling over time: what the states reach at most, and on
    average if asked."""

    def __init__(self, vectors: Tensor, settings: EncoderSettings, *, with_mean: bool) -> None:
        """Start from the public vectors, the last row of which fills batches up and stays as it is."""
        super().__init__()
        self.vectors = nn.Embedding(
            len(vectors),
            vectors.shape[1],
            padding_idx=len(vectors) - 1,
            _weight=vectors.clone(),
            _freeze=not settings.tune_vectors,
        )
        self.lstm = nn.LSTM(vectors.shape[1], settings.units, batch_first=True, bidirectional=True)
        self.dropout = nn.Dropout(settings.dropout)
        self._with_mean = with_mean
        self.size = (4 if with_mean else 2) * settings.units

    def forward(self, words: Tensor, lengths: Tensor) -> Tensor:
        """Return one row per text, in any order, with their lengths on the processor."""
        packed = pack_padded_sequence(
            self.dropout(self.vectors(words)), lengths, batch_first=True, enforce_sorted=False
        )
        states, _ = pad_packed_sequence(self.lstm(packed)[0], batch_first=True)
        outside = (torch.arange(states.shape[1]) >= lengths[:, None]).to(states.device)[:, :, None]
        highest = states.masked_fill(outside, -torch.inf).amax(dim=1)
        if not self._with_mean:
            return highest
        return torch.cat(
            [highest, states.sum(dim=1) / lengths.to(states.device)[:, None]], dim=1
        )  # padded states are zero


class EarlyStopping:
    """Watches the score of a model after each epoch, says when to stop, and remembers the best state."""

    def __init__(self, model: nn.Module, *, patience: int) -> None:
        """Watch a model; ``patience`` epochs without a better score are enough."""
        self._model, self._patience = model, patience
        self._best, self._waited, self._state = float("-inf"), 0, copy.deepcopy(model.state_dict())
        self.epochs = 0

    def should_stop(self, score: float) -> bool:
        """Take note of the score of one more epoch and return whether to stop."""
        self.epochs += 1
        self._waited += 1
        if score > self._best:
            self._best, self._waited, self._state = score, 0, copy.deepcopy(self._model.state_dict())
        return self._waited >= self._patience

    def restore_best(self) -> None:
        """Bring the model back to its best state."""
        self._model.load_state_dict(self._state)
