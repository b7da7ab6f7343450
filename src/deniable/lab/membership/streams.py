"""Everybody's words as numbers: in one condition (the original text, or as a mechanism released it), and as
one model knows them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deniable.audit.draws import Users

Codes = NDArray[np.int32]

END = 0
"""The code that ends every text; words have codes from 1."""

PADDING, TEXT_END, UNKNOWN = 0, 1, 2
_FIRST_WORD = 3


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


def encode_conditions(conditions: Mapping[str, Users]) -> dict[str, Streams]:
    """Return the words of all conditions as streams, with one code per word."""
    codes: dict[str, int] = {}
    streams = {}
    for name, users in conditions.items():
        flat, offsets = list[int](), [0]
        for texts in users:
            for words in texts:
                flat += [*(codes.setdefault(word, len(codes) + 1) for word in words), END]
            offsets.append(len(flat))
        tokens, ends = np.array(flat, dtype=np.int32), np.array(offsets, dtype=np.int64)
        streams[name] = Streams(tokens=tokens, offsets=ends)
    return streams


class Vocabulary:
    """The words a model knows: the most frequent of the text it was trained on.

    Maps word codes to a model's own numbers: padding, the end of a text, the unknown word, then words by
    frequency.
    """

    def __init__(self, trained_on: Codes, *, size: int) -> None:
        codes, counts = np.unique(trained_on[trained_on != END], return_counts=True)
        kept = codes[np.lexsort((codes, -counts))][: size - _FIRST_WORD]
        self._numbers = np.full(int(trained_on.max(initial=0)) + 1, UNKNOWN, dtype=np.int32)
        self._numbers[kept] = np.arange(_FIRST_WORD, _FIRST_WORD + len(kept))
        self._numbers[END] = TEXT_END

    def encode(self, tokens: Codes) -> NDArray[np.int32]:
        """Return the model's numbers of word codes."""
        heard = tokens < len(self._numbers)
        return np.where(heard, self._numbers[np.where(heard, tokens, 0)], UNKNOWN).astype(np.int32)


def sequences(numbers: NDArray[np.int32], length: int) -> NDArray[np.int32]:
    """Return one user's numbers cut into rows of ``length`` + 1: each row's words and, shifted by one, the
    words to predict.

    Rows overlap by one number, so that every word but the first is predicted once. The last row is padded.
    """
    rows = max(1, -(-(len(numbers) - 1) // length))
    padded = np.full(rows * length + 1, PADDING, dtype=np.int32)
    padded[: len(numbers)] = numbers
    return np.lib.stride_tricks.sliding_window_view(padded, length + 1)[::length].copy()
