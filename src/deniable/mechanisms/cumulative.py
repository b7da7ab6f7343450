"""Draws words with given weights, one uniform number a draw, without keeping a weight for every pair of words.

Words are cut into tiles of 64. Of an input word only the running sums of the tiles' weights are kept: |W|/64 numbers, 50 kB
in a vocabulary of 400,000. A uniform number u picks the tile whose stretch of the running sum holds u·total; the weights
of that one tile are computed again, and what is left of u·total picks the word in it. So a draw costs a binary search and 64
distances, once the sums of its input word are there; these cost one pass over the vocabulary.

It is the inversion of the distribution function, so exact but for float64: u has 53 bits, and each running sum is off by at
most (|W|/64 + 64)·2⁻⁵³ of the total. No event's probability differs from its real value by more than that twice over: under
2·10⁻¹² for 400,000 words. Weights are at most 1 (the largest is 1), so nothing overflows at any ε.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from deniable.arrays import Floats, Ids

TILE = 64
_MOST_CACHED_BYTES = 1 << 28


@dataclass(frozen=True, slots=True)
class RunningSums:
    """The running sums of the tiles' weights, and the cost that was taken as 0 (see ``weigh``)."""

    sums: Floats
    least: float

    def pick_tiles(self, uniforms: Floats) -> tuple[Ids, Floats]:
        """Return for each uniform number its tile, and how far into the tile's stretch of the sum it lies."""
        targets = uniforms * self.sums[-1]
        # u·total may round up to the total: then the last tile with any weight is meant.
        tiles = np.minimum(np.searchsorted(self.sums, targets, side="right"), np.searchsorted(self.sums, self.sums[-1]))
        return tiles, targets - np.where(tiles > 0, self.sums[tiles - 1], 0.0)


def weigh(costs: Floats, rate: float | Floats, least: float | Floats) -> Floats:
    """Return exp(-rate·(cost - least)); an infinite cost weighs 0."""
    with np.errstate(over="ignore", under="ignore"):
        weights: Floats = np.exp(-(costs - least) * rate)
    return weights


def running_sums(costs: Floats, rate: float) -> RunningSums:
    """Return the running sums of exp(-rate·cost) over the tiles of all words."""
    least = float(costs.min())
    padded = np.zeros(-(-len(costs) // TILE) * TILE)
    padded[: len(costs)] = weigh(costs, rate, least)
    return RunningSums(np.cumsum(padded.reshape(-1, TILE).sum(axis=1)), least)


def pick_words(tiles: Ids, weights: Floats, rests: Floats) -> Ids:
    """Return the word picked in each tile, given its 64 weights and how far to go into them."""
    passed = (np.cumsum(weights, axis=1) <= rests[:, None]).sum(axis=1)
    last = TILE - 1 - np.argmax(weights[:, ::-1] > 0.0, axis=1)
    words: Ids = tiles * TILE + np.minimum(passed, last)
    return words


class SumsCache:
    """The running sums of the input words seen last, up to a bounded size. Never pickled: it tells which words were seen."""

    def __init__(self, most_bytes: int = _MOST_CACHED_BYTES) -> None:
        self._most_bytes = most_bytes
        self._kept: OrderedDict[tuple[int, float], RunningSums] = OrderedDict()

    def get(self, word: int, epsilon: float) -> RunningSums | None:
        """Return what is kept for a word at an ε."""
        found = self._kept.get((word, epsilon))
        if found is not None:
            self._forgiving(self._kept.move_to_end, (word, epsilon))
        return found

    def put(self, word: int, epsilon: float, sums: RunningSums) -> None:
        """Keep the sums of a word at an ε, and drop those not used for longest if there is no room."""
        self._kept[word, epsilon] = sums
        while len(self._kept) * sums.sums.nbytes > self._most_bytes:
            self._forgiving(self._kept.popitem, False)

    @staticmethod
    def _forgiving(change: Callable[..., Any], *arguments: Any) -> None:
        # Each change is whole by itself, but another thread may have dropped the entry in between; a lock could stay locked in a fork.
        try:
            change(*arguments)
        except KeyError:
            return

    def __reduce__(self) -> tuple[type[SumsCache], tuple[int]]:
        return SumsCache, (self._most_bytes,)
