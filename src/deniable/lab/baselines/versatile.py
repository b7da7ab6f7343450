"""Versatile (Arampatzis, Drosatos and Efraimidis 2015), semantic and statistical.

Semantic (section 3): every word becomes something more general.

Statistical (section 4): a text becomes other words that occur where it would be found. The text is searched
for in a local collection (BM25). A window of 16 words without stop words slides over the hits; sets of one to
three words in a window are candidates, unless they share a word, a stem or a synonym with the text. They are
ranked by pointwise mutual information log(N·df(w, q)/(df(w)·df(q))), df(w, q) being counted among the hits.
The best 25 are kept.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Any

from deniable.errors import MissingExtra
from deniable.lab.baselines.collection import Collection, bm25, stop_words
from deniable.lab.baselines.wordnet import WordNet
from deniable.parameters import validated_count

WINDOW = 16
KEPT = 25
_MOST_SINGLE_WORDS = 12


class VersatileSemantic:
    """Semantic: replaces each word by its hypernym ``depth`` steps up; stop words and words with nothing
    above them in WordNet stay."""

    def __init__(self, wordnet: WordNet, *, depth: int = 2) -> None:
        """Prepare it.

        :raises InvalidParameter: if ``depth`` is not a whole number of at least 1.
        """
        self.name = "Versatile (semantic)"
        self._wordnet, self._depth = wordnet, validated_count(depth, "depth")

    def scramble(self, texts: Sequence[Sequence[str]]) -> list[list[str]]:
        """Return the texts in general terms."""
        return [[general for word in text for general in self._general(word)] for text in texts]

    def _general(self, word: str) -> list[str]:
        found = None if word in stop_words() else self._wordnet.hypernym(word, self._depth)
        return [word] if found is None else found


class VersatileStatistical:
    """Statistical: releases the best ``released`` scrambled queries in place of a text; nothing for a text
    that finds nothing."""

    def __init__(
        self, collection: Collection, *, hits: int = 10, released: int = 3, wordnet: WordNet | None = None
    ) -> None:
        """Index the collection; synonyms are ruled out where a WordNet is given.

        :raises InvalidParameter: if a number is not allowed.
        :raises MissingExtra: if the search or the stemmer is not installed.
        """
        self.name = "Versatile (statistical)"
        self._collection, self._wordnet = collection, wordnet
        self._hits, self._released = validated_count(hits, "hits"), validated_count(released, "released")
        self._stem = stemmer()
        self._search: Any = bm25().BM25()
        self._search.index(collection.texts, show_progress=False)

    def scramble(self, texts: Sequence[Sequence[str]]) -> list[list[str]]:
        """Return, for each text, the words of its best scrambled queries."""
        return [
            [word for query in self.candidates(text)[: self._released] for word in query] for text in texts
        ]

    def candidates(self, text: Sequence[str]) -> list[tuple[str, ...]]:
        """Return the best 25 sets of words that could stand for the text."""
        known = [word for word in text if word in self._collection.holding]
        if not known:
            return []
        most = min(self._hits, len(self._collection.texts))
        found, scores = self._search.retrieve([known], k=most, show_progress=False)
        hits = [
            self._collection.texts[int(i)]
            for i, score in zip(found[0], scores[0], strict=True)
            if score > 0.0
        ]
        ruled_out = self._too_close(text)
        windows = [window for hit in hits for window in _windows(self._usable(hit, ruled_out))]
        singles = self._ranked(windows, 1, None)[:_MOST_SINGLE_WORDS]
        allowed = {word for query in singles for word in query}
        ranked = [
            (self._score(query, count, len(windows)), query)
            for size in (1, 2, 3)
            for query, count in self._counted(windows, size, allowed)
        ]
        ranked.sort(key=lambda found: (-found[0], found[1]))
        return [query for _, query in ranked[:KEPT]]

    def _ranked(self, windows: list[list[str]], size: int, allowed: set[str] | None) -> list[tuple[str, ...]]:
        scored = [
            (self._score(query, count, len(windows)), query)
            for query, count in self._counted(windows, size, allowed)
        ]
        scored.sort(key=lambda found: (-found[0], found[1]))
        return [query for _, query in scored]

    @staticmethod
    def _counted(
        windows: list[list[str]], size: int, allowed: set[str] | None
    ) -> Iterable[tuple[tuple[str, ...], int]]:
        counts: Counter[tuple[str, ...]] = Counter()
        for window in windows:
            words = sorted({word for word in window if allowed is None or word in allowed})
            counts.update(combinations(words, size))
        return counts.items()

    def _score(self, query: tuple[str, ...], among_hits: int, hits: int) -> float:
        # The rarest word first: the intersection takes as long as its first set is large.
        holding = set.intersection(*sorted((self._collection.holding[word] for word in query), key=len))
        return math.log(len(self._collection.texts) * among_hits / (max(1, len(holding)) * max(1, hits)))

    def _usable(self, hit: Sequence[str], ruled_out: set[str]) -> list[str]:
        return [
            word
            for word in hit
            if word not in stop_words() and self._stem(word) not in ruled_out and word.isalpha()
        ]

    def _too_close(self, text: Sequence[str]) -> set[str]:
        words = set(text)
        if self._wordnet is not None:
            words |= {synonym for word in text for synonym in self._wordnet.synonyms(word)}
        return {self._stem(word) for word in words}


def stemmer() -> Any:
    """Return a function from a word to its stem (Porter's second algorithm).

    :raises MissingExtra: if NLTK is not installed.
    """
    try:
        from nltk.stem.snowball import SnowballStemmer
    except ImportError:
        raise MissingExtra("this baseline", "lab") from None
    from functools import lru_cache

    return lru_cache(maxsize=100_000)(SnowballStemmer("english").stem)


def _windows(words: list[str]) -> list[list[str]]:
    return (
        [words[start : start + WINDOW] for start in range(max(1, len(words) - WINDOW + 1))] if words else []
    )
