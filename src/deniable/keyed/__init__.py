"""Keyed releases: with a secret key, releasing the same record again gives the same words and spends nothing
more."""

from __future__ import annotations

from deniable.keyed.source import Keyed

__all__ = ["Keyed"]
