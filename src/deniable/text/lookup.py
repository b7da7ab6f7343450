"""From words to ids: the public map π of the proof. Every word the vocabulary does not hold becomes ⊥."""

from __future__ import annotations

from collections import OrderedDict

import numpy as np

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

    def ids(self, words: list[str]) -> list[int]:
        """Return the id of each word; ⊥ where it is unknown."""
        get, unknown = self._index.get, self._unknown
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

    def ids(self, words: list[str]) -> list[int]:
        """Return a known id for each word; ⊥ where the spelling has no vector."""
        spellings = words if self._cased else [word.lower() for word in words]
        fresh = list(dict.fromkeys(word for word in spellings if word not in self._remembered))
        found: dict[str, int] = {}
        if fresh:
            vectors = self._subwords.vectors(fresh)
            for word, vector, near in zip(fresh, vectors, self._neighbours.nearest(vectors), strict=True):
                found[word] = int(near) if np.any(vector) else self._unknown
        ids = [found[word] if word in found else self._remembered[word] for word in spellings]
        self._remembered.update(found)
        while len(self._remembered) > _REMEMBERED_SPELLINGS:
            self._remembered.popitem(last=False)
        return ids
