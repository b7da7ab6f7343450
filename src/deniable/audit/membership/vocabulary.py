"""The words a language model knows: the most frequent ones of the text it was trained on."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deniable.audit.membership.streams import END, Codes

PADDING, TEXT_END, UNKNOWN = 0, 1, 2
_FIRST_WORD = 3


class Vocabulary:
    """Maps word codes to a model's own numbers: padding, the end of a text, the unknown word, then words by frequency."""

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
    """Return one user's numbers cut into rows of ``length`` + 1: each row's words and, shifted by one, the words to predict.

    Rows overlap by one number, so that every word but the first is predicted once. The last row is padded.
    """
    rows = max(1, -(-(len(numbers) - 1) // length))
    padded = np.full(rows * length + 1, PADDING, dtype=np.int32)
    padded[: len(numbers)] = numbers
    return np.lib.stride_tricks.sliding_window_view(padded, length + 1)[::length].copy()
