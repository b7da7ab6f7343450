"""Words that must never be released: a public list from files, from the program that calls, or from the
package.

*What a list holds.* Words are compared as ``fold`` writes them: in Unicode form NFKC with one
kind of apostrophe and hyphen, whatever their case. Accents do not count either (``without_accents``):
"Müller" lists "muller", and "Muller" lists "müller". A line may hold several words, and every one of them is
listed. Hyphens, apostrophes and full stops separate words too, so that "Van Damme-Jones" lists "van",
"damme-jones", "dammejones", "damme" and "jones". Passed over, unless the line holds nothing else, are single
letters (initials), numbers, and the endings that English writes with an apostrophe: "J. O'Brien's" lists
"o'brien", "obrien" and "brien", not every "j", "o" and "'s".

A word of a vocabulary is never released if it is listed itself or one of its parts is: with "smith" on the
list, "Smith", "smith's" and "smith-jones" are left out as well. Other forms of a word, such as its plural,
are other words. For a built-in list, what a hyphen joins to a letter or number is no part: "Ray" is a name,
and "x-ray" stays.

A built-in list never changes: a new version is another list, and the one before it keeps what it takes out
and how it compares.
"""

from __future__ import annotations

import hashlib
import lzma
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib import resources
from pathlib import Path
from typing import NamedTuple, TypeAlias

import regex

from deniable.errors import InvalidParameter
from deniable.words.cutter import CLITICS
from deniable.words.languages import normalise, without_arabic_marks
from deniable.words.public_text import read_word_list

BUILT_IN = {"names": "names-2", "names-1": "names-1", "names-2": "names-2"}
"""The lists that come with the package, by what they may be called; ``words/data/README.md`` says where they
are from."""

FIRST = "names-1"
"""The list that was called "names" until there was another one. With it, accents tell words apart, as they
did then."""

_PARAMETER = "never_release"
_PIECE = regex.compile(r"[\p{L}\p{M}\p{N}]++")
_LETTER = regex.compile(r"\p{L}")
_CONTROL = regex.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_WITH_A_LETTER = regex.compile(r"(?:[A-Za-z]|\p{N}++)-[^-]++|[^-]++-(?:[A-Za-z]|\p{N}++)")
_ONE_I = str.maketrans("ı", "i")
_ACCENTS = regex.compile(r"[\u0300-\u036f]++")
_LETTERS = str.maketrans(
    {"ø": "o", "đ": "d", "ð": "d", "ł": "l", "æ": "ae", "œ": "oe", "þ": "th", "ħ": "h", "ŧ": "t"}
)
_CLITIC = regex.compile(rf"(?:{'|'.join(sorted(CLITICS))})$")
_COMMENT = "# "
_LIKE_A_FILE = regex.compile(
    r"[/\\]|\.(?:txt|csv|tsv|lst|jsonl?|gz|xz|zst|xlsx|ods|parquet|docx|pdf)$", regex.IGNORECASE
)

GivenList: TypeAlias = "NeverRelease | str | Path | Iterable[str | Path] | None"
"""What a list may be given as: see ``NeverRelease.of``."""


