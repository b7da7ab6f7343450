"""Choosing ε by looking at every word: the statistics N_w and S_w, the choice, protection of exposed words,
and the page about it.

>>> from deniable.calibration import Targets, calibrate
>>> result = calibrate("default", targets=Targets(max_unchanged=0.5, quantile=0.95), sample=200, draws=100)
>>> result.epsilon is not None
True
"""

from __future__ import annotations

from deniable.calibration.choice import Protection, Targets
from deniable.calibration.result import CalibrationResult
from deniable.calibration.run import Files, calibrate, measure

__all__ = ["CalibrationResult", "Files", "Protection", "Targets", "calibrate", "measure"]
