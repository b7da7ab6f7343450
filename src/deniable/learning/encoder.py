"""A biLSTM over word vectors: a text becomes what its words' states reach at most, and on average if asked."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


class BiLstmEncoder(nn.Module):
    """Word vectors, dropout, one bidirectional LSTM, pooling over time."""

    def __init__(self, vectors: Tensor, *, units: int, dropout: float, tune_vectors: bool, with_mean: bool) -> None:
        """Start from the public vectors, the last row of which fills batches up and stays as it is."""
        super().__init__()
        self.vectors = nn.Embedding(
            len(vectors), vectors.shape[1], padding_idx=len(vectors) - 1, _weight=vectors.clone(), _freeze=not tune_vectors
        )
        self.lstm = nn.LSTM(vectors.shape[1], units, batch_first=True, bidirectional=True)
        self.dropout = nn.Dropout(dropout)
        self._with_mean = with_mean
        self.size = (4 if with_mean else 2) * units

    def forward(self, words: Tensor, lengths: Tensor) -> Tensor:
        """Return one row per text, in any order, with their lengths on the processor."""
        packed = pack_padded_sequence(self.dropout(self.vectors(words)), lengths, batch_first=True, enforce_sorted=False)
        states, _ = pad_packed_sequence(self.lstm(packed)[0], batch_first=True)
        outside = (torch.arange(states.shape[1]) >= lengths[:, None]).to(states.device)[:, :, None]
        highest = states.masked_fill(outside, -torch.inf).amax(dim=1)
        if not self._with_mean:
            return highest
        return torch.cat([highest, states.sum(dim=1) / lengths.to(states.device)[:, None]], dim=1)  # padded states are zero
