"""Released words back into readable text. Sees what is released, and what a policy says to keep; nothing else."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import regex

from deniable.text.policies import REDACTED
from deniable.words.tokens import CLITICS

PUBLIC_PUNCTUATION = frozenset(".,;:!?\"'()[]{}-–—/&%«»¿¡。、")
"""The marks that punctuation='keep' may release. A closed list: no other character of the input can pass."""

_CLITIC_AFTER_SPACE = regex.compile(rf" ({'|'.join(sorted(CLITICS))})(?= |$)", regex.IGNORECASE)
_SPACES = regex.compile(r"\s+")

Shape = Callable[[str], str]


def join_words(words: Sequence[str]) -> str:
    """Return the words separated by single spaces, clitics joined to the word before them."""
    text = " ".join(words)
    return _CLITIC_AFTER_SPACE.sub(r"\1", text) if "'" in text else text


def join_with_gaps(words: Sequence[str], gaps: Sequence[str]) -> str:
    """Return the words with the given punctuation between them; there is one gap more than words."""
    parts = [gaps[0].lstrip()]
    for i, word in enumerate(words):
        gap = gaps[i] or " "
        if i > 0:
            parts.append("" if gap == " " and word.lower() in CLITICS else gap)
        parts.append(word)
    if words:
        parts.append(gaps[-1].rstrip())
    return "".join(parts).strip()


def punctuation_of(gap: str) -> str:
    """Return what may be released of the characters between two words: listed marks and single spaces."""
    return _SPACES.sub(" ", "".join(c if c in PUBLIC_PUNCTUATION else " " for c in gap))


def shape_of(word: str) -> Shape:
    """Return how to write another word in the case of this one: as it is, capitalised or in upper case."""
    if len(word) > 1 and word.isupper():
        return _upper
    if word[:1].isupper():
        return _capitalised
    return _unchanged


def _unchanged(word: str) -> str:
    return word


def _upper(word: str) -> str:
    return word if word == REDACTED else word.upper()


def _capitalised(word: str) -> str:
    return word if word == REDACTED else word[:1].upper() + word[1:]
