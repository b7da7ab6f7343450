"""Vectors of words that are in no vocabulary, from the parts of their spelling, as fastText makes them.

A word is written between "<" and ">", cut into all its runs of ``minn`` to ``maxn`` characters, and each run
is hashed to a row of one table. The vector of the word is the mean of these rows: a public function of the
spelling alone, so mapping an unknown word to the known word nearest to this vector is a public map like any
other.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from deniable.arrays import Vectors
from deniable.atomic import open_plain_file
from deniable.embeddings.npy import open_array
from deniable.errors import MalformedEmbedding
from deniable.parameters import first_unusable

TABLE, FACTS = "subwords.npy", "subwords.json"

LONGEST_SPELLING = 200
"""Longer spellings have no vector. They are no words, and the work for one token must be bounded."""

LONGEST_RUN = 50
"""Characters that a run may have; models are trained with 6, and the work for one character must be
bounded."""

_LONGEST_FACTS = 4_096
_FNV_START, _FNV_PRIME, _32_BITS = 2166136261, 16777619, 0xFFFFFFFF


class Subwords:
    """The table of subword vectors of a fastText embedding, and the lengths of the character runs it was
    trained on."""

    def __init__(self, table: Vectors, *, minn: int, maxn: int) -> None:
        """Hold a (buckets, dimension) table, which may be mapped from disk.

        :raises MalformedEmbedding: if there is no table, or the lengths of the runs make no sense.
        """
        if table.ndim != 2 or 0 in table.shape or table.dtype != np.float32:
            problem = f"must be a table of float32 vectors, not {table.dtype} of shape {table.shape}"
            raise MalformedEmbedding("subwords", problem)
        if not 1 <= minn <= maxn <= LONGEST_RUN:
            raise MalformedEmbedding("subwords", f"runs of {minn} to {maxn} characters make no sense")
        self.table = table
        self.minn = minn
        self.maxn = maxn

    @classmethod
    def open(cls, folder: Path) -> Subwords:
        """Return the subwords stored in a folder. The table stays on disk; only rows that are used are read.

        :raises MalformedEmbedding: if a file is missing, cannot be read or does not fit the other.
        """
        try:
            with open_plain_file(folder / FACTS) as file:
                facts: Any = json.loads(file.read(_LONGEST_FACTS))
            table = open_array(folder / TABLE, "<f4", (None, None), mapped=True)
            minn, maxn, buckets = (int(facts[key]) for key in ("minn", "maxn", "buckets"))
            if len(table) != buckets:
                raise ValueError(f"{TABLE} has {len(table):,} rows, {FACTS} says {buckets:,}")
        except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
            problem = f"the subword vectors cannot be read ({error}); remove the embedding and add it again"
            raise MalformedEmbedding(folder, problem) from error
        return cls(table, minn=minn, maxn=maxn)

    @property
    def buckets(self) -> int:
        """The number of rows that the runs of characters are hashed to."""
        return int(self.table.shape[0])

    @property
    def dimension(self) -> int:
        """The number of coordinates of a vector."""
        return int(self.table.shape[1])

    def vectors(self, words: Sequence[str]) -> Vectors:
        """Return one vector a word, known or not; a row of zeros for a word that has no runs or is far too
        long.

        :raises MalformedEmbedding: if the table holds something other than finite numbers.
        """
        result = np.zeros((len(words), self.dimension), dtype=np.float32)
        for row, word in zip(result, words, strict=True):
            if len(word) > LONGEST_SPELLING:
                continue
            if buckets := ngram_buckets(word, self.minn, self.maxn, self.buckets):
                row[:] = self.table[buckets].mean(axis=0, dtype=np.float64)
        if first_unusable(result) is not None:
            problem = "a vector is not finite or absurdly long; remove the embedding and add it again"
            raise MalformedEmbedding("subwords", problem)
        return result

    def save(self, folder: Path) -> None:
        """Write the table and the lengths of its runs into a folder."""
        np.save(folder / TABLE, np.ascontiguousarray(self.table, dtype="<f4"), allow_pickle=False)
        facts = {"minn": self.minn, "maxn": self.maxn, "buckets": self.buckets}
        (folder / FACTS).write_text(json.dumps(facts) + "\n", encoding="utf-8")


def ngram_buckets(word: str, minn: int, maxn: int, buckets: int) -> list[int]:
    """Return the row of every run of characters of a word, in fastText's order; repeated runs are
    repeated."""
    marked = f"<{word}>"
    last = len(marked)
    characters = [_signed_bytes(character) for character in marked]
    found: list[int] = []
    for start in range(last):
        value = _FNV_START
        for length, character in enumerate(characters[start : start + maxn], start=1):
            for byte in character:
                value = ((value ^ byte) * _FNV_PRIME) & _32_BITS
            # The marks alone are no runs; everything with a character of the word is.
            if length >= minn and not (length == 1 and (start == 0 or start == last - 1)):
                found.append(value % buckets)
    return found


def _signed_bytes(character: str) -> list[int]:
    # fastText hashes bytes as C's signed char widened to 32 bits: from 128 on, each carries 24 set bits.
    return [byte if byte < 128 else byte | 0xFFFFFF00 for byte in character.encode("utf-8", "surrogatepass")]
