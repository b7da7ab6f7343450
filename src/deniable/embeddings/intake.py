"""Taking in a file: every word is checked and its vector written out as the blocks come, holding words but no table."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from deniable.arrays import Vectors
from deniable.embeddings.content import MARKERS, UNKNOWN_TOKENS, bad_vector, bad_word, table_problem, unprintable_words
from deniable.embeddings.readers import RawEmbedding
from deniable.embeddings.staging import GrowingArray
from deniable.errors import MalformedEmbedding


@dataclass(frozen=True, kw_only=True)
class Intake:
    """What was taken in: the words, the embedding's own unknown vector if it had one, and what was left out.

    ``repeated`` counts the repeats, ``unprintable`` are the words that hold control characters or marks of direction.
    """

    words: list[str]
    unknown: Vectors | None
    repeated: int
    unprintable: list[str]


def take_in(raw: RawEmbedding, vectors_file: Path, *, source: Path, first: int | None = None, drop_repeats: bool = False) -> Intake:
    """Check all blocks, write the vectors to a .npy file and return the words.

    ``first`` stops after that many words. Words that stand for the unknown word are taken out; the first of
    ``UNKNOWN_TOKENS`` that was met gives ⊥. Words that hold control characters are left out: large public files have a few.

    :raises MalformedEmbedding: if a word is empty, holds a line break or is repeated (unless ``drop_repeats``), a vector
        is not finite or absurdly long, or there are more or fewer words than the file says.
    """
    rows = _RowChecks(raw, source, first, drop_repeats)
    with GrowingArray(vectors_file) as array:
        for words, vectors in raw.blocks:
            kept = rows.check(words, vectors)
            array.append(vectors if len(kept) == len(words) else vectors[kept])
            if rows.full:
                break
        rows.check_total()
        array.finish()
    own = next((rows.unknown[token] for token in UNKNOWN_TOKENS if token in rows.unknown), None)
    return Intake(words=rows.words, unknown=own, repeated=rows.repeated, unprintable=rows.unprintable)


class _RowChecks:
    def __init__(self, raw: RawEmbedding, source: Path, first: int | None, drop_repeats: bool) -> None:
        self._raw = raw
        self._source = source
        self._first = first
        self._drop_repeats = drop_repeats
        self._seen: dict[str, int] = {}
        self._row = 0
        self.words: list[str] = []
        self.unknown: dict[str, Vectors] = {}
        self.repeated = 0
        self.unprintable: list[str] = []

    @property
    def full(self) -> bool:
        """Whether as many words as were asked for are there."""
        return self._first is not None and len(self.words) >= self._first

    def check(self, words: list[str], vectors: Vectors) -> list[int]:
        """Return which rows of a block are to be written, having noted their words."""
        if (problem := table_problem(len(words), vectors.shape)) is not None:
            raise MalformedEmbedding(self._source, problem)
        if (bad := bad_word(words) or bad_vector(words, vectors)) is not None:
            self._refuse(bad[1], self._row + bad[0])
        kept: list[int] = []
        unprintable = set(unprintable_words(words))
        for offset, word in enumerate(words):
            if self.full:
                break
            row = self._row + offset
            if self._seen.setdefault(word, row) != row:
                self._refuse_repeat(word, row)
                self.repeated += 1
            elif word in UNKNOWN_TOKENS:
                self.unknown[word] = vectors[offset].copy()
            elif offset in unprintable:
                self.unprintable.append(word)
            elif word not in MARKERS:
                self.words.append(word)
                kept.append(offset)
        self._row += len(words)
        announced = self._raw.announced
        if announced is not None and self._row > announced and not self.full:
            problem = f"the header says {announced:,} words, but more follow; correct the first line if the rest is right"
            raise MalformedEmbedding(self._source, problem, line=self._raw.line(announced))
        return kept

    def check_total(self) -> None:
        """Check that the file held words at all, and as many as it says."""
        announced = self._raw.announced
        if not self.full and announced is not None and self._row != announced:
            problem = f"the header says {announced:,} words, but the file has {self._row:,}: it was cut off; get it again"
            raise MalformedEmbedding(self._source, problem)
        if not self.words:
            none = "all of its words hold control characters" if self.unprintable else "there are no words in it"
            raise MalformedEmbedding(self._source, "its only word is the unknown word" if self.unknown else none)

    def _refuse_repeat(self, word: str, row: int) -> None:
        if not self._drop_repeats:
            place = self._raw.place(self._seen[word])
            here = "" if self._raw.first_line is not None else f"{self._raw.place(row)}: "
            problem = f"{here}the word {word[:50]!r} stands on {place} already; --duplicates first keeps the first of them"
            raise MalformedEmbedding(self._source, problem, line=self._raw.line(row))

    def _refuse(self, problem: str, row: int) -> None:
        where = "" if self._raw.first_line is not None else f"{self._raw.place(row)}: "
        raise MalformedEmbedding(self._source, where + problem, line=self._raw.line(row))
