"""Values of ε worth looking at: from where every word changes to where none does, and where an average is reached."""

from __future__ import annotations

import numpy as np

from deniable.calibration.measure import Calibration
from deniable.calibration.statistics import unchanged
from deniable.interfaces import Floats

VALUES = 16
_WORDS = 2048
_HALVINGS = 40


def epsilon_span(calibration: Calibration, *, values: int = VALUES) -> list[float]:
    """Return values of ε from where one word in 200 stays on average to where all but one in 200 do, rounded to three digits."""
    low, high = epsilon_reaching(calibration, 0.005), epsilon_reaching(calibration, 0.995)
    return sorted({_rounded(float(epsilon)) for epsilon in np.geomspace(low, max(high, low * 1.5), values)})


def epsilon_reaching(calibration: Calibration, share: float) -> float:
    """Return the ε at which N_w is ``share`` on average over the words, or over 2,048 of them spread evenly where there are more."""
    rows = np.unique(np.linspace(0, len(calibration.ids) - 1, _WORDS).astype(np.int64))
    radii: Floats = np.asarray(calibration.radii[rows], dtype=np.float64)
    gamma, finite = calibration.gamma, radii[np.isfinite(radii)]
    middle = calibration.embedding.dimension / float(np.median(finite)) if len(finite) and np.median(finite) > 0.0 else 1.0
    low, high = middle * 1e-4, middle * 1e4
    for _ in range(_HALVINGS):
        tried = float(np.sqrt(low * high))
        average = float(unchanged(radii, np.array([tried]), gamma)[0].mean())
        low, high = (tried, high) if average < share else (low, tried)
    return _rounded(high)


def _rounded(epsilon: float) -> float:
    return float(f"{epsilon:.3g}")
