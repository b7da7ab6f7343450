"""From words to ids: the public map π of the proof. Every word the vocabulary does not hold becomes ⊥."""

from __future__ import annotations

import threading
from collections import OrderedDict
from itertools import repeat

from deniable.embeddings.embedding import Embedding
from deniable.errors import InvalidParameter
from deniable.neighbours import best_neighbours

_REMEMBERED_SPELLINGS = 100_000


class Lookup:
    """Finds the id of a word as people type it.

    An uncased vocabulary is looked up in lower case; a cased one by the exact spelling, then in lower case.
    """

    def __init__(self, embedding: Embedding) -> None:
        self._index = embedding.index
        self._cased = embedding.cased
        self._unknown = embedding.unknown_id

    def ids(self, words: list[str], *, folded: bool = False) -> list[int]:
        """Return the id of each word; ⊥ where it is unknown. ``folded`` says that all of them are in lower case already."""
        get, unknown = self._index.get, self._unknown
        if folded:
            return list(map(get, words, repeat(unknown)))
        if not self._cased:
            return [get(word.lower(), unknown) for word in words]
        return [get(word, get(word.lower(), unknown)) for word in words]


class SubwordLookup:
    """Maps an unknown word to the known word nearest to the vector its spelling has in a fastText embedding."""

    def __init__(self, embedding: Embedding) -> None:
        """Prepare the map.

        :raises InvalidParameter: if the embedding carries no subword vectors.
        """
        if embedding.subwords is None:
            raise InvalidParameter(
                "unknown", "subwords", f"the embedding {embedding.name!r} has no subword vectors (fastText .bin files do)"
            )
        self._subwords = embedding.subwords
        self._unknown = embedding.unknown_id
        self._cased = embedding.cased
        self._neighbours = best_neighbours(embedding)
        # Bounded: private text must not be able to grow the process without end.
        self._remembered: OrderedDict[str, int] = OrderedDict()
        self._lock = threading.Lock()

    def ids(self, words: list[str]) -> list[int]:
        """Return a known id for each word; ⊥ where the spelling has no vector."""
        spellings = words if self._cased else [word.lower() for word in words]
        # One look per spelling: another thread may make this one forget it at any moment.
        found: dict[str, int | None] = {word: self._remembered.get(word) for word in spellings}
        fresh = [word for word, word_id in found.items() if word_id is None]
        if fresh:
            vectors = self._subwords.vectors(fresh)
            nearest = self._neighbours.nearest(vectors).tolist()
            learnt = {word: near if vector.any() else self._unknown for word, vector, near in zip(fresh, vectors, nearest, strict=True)}
            found.update(learnt)
            self._remember(learnt)
        return [word_id for word in spellings if (word_id := found[word]) is not None]

    def _remember(self, learnt: dict[str, int]) -> None:
        with self._lock:
            self._remembered.update(learnt)
            while len(self._remembered) > _REMEMBERED_SPELLINGS:
                self._remembered.popitem(last=False)
