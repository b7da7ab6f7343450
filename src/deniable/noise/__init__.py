"""Sources of noise: secure, seeded for tests, and keyed."""

from __future__ import annotations

from deniable.noise.keyed import Keyed

__all__ = ["Keyed"]