@dataclass(frozen=True, kw_only=True)
class NeverRelease:
    """A public list of words that are never released: versions of built-in ``lists``, and other ``words`` as
    ``fold`` writes them.

    It must not be made from the private text: who has a release can tell which words never come out. Where
    the words are ``exact``, accents tell them apart: those of a card are all that were left out.
    """

    words: frozenset[str] = frozenset()
    lists: tuple[str, ...] = ()
    exact: bool = False

    @classmethod
    def of(cls, given: GivenList) -> NeverRelease:
        """Return the list that is given as itself, as the name of a built-in one, as the path of a file, or
        as words; among words, ``"names"`` is the built-in list, and a ``Path`` is a file of words.

        :raises InvalidParameter: if a file cannot be read or holds no word, or an entry is none of these.
        """
        if given is None or isinstance(given, NeverRelease):
            return cls() if given is None else given
        if isinstance(given, str) and given not in BUILT_IN:
            problem = f"must be {' or '.join(map(repr, BUILT_IN))}, a Path of a file, or a list of words"
            raise InvalidParameter(_PARAMETER, given, problem)
        entries = [given] if isinstance(given, str | Path) else list(given)
        found = [cls._of_entry(entry) for entry in entries]
        return cls(
            words=frozenset().union(*(each.words for each in found)),
            lists=tuple(sorted({name for each in found for name in each.lists})),
        )

    @classmethod
    def read(cls, named: Sequence[str | Path]) -> NeverRelease:
        """Return the list that is named as on the command line: by names of built-in lists and paths of
        files."""
        return cls.of([each if each in BUILT_IN else Path(each) for each in named])

    @classmethod
    def _of_entry(cls, entry: object) -> NeverRelease:
        if isinstance(entry, Path):
            return cls(words=_read_file(entry))
        if not isinstance(entry, str):
            problem = "must hold words, 'names' or a Path of a file"
            raise InvalidParameter(_PARAMETER, type(entry).__name__, problem)
        if entry in BUILT_IN:
            return cls(lists=(BUILT_IN[entry],))
        if (name := entry.strip().casefold()) in BUILT_IN:
            raise InvalidParameter(_PARAMETER, entry, f"write {name!r} for the built-in list")
        if _LIKE_A_FILE.search(entry):
            raise InvalidParameter(_PARAMETER, entry, "looks like a file; write Path(…) for its words")
        words = frozenset(words_of_line(entry))
        if not words:
            raise InvalidParameter(_PARAMETER, entry, "holds no word")
        return cls(words=words)

    def __bool__(self) -> bool:
        """Return whether anything is listed."""
        return bool(self.words or self.lists)

    def __len__(self) -> int:
        """Return how many words are listed."""
        return len(self.words.union(*map(built_in_words, self.lists)))

    def __or__(self, other: NeverRelease) -> NeverRelease:
        """Return what is listed in either."""
        lists = tuple(sorted({*self.lists, *other.lists}))
        return NeverRelease(words=self.words | other.words, lists=lists, exact=self.exact and other.exact)

    @property
    def called(self) -> tuple[str, ...]:
        """What cards and receipts call the built-in lists: the first one as it was called when there was no
        other."""
        return tuple("names" if name == FIRST else name for name in self.lists)

    @property
    def digest(self) -> str:
        """A name of all listed words: the same on every machine."""
        return _digest(self)

    def holds(self, word: str) -> bool:
        """Return whether a word of a vocabulary is listed, or one of its parts is."""
        forms = forms_of(word)
        if not self._compared.isdisjoint(forms if self._exact else with_plain(forms)):
            return True
        if len(forms) > 1 and _WITH_A_LETTER.fullmatch(word):
            forms -= set(_PIECE.findall(fold(word)))
        return any(_is_on(name, forms) for name in self.lists)

    @property
    def _exact(self) -> bool:
        return self.exact or FIRST in self.lists

    @cached_property
    def _compared(self) -> frozenset[str]:
        return self.words if self._exact else frozenset(with_plain(self.words))


def _is_on(name: str, forms: set[str]) -> bool:
    if name == FIRST:
        return not built_in_words(name).isdisjoint(forms)
    listed = _read_built_in(name)
    return not listed.words.isdisjoint(with_plain(forms)) and listed.ordinary.isdisjoint(forms)


@lru_cache(maxsize=8)
def _digest(listed: NeverRelease) -> str:
    # Lists and other words apart: a word of one's own takes out more than the same word of a built-in list.
    lists = [f"names {built_in_digest(name)}" for name in listed.lists]  # the digest tells which version
    return _digest_of([*lists, "", *sorted(listed.words)])


def _digest_of(lines: Sequence[str]) -> str:
    content = "\n".join(lines).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(content, digest_size=16, person=b"deniable-never-1").hexdigest()


def fold(text: str) -> str:
    """Return the text as words are compared: every form that a release takes for the same word becomes one.

    The i of Turkish is every other i, as lists in capitals do not tell them apart; marks that Arabic text may
    have or lack do not count.
    """
    folded = normalise(text).casefold().translate(_ONE_I).replace("i\u0307", "i")
    return without_arabic_marks(folded) or folded


