"""A user's ranks as numbers that can be compared.

The protocol's feature is a histogram of 100 equal bins over the ranks 0 (the model's first guess) to 5,000. Most ranks are
small, so counts are kept finer than that: the first of those bins rank by rank. ``protocol_histogram`` adds them up again.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

PROTOCOL_BINS = 100
HIGHEST_RANK = 5_000
WIDTH = HIGHEST_RANK // PROTOCOL_BINS
BINS = WIDTH + PROTOCOL_BINS
"""Ranks 0 to 49 one by one, 99 bins of 50 ranks, and a last bin for words the model has never heard."""


def protocol_histogram(counts: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return the counts in the protocol's 100 equal bins; words the model does not know fall in the last one."""
    first = counts[..., :WIDTH].sum(axis=-1, keepdims=True)
    last = counts[..., BINS - 2 :].sum(axis=-1, keepdims=True)
    return np.concatenate([first, counts[..., WIDTH : BINS - 2], last], axis=-1).astype(np.int64)


def histograms(counts: NDArray[np.int32], *, fine: bool = False) -> NDArray[np.float64]:
    """Return (users, bins) histograms of length 1; a user without a counted word has zeros.

    ``fine`` looks at the ranks 0 to 49 one by one and at logarithms of counts, in place of the protocol's 100 equal bins.
    """
    values = np.log1p(counts.astype(np.float64)) if fine else protocol_histogram(counts).astype(np.float64)
    lengths = np.linalg.norm(values, axis=-1, keepdims=True)
    return values / np.where(lengths > 0.0, lengths, 1.0)
