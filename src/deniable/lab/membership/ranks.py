"""How high a model ranks the words that a user really wrote, as numbers that can be compared.

The protocol's feature is a histogram of 100 equal bins over the ranks 0 (the model's first guess) to 5,000.
Most ranks are small, so counts are kept finer than that: the first of those bins rank by rank.
``protocol_histogram`` adds them up again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from deniable.lab.membership.streams import PADDING, TEXT_END, UNKNOWN

if TYPE_CHECKING:
    import torch

PROTOCOL_BINS = 100
HIGHEST_RANK = 5_000
WIDTH = HIGHEST_RANK // PROTOCOL_BINS
BINS = WIDTH + PROTOCOL_BINS
"""Ranks 0 to 49 one by one, 99 bins of 50 ranks, and a last bin for words the model has never heard."""

_ROWS_AT_ONCE = {"cpu": 64, "cuda": 1024}


class NextWord(Protocol):
    """A model that scores the next word."""

    device: torch.device

    def logits(self, words: torch.Tensor, *, training: bool) -> torch.Tensor:
        """Return the scores of the next word: (models, batch · length, vocabulary) for words (models, batch,
        length)."""
        ...


def rank_counts(model: NextWord, users: Sequence[NDArray[np.int32]]) -> NDArray[np.int32]:
    """Return for each user, given as rows, how many of the words they wrote have a rank in each bin.

    Words that the model does not know get the highest rank; ends of texts are not counted.
    """
    import torch

    rows = np.concatenate(list(users))
    owners = np.repeat(np.arange(len(users)), [len(part) for part in users])
    counts = torch.zeros(len(users) * BINS, dtype=torch.int32, device=model.device)
    at_once = _ROWS_AT_ONCE.get(model.device.type, 64)
    with torch.no_grad():
        for start in range(0, len(rows), at_once):
            part = torch.from_numpy(rows[start : start + at_once]).to(model.device).long()[None]
            wanted = part[0, :, 1:].reshape(-1)
            scores = model.logits(part[:, :, :-1], training=False)[0]
            ranks = (scores > scores.gather(1, wanted[:, None])).sum(1)
            whose = (
                torch.from_numpy(owners[start : start + at_once])
                .to(model.device)
                .repeat_interleave(part.shape[2] - 1)
            )
            counted = (wanted != PADDING) & (wanted != TEXT_END)
            coarse = WIDTH - 1 + torch.div(ranks, WIDTH, rounding_mode="floor").clamp(max=PROTOCOL_BINS - 1)
            bins = torch.where(wanted == UNKNOWN, BINS - 1, torch.where(ranks < WIDTH, ranks, coarse))
            places = (whose * BINS + bins)[counted]
            counts.index_add_(0, places, torch.ones_like(places, dtype=torch.int32))
    return counts.reshape(len(users), BINS).cpu().numpy()


def protocol_histogram(counts: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return the counts in the protocol's 100 equal bins; words the model does not know fall in the last
    one."""
    first = counts[..., :WIDTH].sum(axis=-1, keepdims=True)
    last = counts[..., BINS - 2 :].sum(axis=-1, keepdims=True)
    return np.concatenate([first, counts[..., WIDTH : BINS - 2], last], axis=-1).astype(np.int64)


def histograms(counts: NDArray[np.int32], *, fine: bool = False) -> NDArray[np.float64]:
    """Return (users, bins) histograms of length 1; a user without a counted word has zeros.

    ``fine`` looks at the ranks 0 to 49 one by one and at logarithms of counts, in place of the protocol's 100
    equal bins.
    """
    values = np.log1p(counts.astype(np.float64)) if fine else protocol_histogram(counts).astype(np.float64)
    lengths = np.linalg.norm(values, axis=-1, keepdims=True)
    return values / np.where(lengths > 0.0, lengths, 1.0)
