"""What words and vectors must be to serve as an embedding: one set of rules for memory and for files."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from deniable.arrays import Vectors

LONGEST_VECTOR = 1e12
"""Vectors beyond this length are refused: their squared distances leave no room for those of others in float32."""

_ROWS_AT_ONCE = 16_384


def table_problem(words: int, shape: tuple[int, ...]) -> str | None:
    """Return what is wrong with a table of vectors of that shape for so many words; None if it fits."""
    if len(shape) != 2:
        return f"vectors must be a table of words x dimensions, not an array of {len(shape)} axes"
    if words != shape[0]:
        return f"{words:,} words but {shape[0]:,} vectors"
    if not words or not shape[1]:
        return "there are no words or no dimensions"
    return None


def bad_word(words: Sequence[str]) -> tuple[int, str] | None:
    """Return the place of the first word that cannot be one, and what is wrong with it; None if all can."""
    if all(isinstance(word, str) and word for word in words):
        joined = "\n".join(words)
        if joined.count("\n") == len(words) - 1 and "\r" not in joined and _is_encodable(joined):
            return None
    for place, word in enumerate(words):
        if not isinstance(word, str):
            return place, "the word is not a string"
        if not word:
            return place, "the word is empty"
        if "\n" in word or "\r" in word:
            return place, f"the word {word[:50]!r} holds a line break"
        if not _is_encodable(word):
            return place, f"the word {word[:50]!r} holds half a character (a lone surrogate)"
    return None


def bad_vector(words: Sequence[str], vectors: Vectors) -> tuple[int, str] | None:
    """Return the place of the first vector that cannot be used, and what is wrong with it; None if all can."""
    place = first_unusable(vectors)
    if place is None:
        return None
    word = words[place][:50]
    if np.isfinite(vectors[place]).all():
        return place, f"the vector of {word!r} is longer than {LONGEST_VECTOR:g}: not a usable word vector"
    return place, f"the vector of {word!r} has a value that is not a finite number"


def first_unusable(vectors: Vectors) -> int | None:
    """Return the first row that is not finite or longer than ``LONGEST_VECTOR``; None if there is none."""
    for start in range(0, len(vectors), _ROWS_AT_ONCE):
        block = vectors[start : start + _ROWS_AT_ONCE]
        squared = np.einsum("ij,ij->i", block, block, dtype=np.float64)
        usable = squared <= LONGEST_VECTOR**2  # False for NaN
        if not usable.all():
            return start + int(np.argmin(usable))
    return None


def _is_encodable(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
