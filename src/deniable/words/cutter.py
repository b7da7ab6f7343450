"""Text into words as a release cuts it: the one function that releases, audits, tasks and comparisons share.

What is cut depends on the public vocabulary (which compounds it holds, and whether it is cased) and on the policy for case, and on
nothing else. Whoever cuts text in another way measures something that no release does.
"""

from __future__ import annotations

from collections.abc import Mapping
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
