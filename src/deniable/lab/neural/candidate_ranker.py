"""A small model that ranks the candidates for each place of a text by the words around it.

It reads a text as two rows of words, those that were released and the likeliest ones behind them, with a
bidirectional LSTM and with a linear map for each distance to the left and to the right. What comes out is
compared with each candidate. It begins as the ranking that it is given, and ends in the state that ranked
held-out texts best: so it is no worse than that ranking but for chance.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from deniable.arrays import Floats, Ids
from deniable.lab.neural.encoder import train, trained_weights

FEATURES = 6
"""How many numbers are known of each candidate beside its probability."""

_UNITS, _OWN, _REACH = 64, 32, 3
"""Units of the LSTM, learnt numbers of a word beside its public vector, and how far away words have a map."""

_BATCH, _EPOCHS, _PATIENCE = 16, 15, 2
_LONGEST = 120
_ONE_IN_VALIDATES = 8


@dataclass(frozen=True, kw_only=True)
class RankedText:
    """Released ids, the candidates of each place with log-probabilities and features, and which is right.

    -1 stands for no candidate, and in ``right``, which ranking never reads, for a word that is none of them.
    """

    released: Ids = field(repr=False)
    words: Ids = field(repr=False)
    logs: Floats = field(repr=False)
    features: Floats = field(repr=False)
    right: Ids = field(repr=False)

    def parts(self, longest: int = _LONGEST) -> list[RankedText]:
        """Return the text cut into parts that are not too long for a batch."""
        parts = (slice(start, start + longest) for start in range(0, len(self.released), longest))
        return [RankedText(**{name: each[part] for name, each in vars(self).items()}) for part in parts]


class RankerSettings(NamedTuple):
    """How fast a ranker learns, and what keeps it from learning by heart."""

    rate: float = 1e-3
    dropout: float = 0.3
    decay: float = 0.05


class CandidateRanker(nn.Module):
    """Texts with candidates in, a score for each candidate out."""

    def __init__(self, vectors: Tensor, settings: RankerSettings) -> None:
        """Start from public vectors, one row for each id, then one of zeros that fills batches up."""
        super().__init__()
        spread = float(vectors.pow(2).mean().sqrt().clamp(min=1e-6))
        self.vectors = nn.Embedding(len(vectors), vectors.shape[1], _weight=vectors / spread, _freeze=True)
        self.own = nn.Embedding(len(vectors), _OWN, padding_idx=len(vectors) - 1)
        nn.init.normal_(self.own.weight, std=0.02)  # a word hardly met stays what its public vector says
        wide = vectors.shape[1] + _OWN
        self.lstm = nn.LSTM(2 * wide, _UNITS, batch_first=True, bidirectional=True)
        self.near = nn.ModuleList(nn.Linear(2 * wide, wide, bias=False) for _ in range(2 * _REACH))
        self.far = nn.Linear(2 * _UNITS, wide)
        self.beside = nn.Sequential(nn.Linear(FEATURES + 1, 16), nn.ReLU(), nn.Linear(16, 1, bias=False))
        self.trust = nn.Parameter(torch.ones(()))
        self.dropout = nn.Dropout(settings.dropout)
        for layer in (*self.near, self.far, self.beside[2]):
            nn.init.zeros_(layer.weight)
        nn.init.zeros_(self.far.bias)

    def forward(self, released: Tensor, words: Tensor, logs: Tensor, features: Tensor) -> Tensor:
        """Return scores (texts, places, candidates)."""
        seen = self.dropout(torch.cat([self._of(released), self._of(words[:, :, 0])], dim=2))
        asked = self.far(self.lstm(seen)[0])
        for place, layer in enumerate(self.near):
            by = place - _REACH if place < _REACH else place - _REACH + 1
            moved = torch.zeros_like(seen)
            if abs(by) < seen.shape[1]:
                if by < 0:
                    moved[:, -by:] = seen[:, :by]
                else:
                    moved[:, :-by] = seen[:, by:]
            asked = asked + layer(moved)
        fits = torch.einsum("tpw,tpcw->tpc", asked, self._of(words))
        extra = self.beside(torch.cat([features, logs[..., None].clamp(min=-30.0)], dim=3))[..., 0]
        scores: Tensor = self.trust * logs + fits + extra
        return scores

    def _of(self, words: Tensor) -> Tensor:
        return torch.cat([self.vectors(words), self.own(words)], dim=-1)


def train_ranker(
    texts: Sequence[RankedText],
    vectors: Tensor,
    settings: RankerSettings,
    *,
    seed: int,
    device: torch.device,
) -> CandidateRanker:
    """Return a ranker that has learnt from texts with known words; one text in eight says when to stop."""
    torch.manual_seed(seed)
    model = CandidateRanker(vectors, settings).to(device)
    random = np.random.default_rng(seed)
    parts = [part for text in texts for part in text.parts() if len(part.released)]
    order = random.permutation(len(parts))
    held, learnt = np.split(order, [max(1, len(parts) // _ONE_IN_VALIDATES)])

    def batches(_: int) -> Iterator[Ids]:
        shuffled = random.permutation(learnt)
        for start in range(0, len(shuffled), _BATCH):
            batch = shuffled[start : start + _BATCH]
            if any((parts[i].right >= 0).any() for i in batch):
                yield batch

    def loss(batch: Ids) -> Tensor:
        inputs, right = _batch([parts[i] for i in batch], model, device)
        scores = model(*inputs).flatten(0, 1)
        return nn.functional.cross_entropy(scores, right.flatten(), ignore_index=-1)

    def score() -> float:
        return _score(model, [parts[i] for i in held], _BATCH, device)

    train(
        model,
        torch.optim.AdamW(trained_weights(model), lr=settings.rate, weight_decay=settings.decay),
        batches,
        loss,
        score,
        epochs=_EPOCHS,
        patience=_PATIENCE,
        best=score(),
    )
    return model


def rank(model: CandidateRanker, text: RankedText, *, device: torch.device) -> Floats:
    """Return the probability of each candidate of each place, a row a place."""
    model.eval()
    chances = np.zeros(text.words.shape)
    start = 0
    with torch.inference_mode():
        for part in text.parts():
            scores = model(*_batch([part], model, device)[0])[0]
            chances[start : start + len(part.released)] = torch.softmax(scores, dim=1).double().cpu().numpy()
            start += len(part.released)
    return chances


def _batch(
    parts: Sequence[RankedText], model: CandidateRanker, device: torch.device
) -> tuple[list[Tensor], Tensor]:
    """Return the inputs of some texts side by side, filled up to one length, and the right candidates."""
    padding, longest = model.vectors.num_embeddings - 1, max(len(part.released) for part in parts)
    shape = (len(parts), longest, parts[0].words.shape[1])
    released, right = np.full(shape[:2], padding), np.full(shape[:2], -1)
    words, logs = np.full(shape, padding), np.zeros(shape, dtype=np.float32)
    features = np.zeros((*shape, FEATURES), dtype=np.float32)
    for row, part in enumerate(parts):
        end, there = len(part.released), part.words >= 0
        released[row, :end], right[row, :end] = part.released, part.right
        words[row, :end] = np.where(there, part.words, padding)
        logs[row, :end] = np.where(there, part.logs, -1e9)
        features[row, :end] = part.features
    inputs = [torch.from_numpy(each).to(device) for each in (released, words, logs, features)]
    return inputs, torch.from_numpy(right).to(device)


def _score(model: CandidateRanker, parts: Sequence[RankedText], size: int, device: torch.device) -> float:
    """Return the mean log-probability of the right candidate."""
    model.eval()
    total, places = 0.0, 0
    with torch.inference_mode():
        for start in range(0, len(parts), size):
            inputs, right = _batch(parts[start : start + size], model, device)
            known = right >= 0
            logs = torch.log_softmax(model(*inputs), dim=2)[known]
            total += float(logs.gather(1, right[known][:, None]).sum())
            places += int(known.sum())
    return total / max(1, places)
