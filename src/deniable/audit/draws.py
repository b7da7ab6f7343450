"""Where audits draw: from an explicit seed, so that a finding can be repeated.

This is the only file of the audits that knows the seeded source, and nothing that releases text imports it.
"""

from __future__ import annotations

import numpy as np

from deniable.interfaces import Ids, Mechanism
from deniable.parameters import validated_count
from deniable.randomness import InsecureSeededRandomness
from deniable.text.lookup import Lookup
from deniable.text.privatizer import Privatizer

_DRAWS_AT_ONCE = 1 << 18


class Draws:
    """Draws of a mechanism for an audit. The same seed gives the same draws in the same order."""

    def __init__(self, mechanism: Mechanism, *, seed: int) -> None:
        """Start the sequence of this seed.

        :raises InvalidParameter: if the seed is not a whole number of at least 0.
        """
        self.mechanism = mechanism
        self._source = InsecureSeededRandomness(insecure_seed=validated_count(seed, "seed", at_least=0))

    def of(self, word_id: int, draws: int) -> Ids:
        """Return what a word (or ⊥) becomes in so many draws."""
        return self.of_each(np.full(draws, word_id, dtype=np.int64))

    def of_each(self, ids: Ids) -> Ids:
        """Return what each word becomes, as a release would treat it: protected words go in as those that stand in."""
        released = np.empty(len(ids), dtype=np.int64)
        for start in range(0, len(ids), _DRAWS_AT_ONCE):
            part = slice(start, start + _DRAWS_AT_ONCE)
            released[part] = self.mechanism.perturb(self.mechanism.embedding.stands_in(ids[part]), self._source)
        return released


class TextDraws:
    """Draws through the whole path of a text, one word each: what leaves is compared as it is spelled."""

    def __init__(self, mechanism: Mechanism, *, seed: int) -> None:
        """Start the sequence of this seed.

        :raises InvalidParameter: if the seed is not a whole number of at least 0.
        """
        source = InsecureSeededRandomness(insecure_seed=validated_count(seed, "seed", at_least=0))
        self._private = Privatizer(mechanism, randomness=source)
        self._numbers: dict[str | None, int] = {}

    def of(self, word: str, draws: int) -> Ids:
        """Return what the word becomes in so many draws, as one number per spelling."""
        released = self._private.many([word] * draws)
        return np.array([self._numbers.setdefault(text, len(self._numbers)) for text in released], dtype=np.int64)


def audited_texts(mechanism: Mechanism, texts: list[str], *, seed: int) -> list[str]:
    """Return texts as a release would make them, from a seed. They are for an attack in memory, never to be written."""
    source = InsecureSeededRandomness(insecure_seed=validated_count(seed, "seed", at_least=0))
    return [text or "" for text in Privatizer(mechanism, randomness=source).many(texts)]


def audited_users(mechanism: Mechanism, users: list[list[list[str]]], *, seed: int) -> tuple[list[list[list[str]]], float]:
    """Return users' words as a release would make them, from a seed, and the share of words that changed."""
    embedding = mechanism.embedding
    ids = np.array(Lookup(embedding).ids([word for texts in users for words in texts for word in words]), dtype=np.int64)
    drawn = Draws(mechanism, seed=seed).of_each(ids)
    words = iter([embedding.words[i] for i in drawn.tolist()])
    return [[[next(words) for _ in text] for text in texts] for texts in users], float((drawn != ids).mean())
