"""How high a model ranks the words that a user really wrote: counts of ranks, per user."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from deniable.audit.membership.histograms import BINS, PROTOCOL_BINS, WIDTH
from deniable.audit.membership.language_models import LanguageModels
from deniable.audit.membership.vocabulary import PADDING, TEXT_END, UNKNOWN

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


def _bin(ranks: torch.Tensor) -> torch.Tensor:
    coarse = WIDTH - 1 + torch.div(ranks, WIDTH, rounding_mode="floor").clamp(max=PROTOCOL_BINS - 1)
    return torch.where(ranks < WIDTH, ranks, coarse)
