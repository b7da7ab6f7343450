"""What the paper's models share: batches of texts, a biLSTM over word vectors, and the training loop."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from deniable.arrays import Ids
from deniable.embeddings.embedding import Embedding
from deniable.measures.texts import Texts

_BATCHES_SORTED_TOGETHER = 16


def best_device() -> torch.device:
    """Return the GPU if there is one."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def vectors_for_models(embedding: Embedding) -> Tensor:
    """Return a row for each id of a batch: the words, then ⊥, then zeros for the padding."""
    rows = np.concatenate([embedding.vectors, embedding.unknown[None], np.zeros((1, embedding.dimension))])
    return torch.from_numpy(rows.astype(np.float32))


class DeviceTexts:
    """Texts on a device, each cut at ``longest`` words; ``padding`` is the id that fills a batch up."""

    def __init__(self, texts: Texts, *, longest: int, padding: int, device: torch.device) -> None:
        self._ids = torch.from_numpy(np.append(texts.ids, padding).astype(np.int64)).to(device)
        self._offsets = torch.from_numpy(texts.offsets[:-1].copy()).to(device)
        self._device, self._empty = device, texts.lengths == 0
        self.lengths: Ids = np.clip(texts.lengths, 1, longest)

    def __len__(self) -> int:
        """Return the number of texts."""
        return len(self.lengths)

    def batch(self, chosen: Ids) -> tuple[Tensor, Tensor]:
        """Return the words of the chosen texts, a row each, and the lengths; an empty text is one padding."""
        lengths = torch.from_numpy(self.lengths[chosen])
        places = torch.arange(int(lengths.max()), device=self._device)
        inside = places < (lengths * torch.from_numpy(~self._empty[chosen])).to(self._device)[:, None]
        starts = self._offsets[torch.from_numpy(chosen).to(self._device)]
        at = torch.where(inside, starts[:, None] + places, len(self._ids) - 1)
        return self._ids[at], lengths


def shuffled_batches(lengths: Ids, size: int, rng: np.random.Generator) -> Iterator[Ids]:
    """Yield every place once in random batches whose texts are about as long as each other."""
    yield from _batches(list(rng.permutation(len(lengths))[:, None]), lengths, size, rng)


def grouped_batches(
    groups: Ids, lengths: Ids, size: int, together: int, rng: np.random.Generator
) -> Iterator[Ids]:
    """Yield every place once in batches of runs of ``together`` places of one group, of similar lengths.

    A run may end in the next group. Lengths, not chance, decide which places of a group share a run.
    """
    order = np.lexsort((-lengths, groups))
    runs = [order[start : start + together] for start in range(0, len(order), together)]
    yield from _batches([runs[i] for i in rng.permutation(len(runs))], lengths, max(1, size // together), rng)


def _batches(runs: list[Ids], lengths: Ids, at_once: int, rng: np.random.Generator) -> Iterator[Ids]:
    """Yield runs joined, ``at_once`` to a batch, sorted by length within large portions."""
    batches, portion = [], at_once * _BATCHES_SORTED_TOGETHER
    for start in range(0, len(runs), portion):
        part = sorted(runs[start : start + portion], key=lambda run: -int(lengths[run].max()))
        batches += [np.concatenate(part[i : i + at_once]) for i in range(0, len(part), at_once)]
    yield from (batches[i] for i in rng.permutation(len(batches)))


def outputs_of(model: nn.Module, texts: DeviceTexts, *, at_once: int = 1024) -> Tensor:
    """Return what a model makes of each text, a row a text."""
    model.eval()
    order = np.argsort(
        -texts.lengths, kind="stable"
    )  # the longest first, so that batches hold little padding
    with torch.inference_mode():
        parts = [
            model(*texts.batch(order[start : start + at_once])) for start in range(0, len(order), at_once)
        ]
    rows = torch.cat(parts)
    return rows[torch.from_numpy(np.argsort(order, kind="stable")).to(rows.device)]


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
    """Word vectors, dropout, one bidirectional LSTM, and the maximum, and the mean if asked, over time."""

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
        mean = states.sum(dim=1) / lengths.to(states.device)[:, None]  # padded states are zero
        return torch.cat([highest, mean], dim=1)


def train(
    model: nn.Module,
    optimiser: torch.optim.Optimizer,
    batches: Callable[[int], Iterable[Ids]],
    loss_of: Callable[[Ids], Tensor],
    score: Callable[[], float],
    *,
    epochs: int,
    patience: int,
    clip: float = 1.0,
    best: float = float("-inf"),
    after_epoch: Callable[[int], None] = lambda _: None,
) -> int:
    """Train a model in place and return the number of epochs; it ends in the state whose score was best.

    ``batches`` are those of an epoch, ``loss_of`` is the loss of one of them. Training ends after
    ``patience`` epochs in a row without a better score; ``best`` is the score to pass.
    """
    waited, state, epoch = 0, copy.deepcopy(model.state_dict()), 0
    while epoch < epochs and waited < patience:
        chosen = batches(epoch)
        model.train()
        for batch in chosen:
            loss = loss_of(batch)
            optimiser.zero_grad(set_to_none=True)
            loss.backward()  # type: ignore[no-untyped-call]
            nn.utils.clip_grad_norm_(model.parameters(), clip)
            optimiser.step()
        epoch += 1
        after_epoch(epoch)
        reached = score()
        waited += 1
        if reached > best:
            best, waited, state = reached, 0, copy.deepcopy(model.state_dict())
    model.load_state_dict(state)
    return epoch


def trained_weights(model: nn.Module) -> list[nn.Parameter]:
    """Return the weights that training changes."""
    return [weight for weight in model.parameters() if weight.requires_grad]
