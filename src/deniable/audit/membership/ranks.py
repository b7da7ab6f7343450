"""How high a model ranks the words that a user really wrote: counts of ranks, per user.

The protocol's feature is a histogram of 100 equal bins over the ranks 0 (the model's first guess) to 5,000. Most ranks are
small, so counts are kept finer than that: the first of those bins rank by rank. ``protocol_histogram`` adds them up again.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from deniable.audit.membership.language_models import LanguageModels
from deniable.audit.membership.vocabulary import PADDING, TEXT_END, UNKNOWN

PROTOCOL_BINS = 100
HIGHEST_RANK = 5_000
_WIDTH = HIGHEST_RANK // PROTOCOL_BINS
BINS = _WIDTH + PROTOCOL_BINS
"""Ranks 0 to 49 one by one, 99 bins of 50 ranks, and a last bin for words the model has never heard."""

_ROWS_AT_ONCE = {"cpu": 64, "cuda": 1024}


def rank_counts(model: LanguageModels, users: Sequence[NDArray[np.int32]]) -> NDArray[np.int32]:
    """Return for each user, given as rows, how many of the words they wrote have a rank in each bin.

    Words that the model does not know get the highest rank; ends of texts are not counted.
    """
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
            whose = torch.from_numpy(owners[start : start + at_once]).to(model.device).repeat_interleave(part.shape[2] - 1)
            counted = (wanted != PADDING) & (wanted != TEXT_END)
            bins = torch.where(wanted == UNKNOWN, BINS - 1, _bin(ranks))
            places = (whose * BINS + bins)[counted]
            counts.index_add_(0, places, torch.ones_like(places, dtype=torch.int32))
    return counts.reshape(len(users), BINS).cpu().numpy()


def protocol_histogram(counts: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return the counts in the protocol's 100 equal bins; words the model does not know fall in the last one."""
    first = counts[..., :_WIDTH].sum(axis=-1, keepdims=True)
    last = counts[..., BINS - 2 :].sum(axis=-1, keepdims=True)
    return np.concatenate([first, counts[..., _WIDTH : BINS - 2], last], axis=-1).astype(np.int64)


def _bin(ranks: torch.Tensor) -> torch.Tensor:
    coarse = _WIDTH - 1 + torch.div(ranks, _WIDTH, rounding_mode="floor").clamp(max=PROTOCOL_BINS - 1)
    return torch.where(ranks < _WIDTH, ranks, coarse)
