"""Draws words with given weights, one uniform number a draw, without keeping a weight for every pair of words.

Words are cut into tiles of 64. Of an input word only the running sums of the tiles' weights are kept: |W|/64 numbers, 50 kB
in a vocabulary of 400,000. A uniform number u picks the tile whose stretch of the running sum holds u·total; the weights
of that one tile are computed again, and what is left of u·total picks the word in it. So a draw costs a binary search and 64
distances, once the sums of its input word are there; these cost one pass over the vocabulary.

It is the inversion of the distribution function, so exact but for float64: u has 53 bits, and each running sum is off by at
most (|W|/64 + 64)·2⁻⁵³ of the total. No event's probability differs from its real value by more than that twice over: under
2·10⁻¹² for 400,000 words. Weights are at most 1 (the largest is 1), so nothing overflows at any ε.

The same word on every machine
------------------------------
Exponentials and sums of a library differ in their last bits between processors, and a keyed draw must not. So the word that u means
is defined by ``pick_exactly``: exponentials from ``portable``, sums in a written order. The fast way says of each draw whether it is
clear: whether u·total lies further from every border it was compared with than both ways can differ by. What is not clear (of 400,000
words, one draw in 10⁵) is drawn exactly. A library's weight is off by a few units of 2⁻⁵², one of ``portable`` by (1 + x)·2⁻⁵² for
e^-x, which adds up to less than (2 + ln |W|)·2⁻⁵² of the total; each way of adding up is off by at most (|W|/64 + 64)·2⁻⁵³ of it. The
margin, 8·(|W|/64 + 64)·2⁻⁵², covers all of these.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.arrays import Floats, Ids
from deniable.keyed.portable import exp_minus

TILE = 64
_MOST_CACHED_BYTES = 1 << 28
_MARGIN = 8 * 2.0**-52

Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class RunningSums:
    """The running sums of the tiles' weights, and the cost that was taken as 0 (see ``weigh``)."""

    sums: Floats
    least: float

    @property
    def margin(self) -> float:
        """What two ways of computing the same border can differ by."""
        return _MARGIN * (len(self.sums) + TILE) * float(self.sums[-1])

    def pick_tiles(self, uniforms: Floats) -> tuple[Ids, Floats, Flags]:
        """Return for each uniform number its tile, how far into the tile's stretch of the sum it lies, and whether that is clear."""
        targets = uniforms * self.sums[-1]
        # u·total may round up to the total: then the last tile with any weight is meant.
        tiles = np.minimum(np.searchsorted(self.sums, targets, side="right"), np.searchsorted(self.sums, self.sums[-1]))
        rests = targets - np.where(tiles > 0, self.sums[tiles - 1], 0.0)
        return tiles, rests, np.minimum(rests, self.sums[tiles] - targets) > self.margin


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


def pick_words(tiles: Ids, weights: Floats, rests: Floats, margins: Floats) -> tuple[Ids, Flags]:
    """Return the word picked in each tile, given its 64 weights and how far to go into them, and whether it is clear."""
    beyond = np.cumsum(weights, axis=1)
    beyond -= rests[:, None]
    passed = (beyond <= 0.0).sum(axis=1)
    last = TILE - 1 - np.argmax(weights[:, ::-1] > 0.0, axis=1)
    words: Ids = tiles * TILE + np.minimum(passed, last)
    return words, np.abs(beyond, out=beyond).min(axis=1) > margins


def pick_exactly(costs: Floats, rate: float, uniform: float) -> int:
    """Return the word that a uniform number means, the same on every machine."""
    with np.errstate(over="ignore", under="ignore"):
        exponents: Floats = (costs - costs.min()) * rate
    tiles = np.zeros((-(-len(costs) // TILE), TILE))
    tiles.reshape(-1)[: len(costs)] = exp_minus(exponents)
    sums = tiles
    while sums.shape[1] > 1:  # not by a library's sum, whose order nobody promises
        sums = sums[:, ::2] + sums[:, 1::2]
    exactly = RunningSums(np.cumsum(sums), 0.0)
    tile, rest, _ = exactly.pick_tiles(np.array([uniform]))
    return int(pick_words(tile, tiles[tile], rest, rest)[0][0])


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
