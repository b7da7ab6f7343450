"""The rules for the words and vectors of an embedding, what follows from them, and the fingerprint of it all.

Embeddings in memory, files that are read and folders of the store all keep to these rules.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from deniable.arrays import Ids, Vectors
from deniable.errors import MalformedEmbedding
from deniable.parameters import LONGEST_VECTOR, first_unusable

if TYPE_CHECKING:
    from deniable.embeddings.subwords import Subwords

UNKNOWN_TOKENS = ("<unk>", "<UNK>", "[UNK]")
"""Words that public embeddings use for the unknown word: their vector becomes ⊥ and they are never an
output."""

MARKERS = ("<s>", "</s>", "[redacted]")
"""What is no word and is taken out: marks of sentence ends, which word2vec and fastText files list, and what
stands in a release in place of a word that was not released."""

UNPRINTABLE = re.compile("[\\x00-\\x20\\x7f-\\x9f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069\\ufeff]")
"""Characters that no released word holds: control characters (C0, C1 and DEL, so all that ends a line or
starts a command of a terminal), the separators of lines and paragraphs, the marks that turn the direction of
text, and the byte order mark. The space too, which stands between released words: who receives "new york"
reads two of them."""

STAND_IN = "\ufffd"
"""What a word of an older stored copy is shown with in place of such a character."""

FINGERPRINTED = (
    "meta.json",
    "words.txt",
    "vectors.npy",
    "unknown.npy",
    "protection.npy",
    "subwords.npy",
    "subwords.json",
)
"""The files of a stored embedding that its fingerprint follows from."""

_ROWS_AT_ONCE = 16_384


def unprintable_words(words: Sequence[str]) -> list[int]:
    """Return the places of the words that hold a character which no released word may hold."""
    if UNPRINTABLE.search("".join(words)) is None:
        return []
    return [place for place, word in enumerate(words) if UNPRINTABLE.search(word)]


def bad_vector(words: Sequence[str], vectors: Vectors) -> tuple[int, str] | None:
    """Return the place of the first vector that cannot be used, and what is wrong with it; None if all
    can."""
    place = first_unusable(vectors)
    if place is None:
        return None
    problem = "has a value that is not a finite number"
    if np.isfinite(vectors[place]).all():
        problem = f"is longer than {LONGEST_VECTOR:g}: not a usable word vector"
    return place, f"the vector of {words[place][:50]!r} {problem}"


@dataclass
class Intake:
    """The words of an embedding and their vectors, checked as they come.

    ``first`` is how many words are wanted; ``drop_repeats`` keeps the first of repeated words instead of
    refusing them. ``words`` are those that stay, ``repeated`` counts the repeats, and ``unprintable`` are the
    words left out because they hold spaces, control characters or marks of direction. Words that stand for
    the unknown word are taken out. ``rows`` counts all of them; in a file with lines they begin at
    ``first_line``.
    """

    source: str | Path
    first_line: int | None = None
    first: int | None = None
    drop_repeats: bool = False
    words: list[str] = field(default_factory=list)
    unprintable: list[str] = field(default_factory=list)
    rows: int = 0
    repeated: int = 0
    _seen: dict[str, int] = field(default_factory=dict)
    _unknown: dict[str, Vectors] = field(default_factory=dict)

    @property
    def unknown(self) -> Vectors | None:
        """The embedding's own vector of the unknown word: that of the first of ``UNKNOWN_TOKENS`` it has."""
        return next((self._unknown[token] for token in UNKNOWN_TOKENS if token in self._unknown), None)

    @property
    def full(self) -> bool:
        """Whether as many words as were asked for are there."""
        return self.first is not None and len(self.words) >= self.first

    def check(self, words: Sequence[str], vectors: Vectors) -> list[int]:
        """Return which rows of a block are to be kept, having noted their words.

        :raises MalformedEmbedding: if a word is empty, holds a line break or is repeated (unless
            ``drop_repeats``), or a vector is not finite or absurdly long.
        """
        if (problem := _table_problem(len(words), vectors.shape)) is not None:
            raise MalformedEmbedding(self.source, problem)
        if (bad := _bad_word(words) or bad_vector(words, vectors)) is not None:
            raise self._refused(bad[1], self.rows + bad[0])
        kept: list[int] = []
        unprintable = set(unprintable_words(words))
        for offset, word in enumerate(words):
            if self.full:
                break
            row = self.rows + offset
            if self._seen.setdefault(word, row) != row:
                if not self.drop_repeats:
                    advice = "leave one of them out (--duplicates first keeps the first)"
                    place = f"{self._place(self._seen[word])} already; {advice}"
                    raise self._refused(f"the word {word[:50]!r} stands on {place}", row)
                self.repeated += 1
            elif word in UNKNOWN_TOKENS:
                self._unknown[word] = vectors[offset].copy()
            elif offset in unprintable:
                self.unprintable.append(word)
            elif word not in MARKERS:
                self.words.append(word)
                kept.append(offset)
        self.rows += len(words)
        return kept

    def check_total(self) -> None:
        """Check that there was a word at all.

        :raises MalformedEmbedding: if there was none.
        """
        if not self.words:
            none = "there are no words in it"
            if self._unknown:
                none = "its only word is the unknown word"
            elif self.unprintable:
                none = "all of its words hold spaces or control characters"
            raise MalformedEmbedding(self.source, none)

    def line(self, row: int) -> int | None:
        """Return the line of a row, if the format has lines."""
        return None if self.first_line is None else self.first_line + row

    def _place(self, row: int) -> str:
        line = self.line(row)
        return f"word {row + 1:,}" if line is None else f"line {line:,}"

    def _refused(self, problem: str, row: int) -> MalformedEmbedding:
        line = self.line(row)
        where = f"{self._place(row)}: " if line is None else ""
        return MalformedEmbedding(self.source, where + problem, line=line)


