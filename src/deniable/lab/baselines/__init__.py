"""The query-scrambling methods that the paper compares with, for texts given as words.

None of them has a privacy guarantee: they are here to be attacked. Versatile is from Arampatzis, Drosatos and
Efraimidis (2015). The details of Incognito (Masood and others, 2018) are not public, so what is here is
"Incognito-like".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class Baseline(Protocol):
    """Scrambles texts, given as words."""

    name: str

    def scramble(self, texts: Sequence[Sequence[str]]) -> list[list[str]]:
        """Return what is released of each text, as words."""
        ...
