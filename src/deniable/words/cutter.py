"""Text into words as a release cuts it: the one function that releases, audits, tasks and comparisons share.

What is cut depends on the public vocabulary (which compounds it holds, and whether it is cased) and on the policy for case, and on
nothing else. Whoever cuts text in another way measures something that no release does. ``Lookup`` is the public map π of the proof, from
words to ids: every word that the vocabulary does not hold becomes ⊥.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import repeat
from typing import Protocol

from deniable.words.tokens import Tokeniser, normalise


class Vocabulary(Protocol):
    """What the cutter has to know of an embedding: its words, and whether their case counts."""

    @property
    def index(self) -> Mapping[str, int]:
        """The id of every word."""
        ...

    @property
    def cased(self) -> bool:
        """Whether some words are not in lower case."""
        ...

    @property
    def unknown_id(self) -> int:
        """The id of ⊥, the unknown word."""
        ...


class Cutter:
    """Cuts texts into words as a release with this vocabulary does.

    An uncased vocabulary folds text to lower case before it is cut, unless ``keep_case`` says that a policy releases the case of words.
    """

    def __init__(self, vocabulary: Vocabulary, *, keep_case: bool = False) -> None:
        self._tokeniser = Tokeniser(vocabulary.index, cased=vocabulary.cased)
        self.folds = not vocabulary.cased and not keep_case

    def words(self, text: str) -> list[str]:
        """Return the words of a text, in lower case if the cutter ``folds``."""
        return self._tokeniser.words(self._prepared(text))

    def words_and_gaps(self, text: str) -> tuple[list[str], list[str]]:
        """Return the words of a text, and what stands before each of them and after the last."""
        prepared = self._prepared(text)
        words, gaps, end = [], [], 0
        for start, stop in self._tokeniser.spans(prepared):
            gaps.append(prepared[end:start])
            words.append(prepared[start:stop])
            end = stop
        return words, [*gaps, prepared[end:]]

    def _prepared(self, text: str) -> str:
        return normalise(text).lower() if self.folds else normalise(text)


class Lookup:
    """Finds the id of a word as people type it.

    An uncased vocabulary is looked up in lower case; a cased one by the exact spelling, then in lower case.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._index = vocabulary.index
        self._cased = vocabulary.cased
        self._unknown = vocabulary.unknown_id

    def ids(self, words: list[str], *, folded: bool = False) -> list[int]:
        """Return the id of each word; ⊥ where it is unknown. ``folded`` says that all of them are in lower case already."""
        get, unknown = self._index.get, self._unknown
        if folded:
            return list(map(get, words, repeat(unknown)))
        if not self._cased:
            return [get(word.lower(), unknown) for word in words]
        return [get(word, get(word.lower(), unknown)) for word in words]
