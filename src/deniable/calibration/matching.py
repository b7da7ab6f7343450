"""ε by what it does to words: how often an average word stays itself (N_w), over a fixed sample of the
vocabulary."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from deniable.calibration.by_rays import RayCalibration
from deniable.calibration.calibration import Calibration, public_sample
from deniable.calibration.run import measure
from deniable.embeddings.embedding import Embedding
from deniable.mechanisms.base import method_of
from deniable.mechanisms.catalogue import ChosenMechanism

SHARES = (0.05, 0.25, 0.5, 0.75, 0.95, 0.99)
"""The average N_w at which an experiment looks when it is not told a value of ε."""

_SAMPLE, _RAYS, _SEED = 1000, 200, 4
_DRAWN_SAMPLE = 200


def sampled(embedding: Embedding, mechanism: ChosenMechanism | None = None) -> Calibration:
    """Return the calibration of a fixed sample of the words; the second call reads it from the disk."""
    mechanism = ChosenMechanism() if mechanism is None else mechanism
    # Every ε takes draws of its own.
    by_draws = method_of(mechanism(embedding, epsilon=1.0)) == "simulation"
    ids = public_sample(len(embedding), _DRAWN_SAMPLE if by_draws else _SAMPLE, seed=_SEED)
    return measure(embedding, mechanism, draws=_RAYS, ids=ids)


def source_of(calibration: Calibration) -> str:
    """Return in words where the numbers of a sample come from."""
    draws = {"rays": f"{calibration.draws} rays each", "exact": "exact sums"}
    how = draws.get(calibration.method, f"{calibration.draws} draws each")
    return f"{len(calibration.ids):,} words of the vocabulary, {how}"


def epsilon_where(calibration: Calibration, share: float) -> float:
    """Return the ε, to three digits, at which an average word stays itself in this share of the draws, or as
    nearly as any does."""
    if isinstance(calibration, RayCalibration):
        return calibration.epsilon_reaching(share)
    epsilons = np.sort(calibration.epsilons)
    averages = [calibration.average(epsilon)[0] for epsilon in epsilons.tolist()]
    # Draws may fall back by chance; what is looked for is where the share is reached for the first time.
    reached = np.interp(share, np.maximum.accumulate(averages), np.log(epsilons))
    return float(f"{np.exp(reached):.3g}")


def epsilons_where_words_stay(
    embedding: str | Path, mechanism: ChosenMechanism | None = None, shares: Sequence[float] = SHARES
) -> list[float]:
    """Return the values of ε at which an average word of the embedding stays itself in these shares of the
    draws."""
    calibration = sampled(Embedding.open(embedding), mechanism)
    return sorted({epsilon_where(calibration, share) for share in shares})
