"""Tuning a space to a purpose: axes, strength and ε on public texts, at an attacker of a given success, and
the page about it."""

from deniable.tuning.findings import TuningFindings
from deniable.tuning.tuning import TuningSettings, tune

__all__ = ["TuningFindings", "TuningSettings", "tune"]
