"""Released words as text, written so that anybody who receives it reads the words that were released, and no
others.

Words stand between single spaces. English clitics are written to the word before them, punctuation where it
stood and words in the case that they had, if the policies say so. Two releases must never give the same text:
where what is written together would be read as other words (``ReleasedWords``), it is written with spaces,
without the marks or in the case that the vocabulary has. All of this is a function of the released words, the
vocabulary and what the policies disclose.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

import regex

from deniable.embeddings.embedding import Embedding
from deniable.progress import check_interrupt
from deniable.words.cutter import CLITICS
from deniable.words.released import ReleasedWords

REDACTED = "[redacted]"
_WORDS_AT_ONCE = 1 << 12

Shape = Callable[[str], str]

_CLITIC_AFTER_SPACE = regex.compile(rf" ({'|'.join(sorted(CLITICS))})(?= |$)", regex.IGNORECASE)


def marks_of(unknown: str) -> tuple[str, ...]:
    """Return what stands in a text for no word, where unknown words are treated so."""
    return (REDACTED,) if unknown == "redact" else ()


class Writer:
    """Writes released words as text. ``marks`` are what stands in the text for no word, as the receiver
    knows."""

    def __init__(self, embedding: Embedding, marks: Sequence[str] = ()) -> None:
        self._reader = ReleasedWords(embedding, marks)
        self._vocabulary = embedding.words
        # Rules of a language do not cut a clitic off every word that it can be released after: 魚's, l''s.
        self._joins_clitics = embedding.language_rules is None

    def write(
        self, words: Sequence[str], gaps: Sequence[str] | None = None, shapes: Sequence[Shape] | None = None
    ) -> str:
        """Return the text, with the marks of ``gaps`` before each word and at the end, and each word in its
        shape."""
        if shapes is not None:
            words = [self._shaped(word, shape) for word, shape in zip(words, shapes, strict=True)]
        if gaps is None:
            return self._join(words)
        return " ".join(self._written(*each) for each in self._stretches(words, gaps)).strip(" ")

    def _shaped(self, word: str, shape: Shape) -> str:
        shaped = shape(word)
        ids = self._reader.cutter.ids
        return shaped if shaped == word or ids([shaped]) == ids([word]) else word

    def _join(self, words: Sequence[str]) -> str:
        text = " ".join(words)
        if not self._joins_clitics or "'" not in text:
            return text
        return self._join_unless_known(words) if self._with_clitic else _CLITIC_AFTER_SPACE.sub(r"\1", text)

    @cached_property
    def _with_clitic(self) -> frozenset[str]:
        """The words that end as if a clitic had been written to another word; most vocabularies hold none."""
        endings = tuple(CLITICS)
        return frozenset(
            lower
            for word in self._vocabulary
            if (lower := word.lower()).endswith(endings) and lower not in CLITICS
        )

    def _join_unless_known(self, words: Sequence[str]) -> str:
        longest = max(map(len, self._with_clitic))
        parts: list[str] = []
        written = ""  # since the last space; no more of it than a word can have
        for word in words:
            together = written + word if len(written) <= longest else written
            if parts and word.lower() in CLITICS and together.lower() not in self._with_clitic:
                parts.append(word)
                written = together
            else:
                parts += [" ", word]
                written = word
        return "".join(parts[1:])

    def _stretches(self, words: Sequence[str], gaps: Sequence[str]) -> Iterator[tuple[list[str], list[str]]]:
        """Yield what stands between two spaces, marks and words, and the words among it."""
        pieces: list[str] = []
        inside: list[str] = []
        for i, gap in enumerate(gaps):
            if i % _WORDS_AT_ONCE == 0:
                check_interrupt()
            word = words[i] if i < len(words) else None
            between = gap or (" " if 0 < i < len(words) else "")
            joined = (
                self._joins_clitics
                and i > 0
                and between == " "
                and word is not None
                and word.lower() in CLITICS
            )
            first, *others = [""] if joined else between.split(" ")
            pieces += [first] if first else []
            for marks in others:
                yield pieces, inside
                pieces, inside = [marks] if marks else [], []
            if word is not None:
                pieces.append(word)
                inside.append(word)
        yield pieces, inside

    def _written(self, pieces: list[str], inside: list[str]) -> str:
        """Return a stretch of marks and words together, if it is read as the words in it, else with as much
        as can be."""
        together, alone = "".join(pieces), " ".join(inside)
        if together == alone:
            return together
        read = self._reader.read
        words = read(alone)
        return next((text for text in (together, " ".join(pieces)) if read(text) == words), alone)


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