def without_accents(folded: str) -> str:
    """Return a folded word in the letters that people without these keys write: ``müller`` as ``muller``,
    ``ø`` as ``o``, ``æ`` as ``ae``.

    Only accents of Latin, Greek and Cyrillic letters count: a mark of another script makes another letter.
    """
    if folded.isascii():
        return folded
    plain = _ACCENTS.sub("", unicodedata.normalize("NFD", folded))
    return unicodedata.normalize("NFC", plain).translate(_LETTERS)


def with_plain(folded: Iterable[str]) -> set[str]:
    """Return folded words as they are and without accents."""
    return {form for word in folded for form in (word, without_accents(word))}


def forms_of(word: str) -> set[str]:
    """Return what a word of a vocabulary is looked up by: itself, without its ending, and its parts."""
    folded = fold(word)
    if folded.isalpha():
        return {folded}
    wholes, pieces = _take_apart(folded)
    return {folded, *wholes, *pieces}


def words_of_line(line: str) -> set[str]:
    """Return the words that a line of a list names, folded; see the top of this file."""
    telling, others = set[str](), set[str]()
    for chunk in fold(line).split():
        wholes, pieces = _take_apart(chunk)
        if strong := {piece for piece in pieces if _tells(piece)}:
            telling |= wholes | strong
        else:
            others |= wholes | pieces
    return telling or others


def _take_apart(chunk: str) -> tuple[set[str], set[str]]:
    """Return a folded word with what stands around it and without, and the parts of it; an ending as in "'s"
    is no part."""
    pieces = list(_PIECE.finditer(chunk))
    if not pieces or _CLITIC.fullmatch(chunk):
        return {chunk}, set()
    trimmed = chunk[pieces[0].start() : pieces[-1].end()]
    stem = _CLITIC.sub("", trimmed)
    parts, wholes = _PIECE.findall(stem), {chunk, trimmed, stem}
    if "." not in stem and any(map(_tells, parts)):  # o'brien is obrien, but u.s. is not us
        wholes.add("".join(parts))
    return wholes, set(parts)


def _tells(piece: str) -> bool:
    return _LETTER.search(piece) is not None and not (len(piece) == 1 and piece.isascii())


def _read_file(path: Path) -> frozenset[str]:
    lines = read_word_list(path, name=_PARAMETER)
    if any(_CONTROL.search(line) for line in lines):
        problem = "holds control characters: this is no file of words, one or more a line"
        raise InvalidParameter(_PARAMETER, str(path), problem)
    words = frozenset(word for line in lines if not line.startswith(_COMMENT) for word in words_of_line(line))
    if not words:
        raise InvalidParameter(_PARAMETER, str(path), "holds no word: write one or more on each line")
    return words


class _Listed(NamedTuple):
    """A built-in list: its words, and ordinary words that are spelled like one of them but for an accent."""

    words: frozenset[str]
    ordinary: frozenset[str]


@lru_cache(maxsize=len(BUILT_IN))
def _read_built_in(name: str) -> _Listed:
    """Read a list. The file of a later one holds what it adds to the first, and ordinary words after a
    minus."""
    if name not in BUILT_IN.values():
        problem = f"there is no such list; the package has {', '.join(BUILT_IN)}"
        raise InvalidParameter(_PARAMETER, name, problem)
    packed = (resources.files("deniable.words") / "data" / f"{name}.txt.xz").read_bytes()
    lines = set(lzma.decompress(packed).decode("utf-8").split("\n")[:-1])
    ordinary = {line for line in lines if line.startswith("-")}
    before = frozenset() if name == FIRST else built_in_words(FIRST)
    return _Listed(before | (lines - ordinary), frozenset(line[1:] for line in ordinary))


def built_in_words(name: str) -> frozenset[str]:
    """Return the words of a version of a built-in list."""
    return _read_built_in(name).words


@lru_cache(maxsize=len(BUILT_IN))
def built_in_digest(name: str) -> str:
    """Return what tells the content of a built-in list from that of another version of it."""
    listed = _read_built_in(name)
    return _digest_of([*sorted(listed.words), *(f"-{word}" for word in sorted(listed.ordinary))])


def built_in_list(digest: str) -> str | None:
    """Return the version of a built-in list that has a digest, or None if the package has no such version."""
    return next((name for name in BUILT_IN.values() if built_in_digest(name) == digest), None)
