"""A local collection of other people's texts: what the scrambling methods search and count in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from typing import Any

from deniable.errors import MissingExtra

Text = Sequence[str]


class Collection:
    """Texts as words, by the person who wrote them."""

    def __init__(self, people: Mapping[str, Sequence[Text]]) -> None:
        self.texts: list[list[str]] = [list(text) for texts in people.values() for text in texts if text]
        self.people = len(people)
        self._people_using = Counter(
            word for texts in people.values() for word in {word for text in texts for word in text}
        )

    @cached_property
    def holding(self) -> dict[str, set[int]]:
        """The numbers of the texts that hold a word."""
        found: dict[str, set[int]] = {}
        for number, text in enumerate(self.texts):
            for word in text:
                found.setdefault(word, set()).add(number)
        return found

    def share_of_texts(self, word: str) -> float:
        """Return in which share of the texts a word stands."""
        return len(self.holding.get(word, ())) / max(1, len(self.texts))

    def share_of_people(self, word: str) -> float:
        """Return which share of the people use a word."""
        return self._people_using[word] / max(1, self.people)

    @cached_property
    def frequent_words(self) -> list[str]:
        """The words by falling number of texts, those that mean little left out."""
        ranked = sorted(self.holding, key=lambda word: (-len(self.holding[word]), word))
        return [word for word in ranked if word not in stop_words()]


def bm25() -> Any:
    """Return the search library.

    :raises MissingExtra: if it is not installed.
    """
    try:
        import bm25s
    except ImportError:
        raise MissingExtra("this baseline", "lab") from None
    return bm25s


@cache
def stop_words() -> frozenset[str]:
    """Return English words that mean little on their own."""
    bm25()
    from bm25s.stopwords import STOPWORDS_EN_PLUS

    return frozenset(STOPWORDS_EN_PLUS)