def _table_problem(words: int, shape: tuple[int, ...]) -> str | None:
    if len(shape) != 2:
        return f"vectors must be a table of words x dimensions, not an array of {len(shape)} axes"
    if words != shape[0]:
        return f"{words:,} words but {shape[0]:,} vectors"
    if not words or not shape[1]:
        return "there are no words or no dimensions"
    return None


def _bad_word(words: Sequence[str]) -> tuple[int, str] | None:
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


def _is_encodable(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def is_cased(words: Sequence[str]) -> bool:
    """Return whether the words tell upper case from lower case."""
    return any(word != word.lower() for word in words)


def mean_vector(vectors: Vectors) -> Vectors:
    """Return the mean of all rows, summed in float64."""
    return np.asarray(vectors.mean(axis=0, dtype=np.float64), dtype=np.float32)


def shadowed_rows(vectors: Vectors) -> Ids:
    """Return the numbers of the rows that equal an earlier row (0.0 and -0.0 are equal)."""
    seen: set[bytes] = set()
    shadowed: list[int] = []
    for start in range(0, len(vectors), _ROWS_AT_ONCE):
        block = vectors[start : start + _ROWS_AT_ONCE] + np.float32(0.0)  # turns -0.0 into 0.0
        for offset, row in enumerate(block):
            # A digest instead of the row keeps this at a few dozen bytes a word, whatever the dimension.
            key = hashlib.blake2b(row, digest_size=16).digest()
            if key in seen:
                shadowed.append(start + offset)
            seen.add(key)
    return np.array(shadowed, dtype=np.int64)


def content_fingerprint(
    words: Sequence[str],
    vectors: Vectors,
    unknown: Vectors,
    subwords: Subwords | None = None,
    protection: Ids | None = None,
) -> str:
    """Return a digest of the content, the same on every machine."""
    digest = hashlib.blake2b(digest_size=16, person=b"deniable-emb-1")

    def add_rows(table: Vectors) -> None:
        for start in range(0, len(table), _ROWS_AT_ONCE):
            digest.update(np.ascontiguousarray(table[start : start + _ROWS_AT_ONCE], dtype="<f4").data)

    digest.update(f"{len(words)} {vectors.shape[1]}\n".encode())
    for start in range(0, len(words), _ROWS_AT_ONCE):
        part = "\n".join(words[start : start + _ROWS_AT_ONCE])
        digest.update(part.encode("utf-8", "surrogatepass") + b"\n")
    add_rows(vectors)
    add_rows(unknown)
    if subwords is not None:
        digest.update(f"{subwords.minn} {subwords.maxn} {subwords.buckets}\n".encode())
        add_rows(subwords.table)
    if protection is not None:
        digest.update(b"protected\n")
        digest.update(np.ascontiguousarray(protection, dtype="<i8").data)
    return digest.hexdigest()


def files_state(folder: Path) -> tuple[tuple[str, int, int, int, int, int], ...]:
    """Return what tells the files of a stored embedding, as they are now, from all others: place, size and
    times of change."""
    state = []
    for path in (folder / name for name in FINGERPRINTED):
        with suppress(OSError):
            file = path.stat()
            place = (str(path), file.st_dev, file.st_ino)
            state.append((*place, file.st_size, file.st_mtime_ns, file.st_ctime_ns))
    return tuple(state)
