"""Fixtures of several rooms."""

from __future__ import annotations

from tests.release.conftest import cased_embedding, embedding

__all__ = ["cased_embedding", "embedding"]
