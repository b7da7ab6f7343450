"""What an embedding holds: the rules for its words and vectors, what follows from them, and the fingerprint
of it all.

Embeddings in memory, files that are read and folders of the store all keep to what stands here.

A fingerprint that was only noted can be noted by anybody. A keyed release draws its noise from it: other
vectors under the same fingerprint would be released with the same noise, and the difference of two releases
would show the words. So a keyed release asks ``Embedding.check_content`` first. That reads everything once,
0.1 s for 400,000 words of 50 dimensions, and remembers here, in this process, which files it has looked at
(``computed_fingerprint``).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Required, TypedDict

import numpy as np

from deniable.arrays import Ids, Vectors
from deniable.errors import MalformedEmbedding
from deniable.parameters import LONGEST_VECTOR, first_unusable

if TYPE_CHECKING:
    from deniable.embeddings.linear_map import LinearMap
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

FilesState = tuple[tuple[str, int, int, int, int, int], ...]
"""What tells the files of a stored embedding, as they are now, from all others: place, size and times of
change."""

_ROWS_AT_ONCE = 16_384
_READ = (
    "meta.json",
    "words.txt",
    "vectors.npy",
    "unknown.npy",
    "protection.npy",
    "subwords.npy",
    "subwords.json",
)
_computed: dict[object, str] = {}


class Noted(TypedDict, total=False):
    """What was noted about an embedding when it was stored, and where it lies.

    ``unknown_origin`` says where the vector of ⊥ comes from, ``shadowed`` are the ids of words that share
    their vector with an earlier word, ``protection`` is the public map of exposed words, ``linear_map`` how
    the vectors were made from those of another embedding. ``folder`` is None for what is not in a folder.
    ``as_stored`` has the spelling in the files, by id, of words that are spelled otherwise here. ``state``
    says which files were read: see ``files_state``.
    """

    unknown_origin: str
    fingerprint: str
    cased: bool
    shadowed: Ids
    subwords: Subwords | None
    protection: Ids | None
    linear_map: LinearMap | None
    folder: Path | None
    as_stored: dict[int, str]
    state: object


class Content(Noted):
    """An embedding as it is read: its words, vectors and ⊥, and what was noted about them."""

    name: Required[str]
    words: Required[list[str]]
    vectors: Required[Vectors]
    unknown: Required[Vectors]


def table_problem(words: int, shape: tuple[int, ...]) -> str | None:
    """Return what is wrong with a table of vectors of that shape for that number of words; None if it
    fits."""
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


def unprintable_words(words: Sequence[str]) -> list[int]:
    """Return the places of the words that hold a character which no released word may hold."""
    if UNPRINTABLE.search("".join(words)) is None:
        return []
    return [place for place, word in enumerate(words) if UNPRINTABLE.search(word)]


def spelled_as_stored(words: Sequence[str], as_stored: dict[int, str]) -> list[str]:
    """Return the words as they are spelled in the files of an embedding, which is what its fingerprint is
    computed from."""
    spelled = list(words)
    for place, word in as_stored.items():
        spelled[place] = word
    return spelled


def bad_vector(words: Sequence[str], vectors: Vectors) -> tuple[int, str] | None:
    """Return the place of the first vector that cannot be used, and what is wrong with it; None if all
    can."""
    place = first_unusable(vectors)
    if place is None:
        return None
    word = words[place][:50]
    if np.isfinite(vectors[place]).all():
        return place, f"the vector of {word!r} is longer than {LONGEST_VECTOR:g}: not a usable word vector"
    return place, f"the vector of {word!r} has a value that is not a finite number"


class Intake:
    """The words of an embedding and their vectors, checked as they come.

    ``words`` are those that stay, ``repeated`` counts the repeats, and ``unprintable`` are the words left out
    because they hold spaces, control characters or marks of direction. Words that stand for the unknown word
    are taken out. ``rows`` counts all of them; in a file with lines they begin at ``first_line``.
    """

    def __init__(
        self,
        source: str | Path,
        *,
        first_line: int | None = None,
        first: int | None = None,
        drop_repeats: bool = False,
    ) -> None:
        self._source, self._first_line, self._first, self._drop_repeats = (
            source,
            first_line,
            first,
            drop_repeats,
        )
        self._seen: dict[str, int] = {}
        self._unknown: dict[str, Vectors] = {}
        self.words: list[str] = []
        self.unprintable: list[str] = []
        self.rows = self.repeated = 0

    @property
    def unknown(self) -> Vectors | None:
        """The embedding's own vector of the unknown word: that of the first of ``UNKNOWN_TOKENS`` it has."""
        return next((self._unknown[token] for token in UNKNOWN_TOKENS if token in self._unknown), None)

    @property
    def full(self) -> bool:
        """Whether as many words as were asked for are there."""
        return self._first is not None and len(self.words) >= self._first

    def check(self, words: Sequence[str], vectors: Vectors) -> list[int]:
        """Return which rows of a block are to be kept, having noted their words.

        :raises MalformedEmbedding: if a word is empty, holds a line break or is repeated (unless
            ``drop_repeats``), or a vector is not finite or absurdly long.
        """
        if (problem := table_problem(len(words), vectors.shape)) is not None:
            raise MalformedEmbedding(self._source, problem)
        if (bad := bad_word(words) or bad_vector(words, vectors)) is not None:
            raise self._refused(bad[1], self.rows + bad[0])
        kept: list[int] = []
        unprintable = set(unprintable_words(words))
        for offset, word in enumerate(words):
            if self.full:
                break
            row = self.rows + offset
            if self._seen.setdefault(word, row) != row:
                if not self._drop_repeats:
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
            raise MalformedEmbedding(self._source, none)

    def line(self, row: int) -> int | None:
        """Return the line of a row, if the format has lines."""
        return None if self._first_line is None else self._first_line + row

    def _place(self, row: int) -> str:
        line = self.line(row)
        return f"word {row + 1:,}" if line is None else f"line {line:,}"

    def _refused(self, problem: str, row: int) -> MalformedEmbedding:
        line = self.line(row)
        where = f"{self._place(row)}: " if line is None else ""
        return MalformedEmbedding(self._source, where + problem, line=line)


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
    digest.update(f"{len(words)} {vectors.shape[1]}\n".encode())
    for start in range(0, len(words), _ROWS_AT_ONCE):
        digest.update(
            "\n".join(words[start : start + _ROWS_AT_ONCE]).encode("utf-8", "surrogatepass") + b"\n"
        )
    for start in range(0, len(words), _ROWS_AT_ONCE):
        digest.update(np.ascontiguousarray(vectors[start : start + _ROWS_AT_ONCE], dtype="<f4").data)
    digest.update(np.ascontiguousarray(unknown, dtype="<f4").data)
    if subwords is not None:
        digest.update(f"{subwords.minn} {subwords.maxn} {subwords.buckets}\n".encode())
        for start in range(0, subwords.buckets, _ROWS_AT_ONCE):
            digest.update(
                np.ascontiguousarray(subwords.table[start : start + _ROWS_AT_ONCE], dtype="<f4").data
            )
    if protection is not None:
        digest.update(b"protected\n")
        digest.update(np.ascontiguousarray(protection, dtype="<i8").data)
    return digest.hexdigest()


def _is_encodable(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def files_state(folder: Path) -> FilesState:
    """Return what tells the files of a stored embedding, as they are now, from all others: place, size and
    times of change."""
    found = []
    for name in _READ:
        try:
            about = (folder / name).stat()
        except OSError:
            continue
        found.append(
            (
                str(folder / name),
                about.st_dev,
                about.st_ino,
                about.st_size,
                about.st_mtime_ns,
                about.st_ctime_ns,
            )
        )
    return tuple(found)


def computed_fingerprint(folder: Path, opened: object, compute: Callable[[], str]) -> str:
    """Return the fingerprint of the content in use, which ``compute`` computes if that was not done for these
    files before.

    ``opened`` is the state of the files in ``folder`` when they were opened.
    """
    # Of files that were exchanged since they were opened, the old ones may be in use still: what is known of
    # the new ones says nothing.
    unchanged = files_state(folder) == opened
    known = _computed.get(opened) if unchanged else None
    if known is None:
        known = compute()
        if unchanged and files_state(folder) == opened:
            _computed[opened] = known
    return known
