"""Draws of a mechanism from an explicit seed, so that what was found can be repeated: for channels,
calibrations and audits.

This is the only file below the audits that knows the seeded source, and nothing that releases text imports
it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from deniable.arrays import Floats, Ids, Vectors
from deniable.interfaces import Mechanism
from deniable.mechanisms.base import NearestWord
from deniable.noise.randomness import InsecureSeededRandomness
from deniable.parameters import validated_count

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
        """Return what a word (or ⊥) becomes in this many draws."""
        return self.of_each(np.full(draws, word_id, dtype=np.int64))

    def of_each(self, ids: Ids) -> Ids:
        """Return what each word becomes, as a release would treat it: protected words go in as those that
        stand in."""
        released = np.empty(len(ids), dtype=np.int64)
        for start in range(0, len(ids), _DRAWS_AT_ONCE):
            part = slice(start, start + _DRAWS_AT_ONCE)
            released[part] = self.mechanism.perturb(
                self.mechanism.embedding.stands_in(ids[part]), self._source
            )
        return released


class SeededPoints:
    """Noisy points of public words, for channels. The same seed gives the same points, however many are asked
    for at once."""

    def __init__(self, mechanism: NearestWord, *, seed: int) -> None:
        self._mechanism, self._source = mechanism, _SeparateSequences(seed)

    def of_each(self, ids: Ids) -> tuple[Vectors, Ids]:
        """Return a noisy point of each word, and the word that is released for it; ids are those of words
        that go in."""
        points = self._mechanism.points(ids, self._source, np.full(len(ids), self._mechanism.epsilon))
        return points, self._mechanism.neighbours.nearest(points)


class _SeparateSequences:
    """Seeded randomness whose kinds of numbers have a sequence each: in one sequence, batches of another size
    would change all numbers."""

    def __init__(self, seed: int) -> None:
        self._normals, self._gammas, self._uniforms = (
            InsecureSeededRandomness(insecure_seed=(seed << 2) + kind) for kind in range(3)
        )

    def normals(self, tokens: int, dimension: int) -> Floats:
        return self._normals.normals(tokens, dimension)

    def gammas(self, tokens: int, shape: float) -> Floats:
        return self._gammas.gammas(tokens, shape)

    def uniforms(self, tokens: int, count: int) -> Floats:
        return self._uniforms.uniforms(tokens, count)

    def for_tokens(self, part: slice) -> Self:  # noqa: ARG002
        return self

    def describe(self) -> Mapping[str, Any]:
        return self._normals.describe()
