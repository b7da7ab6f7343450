"""ε by what it does to words: how often an average word stays itself (N_w), by rays over a fixed sample of the vocabulary."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from deniable.calibration.measure import calibrate
from deniable.embeddings.embedding import Embedding
from deniable.interfaces import Floats

SHARES = (0.05, 0.25, 0.5, 0.75, 0.95, 0.99)
"""The average N_w at which an experiment looks when it is not told a value of ε."""

_SAMPLE, _RAYS, _SEED = 1000, 200, 4


class AverageUnchanged:
    """The average N_w of an embedding as a function of ε, and its inverse."""

    def __init__(self, embedding: Embedding, *, sample: int = _SAMPLE, rays: int = _RAYS) -> None:
        """Follow the rays of a sample of the words; on the second call for the same embedding they are read from the disk."""
        chosen = np.random.Generator(np.random.PCG64(_SEED)).choice(len(embedding), min(sample, len(embedding)), replace=False)
        calibration = calibrate(embedding, rays=rays, ids=np.sort(chosen))
        self._radii: Floats = np.asarray(calibration.radii, dtype=np.float64)
        self._length = calibration.length
        self.words, self.rays = len(chosen), rays

    def at(self, epsilon: float) -> float:
        """Return the average over words of the probability that a word stays itself."""
        return float(self._length(epsilon * self._radii).mean())

    def epsilon(self, share: float) -> float:
        """Return the ε, to three digits, at which an average word stays itself so often."""
        low, high = 1e-6, 1e6
        for _ in range(60):
            middle = float(np.sqrt(low * high))
            low, high = (middle, high) if self.at(middle) < share else (low, middle)
        return float(f"{high:.3g}")


def epsilons_where_words_stay(embedding: str | Path, shares: Sequence[float] = SHARES) -> list[float]:
    """Return the values of ε at which an average word of the embedding stays itself so often."""
    average = AverageUnchanged(Embedding.open(embedding))
    return [average.epsilon(share) for share in shares]
