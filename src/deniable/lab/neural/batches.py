"""Passages on a device, cut into batches of texts of similar length."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

from deniable.arrays import Ids
from deniable.lab.passages import Passages
from deniable.measures.texts import Texts

_BATCHES_SORTED_TOGETHER = 16


class DeviceTexts:
    """Passages on a device, each cut at ``longest`` words; ``padding`` is the id that fills a batch up."""

    def __init__(
        self, passages: Passages | Texts, *, longest: int, padding: int, device: torch.device
    ) -> None:
        self._ids = torch.from_numpy(np.append(passages.ids, padding).astype(np.int64)).to(device)
        self._offsets = torch.from_numpy(passages.offsets[:-1].copy()).to(device)
        self._padding, self._device = padding, device
        self._empty = passages.lengths == 0
        self.lengths: Ids = np.clip(passages.lengths, 1, longest)

    def __len__(self) -> int:
        """Return the number of texts."""
        return len(self.lengths)

    def batch(self, chosen: Ids) -> tuple[Tensor, Tensor]:
        """Return the words of the chosen texts, one row each, and their lengths (on the processor). An empty
        text is one padding."""
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
    """Yield every place once in batches of runs of ``together`` places of one group, about as long as each
    other.

    A run may end in the next group. Which places of a group share a run is decided by their lengths, not by
    chance.
    """
    order = np.lexsort((-lengths, groups))
    runs = [order[start : start + together] for start in range(0, len(order), together)]
    yield from _batches([runs[i] for i in rng.permutation(len(runs))], lengths, max(1, size // together), rng)


def _batches(runs: list[Ids], lengths: Ids, at_once: int, rng: np.random.Generator) -> Iterator[Ids]:
    """Yield runs joined, ``at_once`` of them to a batch: sorted by length within portions, which are large
    enough to stay random."""
    batches, portion = [], at_once * _BATCHES_SORTED_TOGETHER
    for start in range(0, len(runs), portion):
        part = sorted(runs[start : start + portion], key=lambda run: -int(lengths[run].max()))
        batches += [np.concatenate(part[i : i + at_once]) for i in range(0, len(part), at_once)]
    yield from (batches[i] for i in rng.permutation(len(batches)))


def sorted_batches(lengths: Ids, size: int) -> Iterator[Ids]:
    """Yield every place once, the longest texts first."""
    order = np.argsort(-lengths, kind="stable")
    yield from (order[start : start + size] for start in range(0, len(order), size))
