"""From words to ids: the public map π of the proof. Every word the vocabulary does not hold becomes ⊥."""

from __future__ import annotations

from itertools import repeat

from deniable.embeddings.embedding import Embedding


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
