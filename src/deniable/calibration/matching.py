"""ε by what it does to words: how often an average word stays itself (N_w), over a fixed sample of the
vocabulary."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from deniable.calibration.by_rays import RayCalibration
from deniable.calibration.run import measure
from deniable.embeddings.embedding import Embedding
from deniable.mechanisms.base import method_of
from deniable.mechanisms.catalogue import ChosenMechanism

SHARES = (0.05, 0.25, 0.5, 0.75, 0.95, 0.99)
"""The average N_w at which an experiment looks when it is not told a value of ε."""

_SAMPLE, _RAYS, _SEED = 1000, 200, 4
_DRAWN_SAMPLE = 200


class AverageUnchanged:
    """The average N_w under a mechanism as a function of ε, and its inverse: by rays, exact sums or draws,
    whatever there is."""

    def __init__(
        self,
        embedding: Embedding,
        mechanism: ChosenMechanism | None = None,
        *,
        sample: int = _SAMPLE,
        rays: int = _RAYS,
    ) -> None:
        """Look at a sample of the words; on the second call for the same embedding and mechanism they are
        read from the disk."""
        mechanism = ChosenMechanism() if mechanism is None else mechanism
        made = mechanism(embedding, epsilon=1.0)
        if method_of(made) == "simulation":
            sample = min(sample, _DRAWN_SAMPLE)  # every ε takes draws of its own
        chosen = np.random.Generator(np.random.PCG64(_SEED)).choice(
            len(embedding), min(sample, len(embedding)), replace=False
        )
        self._found = measure(embedding, mechanism, draws=rays, ids=np.sort(chosen))

    @property
    def source(self) -> str:
        """In words, where the numbers come from."""
        each = {
            "rays": f"{self._found.draws} rays each",
            "exact": "exact sums",
            "simulation": f"{self._found.draws} draws each",
        }
        return f"{len(self._found.ids):,} words of the vocabulary, {each[self._found.method]}"

    def at(self, epsilon: float) -> float:
        """Return the average over words of the probability that a word stays itself."""
        return float(self._found.unchanged(epsilon)[0].mean())

    def epsilon(self, share: float) -> float:
        """Return the ε, to three digits, at which an average word stays itself in this share of the draws, or
        as nearly as any does."""
        if isinstance(self._found, RayCalibration):
            return self._found.epsilon_reaching(share)
        table = np.array(
            [[self.at(epsilon), np.log(epsilon)] for epsilon in sorted(self._found.epsilons.tolist())]
        )
        # Draws may fall back by chance; what is looked for is where the share is reached for the first time.
        return float(f"{np.exp(np.interp(share, np.maximum.accumulate(table[:, 0]), table[:, 1])):.3g}")


def epsilons_where_words_stay(
    embedding: str | Path, mechanism: ChosenMechanism | None = None, shares: Sequence[float] = SHARES
) -> list[float]:
    """Return the values of ε at which an average word of the embedding stays itself in these shares of the
    draws."""
    average = AverageUnchanged(Embedding.open(embedding), mechanism)
    return sorted({average.epsilon(share) for share in shares})
