"""How frequent words are in text, from public facts alone: their rank in a vocabulary, and counts of English.

Forward, these shares say what an ε does to a text. Backward, they are what a reader knows before a release.
"""

from __future__ import annotations

import lzma
from functools import lru_cache
from importlib import resources

import numpy as np

from deniable.arrays import Floats
from deniable.words.cutter import Vocabulary

UNKNOWN_SHARE = 0.02
"""The share of unknown words before a release is read."""

FROM_RANKS = 0.05
"""The part of the shares that comes from ranks where a public text or a file of counts is given: neither has
every word."""

_MANDELBROT = 2.7
_BEYOND_THE_COUNTS = 0.08
"""The share of all known words that the built-in counts do not list: they end after the most frequent
11,547."""

_LEAST_COVERED = 0.5


def as_shares(values: Floats) -> Floats:
    """Return the values scaled to sum 1."""
    shares: Floats = values / values.sum()
    return shares


def by_rank(vocabulary: Vocabulary) -> Floats:
    """Return 1/(rank + 2.7), scaled to sum 1 (Zipf's law as Mandelbrot wrote it); public embeddings list
    frequent words first."""
    return as_shares(1.0 / (np.arange(1, len(vocabulary.words) + 1, dtype=np.float64) + _MANDELBROT))


def shares_of_all(vocabulary: Vocabulary, counts: Floats | None = None) -> Floats:
    """Return the shares of all words and ⊥: by rank, or mostly by their ``counts`` in a public text."""
    ranks: Floats = np.append((1.0 - UNKNOWN_SHARE) * by_rank(vocabulary), UNKNOWN_SHARE)
    if counts is None:
        return ranks
    mixed: Floats = (1.0 - FROM_RANKS) * counts / counts.sum() + FROM_RANKS * ranks
    return mixed


def in_english(vocabulary: Vocabulary) -> Floats | None:
    """Return the shares of all words and ⊥ in running English text, by the built-in counts
    (``words/data/README.md``).

    None if the vocabulary does not know the words of half of such a text: it is of another language, or a
    special vocabulary.
    """
    counts = _english_counts()
    listed = np.array([counts.get(word, 0) for word in vocabulary.words], dtype=np.float64)
    if listed.sum() < _LEAST_COVERED * sum(counts.values()):
        return None
    beyond = np.where(listed > 0.0, 0.0, by_rank(vocabulary))
    known = (1.0 - _BEYOND_THE_COUNTS) * as_shares(listed)
    if beyond.any():
        known += _BEYOND_THE_COUNTS * as_shares(beyond)
    return np.append((1.0 - UNKNOWN_SHARE) * as_shares(known), UNKNOWN_SHARE)


@lru_cache(maxsize=1)
def _english_counts() -> dict[str, int]:
    packed = (resources.files("deniable.words") / "data" / "english-counts.txt.xz").read_bytes()
    lines = lzma.decompress(packed).decode("utf-8").split("\n")[:-1]
    return {word: int(count) for word, _, count in (line.partition("\t") for line in lines)}
