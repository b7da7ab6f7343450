"""Draws of a mechanism from an explicit seed, so that what was found can be repeated: for channels, calibrations and audits.

This is the only file below the audits that knows the seeded source, and nothing that releases text imports it.
"""

from __future__ import annotations

import numpy as np

from deniable.arrays import Ids
from deniable.interfaces import Mechanism
from deniable.parameters import validated_count
from deniable.randomness import InsecureSeededRandomness

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
        """Return what each word becomes, as a release would treat it: protected words go in as those that stand in."""
        released = np.empty(len(ids), dtype=np.int64)
        for start in range(0, len(ids), _DRAWS_AT_ONCE):
            part = slice(start, start + _DRAWS_AT_ONCE)
            released[part] = self.mechanism.perturb(self.mechanism.embedding.stands_in(ids[part]), self._source)
        return released
