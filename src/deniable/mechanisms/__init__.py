"""Mechanisms: one file each, with the guarantee it really has beside the code."""

from __future__ import annotations

from deniable.mechanisms.multivariate import Multivariate

__all__ = ["Multivariate"]
