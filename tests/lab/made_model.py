"""A language model of made texts, in which each word follows from the one before the last."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from deniable.arrays import Floats, Ids

WORDS = 60


class MadeBeams:
    def __init__(self, texts: list[list[str]], sure: float) -> None:
        self.texts, self._sure = texts, sure

    def scores(self, candidates: Sequence[str]) -> Floats:
        """A word follows from the one before the last, and any other may stand there too."""
        expected = [f"w{(int(text[-2][1:]) * 7 + 3) % WORDS}" if len(text) > 1 else "" for text in self.texts]
        others = (1.0 - self._sure) / WORDS
        return np.log(
            [[self._sure * (word == wanted) + others for word in candidates] for wanted in expected]
        )

    def follow(self, beginnings: Ids, words: Sequence[str | None]) -> MadeBeams:
        return MadeBeams(
            [
                self.texts[i] + ([word] if word else [])
                for i, word in zip(beginnings.tolist(), words, strict=True)
            ],
            self._sure,
        )


class MadeModel:
    """Knows how made texts go on, as far as it is sure of it."""

    name = "made (sha256 0)"

    def __init__(self, sure: float = 0.9) -> None:
        self._sure = sure

    def begin(self) -> MadeBeams:
        return MadeBeams([[]], self._sure)

    def scores(self, beams: Sequence[MadeBeams], candidates: Sequence[Sequence[str]]) -> list[Floats]:
        return [each.scores(some) for each, some in zip(beams, candidates, strict=True)]

    def follow(
        self, beams: Sequence[MadeBeams], beginnings: Sequence[Ids], words: Sequence[Sequence[str | None]]
    ) -> list[MadeBeams]:
        return [
            each.follow(chosen, said) for each, chosen, said in zip(beams, beginnings, words, strict=True)
        ]
