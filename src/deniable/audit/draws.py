"""Texts released for an attack in memory: from an explicit seed, so that a finding can be repeated, and never
to be written."""

from __future__ import annotations

import numpy as np

from deniable.arrays import Ids
from deniable.channel.draws import Draws
from deniable.interfaces import Mechanism
from deniable.noise.randomness import InsecureSeededRandomness
from deniable.parameters import validated_count
from deniable.release.privatizer import Privatizer
from deniable.words.cutter import Cutter

Users = list[list[list[str]]]
"""The words of the texts of users."""


class TextDraws:
    """Draws through the whole path of a text, one word each: what leaves is compared as it is spelled."""

    def __init__(self, mechanism: Mechanism, *, seed: int) -> None:
        source = InsecureSeededRandomness(insecure_seed=validated_count(seed, "seed", at_least=0))
        self._private = Privatizer(mechanism, randomness=source)
        self._numbers: dict[str | None, int] = {}

    def of(self, word: str, draws: int) -> Ids:
        """Return what the word becomes in each of ``draws`` draws, as one number per spelling."""
        released = self._private.many([word] * draws)
        return np.array(
            [self._numbers.setdefault(text, len(self._numbers)) for text in released], dtype=np.int64
        )


def draw_texts(mechanism: Mechanism, texts: list[str], *, seed: int) -> list[str]:
    """Return texts as a release would make them, for an attack in memory, never to be written."""
    source = InsecureSeededRandomness(insecure_seed=validated_count(seed, "seed", at_least=0))
    return [text or "" for text in Privatizer(mechanism, randomness=source).many(texts)]


def draw_users(mechanism: Mechanism, users: Users, *, seed: int) -> tuple[Users, float]:
    """Return users' words as a release would make them, and the share of words that changed."""
    embedding = mechanism.embedding
    ids = np.array(
        Cutter(embedding).ids([word for texts in users for words in texts for word in words]), dtype=np.int64
    )
    drawn = Draws(mechanism, seed=seed).of_each(ids)
    words = iter([embedding.words[i] for i in drawn.tolist()])
    return [[[next(words) for _ in text] for text in texts] for texts in users], float((drawn != ids).mean())
