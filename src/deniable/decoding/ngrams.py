"""A language model of public text: bigrams after Kneser and Ney, interpolated (Chen and Goodman 1999, section
2.8).

    P(b | a) = max(c(a, b) - D, 0)/c(a) + λ(a)·P(b),   λ(a) = D·N(a, ·)/c(a),

where N(a, ·) counts the distinct words that follow a, D = n₁/(n₁ + 2·n₂) comes from the bigrams seen once and
twice, and P(b) is how many distinct words b follows, as a share. A little of P is spread evenly, so that no
word is impossible. So a step costs the stored bigrams plus one number for each word.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from deniable.arrays import Floats, Ids
from deniable.embeddings.embedding import Embedding
from deniable.errors import UnusableAuditData
from deniable.progress import Report
from deniable.words.cutter import Cutter
from deniable.words.public_text import read_documents

_EVEN = 1e-3
_PAIRS_AT_ONCE = 1 << 22


@dataclass(frozen=True, kw_only=True)
class Bigrams:
    """P(b | a) over the words of an embedding and ⊥: ``follows[a, b]`` plus ``backing_off[a]`` times
    ``alone[b]``.

    ``counts`` say how often each word stands in the text that was read.
    """

    follows: Any = field(repr=False)
    backing_off: Floats = field(repr=False)
    alone: Floats = field(repr=False)
    counts: Floats = field(repr=False)

    def between(self, first: int | None, last: int | None) -> Floats:
        """Return numbers proportional to the probability of each word and ⊥ between two words; None is an end
        of the text."""
        shares = self.alone.copy()
        if first is not None:
            shares *= self.backing_off[first]
            start, end = self.follows.indptr[first : first + 2]
            shares[self.follows.indices[start:end]] += self.follows.data[start:end]
        if last is not None:
            ahead = self.backing_off * self.alone[last]
            start, end = self._before.indptr[last : last + 2]
            ahead[self._before.indices[start:end]] += self._before.data[start:end]
            shares *= ahead
        return shares

    @cached_property
    def _before(self) -> Any:
        return self.follows.tocsc()

    def probability(self, first: int, second: int) -> float:
        """Return P(second | first)."""
        return float(self.follows[first, second] + self.backing_off[first] * self.alone[second])


def read_bigrams(embedding: Embedding, path: Path, *, report: Report | None = None) -> Bigrams:
    """Return the bigrams of a public text file, one document a line, cut as for a release.

    :raises UnusableAuditData: if the file holds no two words in a row.
    """
    cutter = Cutter(embedding)
    documents = (
        np.array(cutter.ids(cutter.words(line)), dtype=np.int64)
        for line in read_documents(path, report=report)
    )
    found = count_bigrams(documents, len(embedding) + 1)
    if found is None:
        raise UnusableAuditData(path, "holds no two words in a row, so no language model can be made from it")
    return found


def count_bigrams(documents: Iterable[Ids], words: int) -> Bigrams | None:
    """Return the bigrams of documents given as ids below ``words``; None if there is none."""
    counts = PairCounts(words)
    for ids in documents:
        counts.add(ids)
    return counts.smooth()


class PairCounts:
    """Counts words, as ids below ``words``, and pairs of words in documents."""

    def __init__(self, words: int) -> None:
        from scipy.sparse import csr_array

        self._pairs: Any = csr_array((words, words))
        self._counts: Floats = np.zeros(words)
        self._waiting: list[Ids] = []
        self._words_waiting = 0

    def add(self, ids: Ids) -> None:
        """Count a document."""
        self._counts += np.bincount(ids, minlength=len(self._counts))
        self._waiting.append(ids)
        self._words_waiting += len(ids)
        if self._words_waiting >= _PAIRS_AT_ONCE:
            self._gather()

    def smooth(self) -> Bigrams | None:
        """Return the bigrams of what was counted so far; None if there is none."""
        self._gather()
        return _smoothed(self._pairs, self._counts.copy()) if self._pairs.nnz else None

    def _gather(self) -> None:
        from scipy.sparse import coo_array

        if not self._waiting:
            return
        pairs = tuple(
            np.concatenate([ids[part] for ids in self._waiting]) for part in (slice(None, -1), slice(1, None))
        )
        self._pairs = (
            self._pairs + coo_array((np.ones(len(pairs[0])), pairs), shape=self._pairs.shape).tocsr()
        )
        self._waiting, self._words_waiting = [], 0


def _smoothed(pairs: Any, counts: Floats) -> Bigrams:
    once, twice = int((pairs.data == 1).sum()), int((pairs.data == 2).sum())
    discount = once / (once + 2 * twice) if once else 0.5
    sums = np.asarray(pairs.sum(axis=1)).ravel()
    distinct = np.diff(pairs.indptr)
    followed = np.bincount(pairs.indices, minlength=len(sums)).astype(np.float64)
    seen = sums > 0.0
    backing_off = np.ones(len(sums))
    backing_off[seen] = discount * distinct[seen] / sums[seen]
    follows = pairs.copy()
    follows.data = np.maximum(follows.data - discount, 0.0) / np.repeat(sums, distinct)
    alone = (1.0 - _EVEN) * followed / followed.sum() + _EVEN / len(followed)
    return Bigrams(follows=follows, backing_off=backing_off, alone=alone, counts=counts)
