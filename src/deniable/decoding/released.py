"""The words of released text, as ids and as counts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from deniable.arrays import Floats, Ids
from deniable.embeddings.embedding import Embedding
from deniable.words.cutter import Cutter, Lookup

if TYPE_CHECKING:
    from scipy.sparse import csr_array


_HELD_OUT = 5


class ReleasedCounts(NamedTuple):
    """How often each word of the embedding was released: ``learn`` in four records of five, ``hold`` in the fifth.

    ``strange`` counts words that the embedding does not have.
    """

    learn: Floats
    hold: Floats
    strange: int
    records: int

    @property
    def words(self) -> int:
        """How many words were counted, strange ones too."""
        return int(self.learn.sum() + self.hold.sum()) + self.strange


class ReleasedWords:
    """Reads the words of released text: those that stand between spaces, or as the cutter finds them where marks were kept."""

    def __init__(self, embedding: Embedding, marks: Iterable[str] = ()) -> None:
        self.lookup = Lookup(embedding)
        self.marks = frozenset(marks)
        self._cutter, self._unknown, self._outputs = Cutter(embedding), embedding.unknown_id, len(embedding)

    def ids(self, texts: Iterable[str | None]) -> Iterator[Ids]:
        """Yield the ids of the words of each text; ``unknown_id`` for what no release of this embedding holds."""
        for text in texts:
            yield np.array(self._of(text or ""), dtype=np.int64)

    def counts(self, texts: Sequence[str | None]) -> csr_array:
        """Return how often each word of the embedding stands in each text; what was not released is left out."""
        from scipy.sparse import csr_array

        known = [each[each != self._unknown] for each in self.ids(texts)]
        starts = np.cumsum([0, *(len(each) for each in known)])
        flat = np.concatenate([*known, np.zeros(0, dtype=np.int64)])
        counts = csr_array((np.ones(len(flat)), flat, starts), shape=(len(known), self._outputs))
        counts.sum_duplicates()
        return counts

    def count(self, texts: Iterable[str | None]) -> ReleasedCounts:
        """Return the counts over all texts; they are gone through once, and none is kept."""
        learn, hold, records = np.zeros(self._outputs + 1), np.zeros(self._outputs + 1), 0
        for ids in self.ids(texts):
            np.add.at(hold if records % _HELD_OUT == 0 else learn, ids, 1.0)
            records += 1
        return ReleasedCounts(learn=learn[:-1], hold=hold[:-1], strange=int(learn[-1] + hold[-1]), records=records)

    def drawn(self, text: str | None) -> int:
        """Return how many words of a text were drawn, as far as the text says."""
        ids = self._of(text or "")
        return len(ids) - ids.count(self._unknown)

    def _of(self, text: str) -> list[int]:
        words = text.split()
        if not self.marks.isdisjoint(words):
            words = [word for word in words if word not in self.marks]
        # Released words stand as the vocabulary has them, unless their case was kept.
        found = self.lookup.ids(words, folded=True)
        if self._unknown not in found:
            return found
        ids: list[int] = []
        for word, known in zip(words, found, strict=True):
            ids += [known] if known != self._unknown else self._otherwise(word)
        return ids

    def _otherwise(self, word: str) -> list[int]:
        """Return the ids of what stands between two spaces and is not in the vocabulary as it is."""
        known = self.lookup.ids([word])
        return known if known != [self._unknown] else self.lookup.ids(self._cutter.words(word))
