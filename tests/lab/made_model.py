"""A language model of made texts, in which each word follows from the one before the last."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from deniable.arrays import Floats
from deniable.lab.inversion.language_model import Asked

WORDS = 60


class MadeModel:
    """Knows how made texts go on, as far as it is sure of it; any other word may stand there too."""

    name = "made (sha256 0)"

    def __init__(self, sure: float = 0.9) -> None:
        self._sure = sure

    def scores(self, asked: Sequence[Asked]) -> list[Floats]:
        return [
            np.log([self._chances(text, candidates) for text in beginnings])
            for beginnings, candidates in asked
        ]

    def _chances(self, text: list[str], candidates: list[str]) -> list[float]:
        expected = f"w{(int(text[-2][1:]) * 7 + 3) % WORDS}" if len(text) > 1 else ""
        return [self._sure * (word == expected) + (1.0 - self._sure) / WORDS for word in candidates]
