"""Everybody's words as numbers, in one condition: the original text, or the text as a mechanism released it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.int32]

END = 0
"""The code that ends every text; words have codes from 1."""


@dataclass(frozen=True, kw_only=True)
class Streams:
    """User ``u`` wrote ``tokens[offsets[u]:offsets[u + 1]]``: word codes, with END after every text."""

    tokens: Codes
    offsets: NDArray[np.int64]

    def of(self, user: int) -> Codes:
        """Return one user's codes."""
        return self.tokens[self.offsets[user] : self.offsets[user + 1]]

    def of_all(self, users: Sequence[int]) -> Codes:
        """Return the codes of several users, one after the other."""
        return np.concatenate([self.of(user) for user in users])


class Coder:
    """Gives every word one code, the same in all conditions."""

    def __init__(self) -> None:
        self.codes: dict[str, int] = {}

    def streams(self, users: Sequence[Sequence[Sequence[str]]]) -> Streams:
        """Return the streams of users given as texts given as words."""
        flat: list[int] = []
        offsets = [0]
        for texts in users:
            for words in texts:
                flat.extend(self.codes.setdefault(word, len(self.codes) + 1) for word in words)
                flat.append(END)
            offsets.append(len(flat))
        return Streams(tokens=np.array(flat, dtype=np.int32), offsets=np.array(offsets, dtype=np.int64))


def pack(conditions: Mapping[str, Streams]) -> dict[str, NDArray[np.generic]]:
    """Return conditions as arrays for ``numpy.savez``."""
    arrays: dict[str, NDArray[np.generic]] = {"names": np.array(list(conditions))}
    for place, streams in enumerate(conditions.values()):
        narrow = np.uint16 if streams.tokens.max(initial=0) < 1 << 16 else np.int32
        arrays[f"tokens{place}"] = streams.tokens.astype(narrow)
        arrays[f"offsets{place}"] = streams.offsets
    return arrays


def unpack(arrays: Mapping[str, NDArray[np.generic]]) -> dict[str, Streams]:
    """Return the conditions that ``pack`` packed."""
    return {
        str(name): Streams(tokens=arrays[f"tokens{place}"].astype(np.int32), offsets=arrays[f"offsets{place}"].astype(np.int64))
        for place, name in enumerate(arrays["names"])
    }
