"""One spelling for what Unicode can write in several ways: the form in which text and words are compared."""

from __future__ import annotations

import unicodedata

import regex

_CHARACTERS = str.maketrans({**dict.fromkeys("`\u00b4\u2018\u2019\u201b\u02bc\uff07", "'"), "\u2010": "-", "\u2011": "-", "\u00ad": None})
_SPECIAL = frozenset(map(chr, _CHARACTERS))
# Python's NFKC takes time quadratic in the length of a run of combining marks: 100,000 of them, 20 seconds. The two
# half-width characters are no marks, but NFKC makes marks of them; they are the only ones.
_MOST_MARKS = 30
_PILED_MARKS = regex.compile(r"([\p{M}\uff9e\uff9f]{30})[\p{M}\uff9e\uff9f]++")


def normalise(text: str) -> str:
    """Return the text in Unicode form NFKC with one kind of apostrophe and hyphen; never slow, whatever the text."""
    if text.isascii():
        return text.replace("`", "'")
    return unicodedata.normalize("NFKC", _PILED_MARKS.sub(r"\1", text.translate(_CHARACTERS)))


def is_normal(word: str) -> bool:
    """Return whether a word is surely spelled as ``normalise`` spells it; much faster than to try."""
    if word.isascii():
        return "`" not in word
    return len(word) <= _MOST_MARKS and _SPECIAL.isdisjoint(word) and unicodedata.is_normalized("NFKC", word)
