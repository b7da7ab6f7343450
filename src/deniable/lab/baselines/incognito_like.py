"""Incognito-like: words that single a person out are made general or left out, and noise words may be added.

Incognito (Masood, Vatsalan, Ikram and Kaafar 2018) scores words by uniformity, uniqueness and linkability to
personal data and perturbs the risky ones, without or with noise; its algorithm is not public in detail. This
stand-in keeps the three scores:

- uniqueness: a word is rare in the collection;
- uniformity: few people use it, so that it tells who wrote it;
- linkability: it looks like an address, a number or a name of an account.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from deniable.errors import InvalidParameter
from deniable.lab.baselines.collection import Collection
from deniable.lab.baselines.wordnet import WordNet

_LINKABLE = re.compile(r".*[@/\d]|www\.")
_RARE_TEXTS = 1e-4
_FEW_PEOPLE = 2e-3
_NOISE_WORDS = 500


class IncognitoLike:
    """Scrambles by sensitivity; ``noise`` is how many frequent words are mixed in per word that is kept."""

    def __init__(
        self, collection: Collection, *, noise: float = 0.0, wordnet: WordNet | None = None, seed: int = 0
    ) -> None:
        """Prepare it; without a WordNet, sensitive words are left out.

        :raises InvalidParameter: if ``noise`` is negative.
        """
        if not 0.0 <= noise < 10.0:
            raise InvalidParameter("noise", noise, "must be a number from 0 to 10")
        self.name = f"Incognito-like ({'with' if noise else 'without'} noise)"
        self._collection, self._wordnet, self._noise = collection, wordnet, noise
        self._rng = np.random.default_rng(seed)

    def sensitive(self, word: str) -> bool:
        """Return whether a word singles a person out."""
        if _LINKABLE.match(word) is not None:
            return True
        return (
            self._collection.share_of_texts(word) < _RARE_TEXTS
            or self._collection.share_of_people(word) < _FEW_PEOPLE
        )

    def scramble(self, texts: Sequence[Sequence[str]]) -> list[list[str]]:
        """Return the texts without what singles a person out, and with noise words if asked for."""
        return [self._scrambled(text) for text in texts]

    def _scrambled(self, text: Sequence[str]) -> list[str]:
        kept: list[str] = []
        for word in text:
            if not self.sensitive(word):
                kept.append(word)
            elif self._wordnet is not None and (general := self._wordnet.hypernym(word, 1)) is not None:
                kept += general
        if self._noise:
            candidates = self._collection.frequent_words[:_NOISE_WORDS]
            for _ in range(int(self._rng.poisson(self._noise * len(kept))) if candidates else 0):
                place, chosen = (
                    int(self._rng.integers(len(kept) + 1)),
                    int(self._rng.integers(len(candidates))),
                )
                kept.insert(place, candidates[chosen])
        return kept
