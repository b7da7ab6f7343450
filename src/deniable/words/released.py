"""The words of released text, as ids and as counts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import regex

from deniable.arrays import Floats, Ids
from deniable.errors import InvalidParameter
from deniable.words.cutter import CLITICS, Cutter, Vocabulary

if TYPE_CHECKING:
    from scipy.sparse import csr_array


_HELD_OUT = 5
_MOST_MARKS = 4
_LONG = 100
_LAST_CLITIC = regex.compile("|".join(sorted(CLITICS)), regex.IGNORECASE | regex.REVERSE)
_FIRST_LETTER = regex.compile(r"[\p{L}\p{N}]")
_LAST_LETTER = regex.compile(r"[\p{L}\p{N}]", regex.REVERSE)
_BLANKS = " \t\n\r\f\v"
_BETWEEN_BLANKS = regex.compile(rf"[^{_BLANKS}]++")


class ReleasedCounts(NamedTuple):
    """How often each word of the embedding was released: ``learn`` in four records of five, ``hold`` in the
    fifth.

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


def texts_in(values: Iterable[object]) -> Iterator[str | None]:
    """Yield the values, each a text or None.

    :raises InvalidParameter: if a value is neither.
    """
    for record, text in enumerate(values, 1):
        if text is not None and not isinstance(text, str):
            problem = f"record {record:,} is not text; give str or None"
            raise InvalidParameter("texts", type(text).__name__, problem)
        yield text


class ReleasedWords:
    """Reads the words of released text, whatever they are: each text holds the words that were released, and
    no others.

    What stands between two spaces is read by itself. It is a word of the vocabulary; or one, or a mark that
    stands for no word, with clitics written to it; or that between punctuation marks that were kept; or else
    what the cutter makes of it. The writer (``release.writing``) leaves a space wherever this would give
    other words than those that it writes.
    """

    def __init__(self, embedding: Vocabulary, marks: Iterable[str] = ()) -> None:
        self.cutter = Cutter(embedding)
        self.marks = frozenset(marks)
        self._unknown, self._outputs = embedding.unknown_id, len(embedding.words)
        self._embedding = embedding

    def ids(self, texts: Iterable[str | None]) -> Iterator[Ids]:
        """Yield the ids of the words of each text; ``unknown_id`` for what no release of this embedding
        holds."""
        for text in texts:
            yield np.array(self.read(text or ""), dtype=np.int64)

    def counts(self, texts: Sequence[str | None]) -> csr_array:
        """Return how often each word of the embedding stands in each text; what was not released is left
        out."""
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
        return ReleasedCounts(
            learn=learn[:-1], hold=hold[:-1], strange=int(learn[-1] + hold[-1]), records=records
        )

    def drawn(self, text: str | None) -> int:
        """Return how many words of a text were drawn, as far as the text says."""
        ids = self.read(text or "")
        return len(ids) - ids.count(self._unknown)

    def read(self, text: str) -> list[int]:
        """Return the ids of the words of one text, as ``ids`` does."""
        words = _BETWEEN_BLANKS.findall(text) if self._words_hold_blanks else text.split()
        if not self.marks.isdisjoint(words):
            words = [word for word in words if word not in self.marks]
        # Released words stand as the vocabulary has them, unless their case was kept.
        found = self.cutter.ids(words, folded=True)
        if self._unknown not in found:
            return found
        ids: list[int] = []
        for word, known in zip(words, found, strict=True):
            ids += [known] if known != self._unknown else self._otherwise(word)
        return ids

    @cached_property
    def _words_hold_blanks(self) -> bool:
        """Whether some word holds a blank that Python splits text at and releases do not, such as a no-break
        space."""
        return len(f"x{''.join(self._embedding.words)}x".split()) > 1

    @cached_property
    def _longest(self) -> int:
        return max(map(len, self._embedding.words))

    def _otherwise(self, written: str) -> list[int]:
        """Return the ids of what stands between two spaces and is not in the vocabulary as it is."""
        found = self._with_clitics(written)
        if found is None and self.marks and any(mark in written for mark in self.marks):
            return self.read(regex.sub(r"\L<marks>", " ", written, marks=list(self.marks)))
        if found is None:
            found = self._between_marks(written)
        return self.cutter.ids(self.cutter.words(written)) if found is None else found

    def _with_clitics(self, written: str) -> list[int] | None:
        """Return the ids of one word, or of none for a mark, and of the clitics after it; None if it is
        something else."""
        clitics: list[int] = []
        stop, may_end_so = len(written), "'" in written
        while True:
            # Any number of clitics can follow one another: what is longer than every word need not be looked
            # up.
            if stop <= _LONG or stop <= self._longest:
                stem = written[:stop]
                known = self.cutter.id(stem)
                if known != self._unknown:
                    return [known, *reversed(clitics)]
                if stem in self.marks:
                    return clitics[::-1]
            clitic = _LAST_CLITIC.match(written, 0, stop) if may_end_so else None
            if clitic is None:
                return None
            clitics.append(self.cutter.id(clitic.group()))
            if clitics[-1] == self._unknown:
                return None
            stop = clitic.start()

    def _between_marks(self, written: str) -> list[int] | None:
        """Return the ids of what stands between marks at both ends, with as many of them as the vocabulary
        has in the word."""
        # Mostly it is one mark after a word.
        if len(written) > 1 and written[0].isalnum() and written[-2].isalnum():
            return None if written[-1].isalnum() else self._with_clitics(written[:-1])
        first, last = _FIRST_LETTER.search(written), _LAST_LETTER.search(written)
        if first is None or last is None:
            return None
        before, after = first.start(), len(written) - last.end()
        if before > _MOST_MARKS or after > _MOST_MARKS:
            return None
        for marks in range(1, before + after + 1):
            for start in range(max(0, marks - after), min(before, marks) + 1):
                found = self._with_clitics(written[start : len(written) - (marks - start)])
                if found is not None:
                    return found
        return None
