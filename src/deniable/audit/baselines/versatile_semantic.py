"""Versatile, semantic: every word becomes something more general (Arampatzis, Drosatos and Efraimidis 2015, section 3)."""

from __future__ import annotations

from collections.abc import Sequence

from deniable.audit.baselines.collection import stop_words
from deniable.audit.baselines.wordnet import WordNet
from deniable.parameters import validated_count


class VersatileSemantic:
    """Replaces each word by its hypernym ``depth`` steps up; stop words and words with nothing above them in WordNet stay."""

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
