"""Unknown words by their spelling: the known word that lies nearest to the vector of a spelling, in fastText
embeddings."""

from __future__ import annotations

import threading
from collections import OrderedDict

from deniable.embeddings.embedding import Embedding
from deniable.errors import InvalidParameter
from deniable.neighbours import best_neighbours
from deniable.progress import check_interrupt

_REMEMBERED_SPELLINGS = 100_000
_WORDS_AT_ONCE = 1 << 14


class SubwordLookup:
    """Maps an unknown word to the known word nearest to the vector its spelling has in a fastText
    embedding."""

    def __init__(self, embedding: Embedding) -> None:
        """Prepare the map.

        :raises InvalidParameter: if the embedding carries no subword vectors.
        """
        if embedding.subwords is None:
            raise InvalidParameter(
                "unknown",
                "subwords",
                f"the embedding {embedding.name!r} has no subword vectors (fastText .bin files do)",
            )
        self._subwords = embedding.subwords
        self._unknown = embedding.unknown_id
        self._cased = embedding.cased
        self._neighbours = best_neighbours(embedding)
        # Bounded: private text must not be able to grow the process without end.
        self._remembered: OrderedDict[str, int] = OrderedDict()
        self._most_remembered = _REMEMBERED_SPELLINGS
        self._lock = threading.Lock()

    def remember_nothing(self) -> None:
        """Keep no spelling from one call to the next."""
        self._most_remembered = 0
        self._remember({})

    def ids(self, words: list[str]) -> list[int]:
        """Return a known id for each word; ⊥ where the spelling has no vector."""
        spellings = words if self._cased else [word.lower() for word in words]
        # One look per spelling: another thread may make this one forget it at any moment.
        found: dict[str, int | None] = {word: self._remembered.get(word) for word in spellings}
        unseen = [word for word, word_id in found.items() if word_id is None]
        for start in range(0, len(unseen), _WORDS_AT_ONCE):
            check_interrupt()
            fresh = unseen[start : start + _WORDS_AT_ONCE]
            vectors = self._subwords.vectors(fresh)
            nearest = self._neighbours.nearest(vectors).tolist()
            learnt = {
                word: near if vector.any() else self._unknown
                for word, vector, near in zip(fresh, vectors, nearest, strict=True)
            }
            found.update(learnt)
            self._remember(learnt)
        return [word_id for word in spellings if (word_id := found[word]) is not None]

    def _remember(self, learnt: dict[str, int]) -> None:
        with self._lock:
            self._remembered.update(learnt)
            while len(self._remembered) > self._most_remembered:
                self._remembered.popitem(last=False)
