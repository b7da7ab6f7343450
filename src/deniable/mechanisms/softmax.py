"""The softmax family: a word u is released for w with probability proportional to exp(-(ε/2)·cost(w, u)).

Exponential mechanism. If cost is a metric (or cost(w, u) a function with |cost(w, u) - cost(w', u)| ≤ d(w,
w') for all u), then the weights of w and w' differ by at most the factor exp((ε/2)·d(w, w')) for every u; so
do their sums, the normalisers; and the probabilities by at most exp(ε·d(w, w')). Outputs are the words of the
public vocabulary that share no vector with an earlier one: a fixed set, the same for every input.

Costs are functions of exact distances (``grid``), and drawing is inversion: a token's word depends on its
input word, its ε and its uniform number, and on nothing else of the batch, nor on the machine.

*How it is drawn.* One uniform number a draw, without keeping a weight for every pair of words.
Words are cut into tiles of 64. Of an input word only the running sums of the tiles' weights are kept: |W|/64
numbers, 50 kB in a vocabulary of 400,000. A uniform number u picks the tile whose stretch of the running sum
holds u·total; the weights of that one tile are computed again, and what is left of u·total picks the word in
it. So a draw costs a binary search and 64 distances, once the sums of its input word are there; these cost
one pass over the vocabulary.

It is the inversion of the distribution function, so exact but for float64: u has 53 bits, and each running
sum is off by at most (|W|/64 + 64)·2⁻⁵³ of the total. No event's probability differs from its real value by
more than that twice over: under 2·10⁻¹² for 400,000 words. Weights are at most 1 (the largest is 1), so
nothing overflows at any ε.

*The same word on every machine.* Exponentials and sums of a library differ in
their last bits between processors, and a keyed draw must not. So the word that u means is defined by
``pick_exactly``: exponentials from ``portable``, sums in a written order. The fast way says of each draw
whether it is clear: whether u·total lies further from every border it was compared with than both ways can
differ by. What is not clear (of 400,000 words, one draw in 10⁵) is drawn exactly. A library's weight is off
by a few units of 2⁻⁵², one of ``portable`` by (1 + x)·2⁻⁵² for e^-x, which adds up to less than (2 + ln
|W|)·2⁻⁵² of the total; each way of adding up is off by at most (|W|/64 + 64)·2⁻⁵³ of it. The margin,
8·(|W|/64 + 64)·2⁻⁵², covers all of these.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deniable.arrays import Floats, Ids
from deniable.embeddings.embedding import Embedding
from deniable.interfaces import Randomness
from deniable.mechanisms.base import DrawsByParts, ExactSums
from deniable.mechanisms.grid import Grid
from deniable.noise.portable import exp_minus

TILE = 64
_MOST_CACHED_BYTES = 1 << 28
MARGIN = 8 * 2.0**-52
_DISTANCES_AT_ONCE = 1 << 24
_TILE_NUMBERS_AT_ONCE = 1 << 22

Flags = NDArray[np.bool_]


class Softmax(DrawsByParts, ExactSums):
    """Draws from exp(-(ε/2)·cost) for the cost of a subclass, exactly and without a table of pairs."""

    def __init__(self, embedding: Embedding, epsilon: float) -> None:
        """Prepare the mechanism.

        :raises InvalidParameter: if ``epsilon`` is not a finite number greater than 0.
        """
        super().__init__(embedding, epsilon=epsilon)
        self._cache = SumsCache()

    def remember_nothing(self) -> None:
        """Keep no sums of words that come in, from one call to the next."""
        self._cache = SumsCache(most_bytes=0)

    @abstractmethod
    def cost(self, distances: Floats, epsilon: float | Floats) -> Floats:
        """Return the costs at these distances; ``epsilon`` is one number, or broadcasts to the distances."""

    def distributions(self, ids: Ids, epsilons: Floats) -> Iterator[tuple[Ids, Floats]]:
        """Yield for each input id all outputs and their probabilities; see ``ExactSums``."""
        entering = self._entering(ids)
        for start in range(0, len(ids), self._words_at_once):
            for distances in self.grid.to_all(entering[start : start + self._words_at_once]):
                away, chances = distances[self.outputs], np.empty((len(epsilons), len(self.outputs)))
                for row, epsilon in enumerate(epsilons.tolist()):
                    costs = self.cost(away, epsilon)
                    weights = weigh(costs, epsilon / 2, float(costs.min()))
                    np.divide(weights, weights.sum(), out=chances[row])
                yield self.outputs, chances

    def draw(self, ids: Ids, source: Randomness, epsilon: Floats) -> Ids:
        """Return one word for each input, by one uniform number each."""
        uniforms = source.uniforms(len(ids), 1)[:, 0]
        tiles, rests, least = np.empty(len(ids), dtype=np.int64), np.empty(len(ids)), np.empty(len(ids))
        clear, margins = np.empty(len(ids), dtype=bool), np.empty(len(ids))
        for tokens, sums in self._sums_of_each(ids, epsilon):
            tiles[tokens], rests[tokens], clear[tokens] = sums.pick_tiles(uniforms[tokens])
            least[tokens], margins[tokens] = sums.least, sums.margin
        released = np.empty(len(ids), dtype=np.int64)
        at_once = max(1, _TILE_NUMBERS_AT_ONCE // (TILE * self._embedding.dimension))
        for start in range(0, len(ids), at_once):
            part = slice(start, start + at_once)
            weights = self._tile_weights(ids[part], tiles[part], epsilon[part], least[part])
            released[part], clear_words = pick_words(tiles[part], weights, rests[part], margins[part])
            clear[part] &= clear_words
        for token in np.flatnonzero(~clear).tolist():
            spent = float(epsilon[token])
            costs = self._costs_of_all(self.grid.to_all(ids[token : token + 1])[0], spent)
            released[token] = pick_exactly(costs, spent / 2, float(uniforms[token]))
        return released

    @cached_property
    def grid(self) -> Grid:
        """The exact distances behind the mechanism, prepared on first use."""
        return Grid(self._embedding)

    @cached_property
    def _never(self) -> Flags:
        """Which of the tiles' places hold no word that can be released."""
        never = np.zeros(-(-len(self._embedding) // TILE) * TILE, dtype=bool)
        never[self._embedding.shadowed] = True
        never[len(self._embedding) :] = True
        return never

    @property
    def _words_at_once(self) -> int:
        return max(1, _DISTANCES_AT_ONCE // len(self._embedding))

    def _sums_of_each(self, ids: Ids, epsilon: Floats) -> Iterator[tuple[Ids, RunningSums]]:
        """Yield for each pair of input word and ε the tokens that have it, and its running sums."""
        order = np.lexsort((epsilon, ids))
        changes = np.flatnonzero((np.diff(ids[order]) != 0) | (np.diff(epsilon[order]) != 0)) + 1
        missing: dict[int, list[Ids]] = {}
        for tokens in np.split(order, changes) if len(ids) else []:
            word, spent = int(ids[tokens[0]]), float(epsilon[tokens[0]])
            if (known := self._cache.get(word, spent)) is not None:
                yield tokens, known
            else:
                missing.setdefault(word, []).append(tokens)
        words = np.array(list(missing), dtype=np.int64)
        for start in range(0, len(words), self._words_at_once):
            some = words[start : start + self._words_at_once]
            distances = self.grid.to_all(some)
            for word, row in zip(some.tolist(), distances, strict=True):
                for tokens in missing[word]:
                    spent = float(epsilon[tokens[0]])
                    sums = running_sums(self._costs_of_all(row, spent), spent / 2)
                    self._cache.put(word, spent, sums)
                    yield tokens, sums

    def _costs_of_all(self, distances: Floats, epsilon: float) -> Floats:
        costs = self.cost(distances, epsilon)
        costs[self._embedding.shadowed] = np.inf
        return costs

    def _tile_weights(self, ids: Ids, tiles: Ids, epsilon: Floats, least: Floats) -> Floats:
        """Return the weights of the 64 words of each token's tile."""
        members = tiles[:, None] * TILE + np.arange(TILE)
        never = self._never[members]
        costs = self.cost(
            self.grid.to_some(ids, np.minimum(members, len(self._embedding) - 1)), epsilon[:, None]
        )
        costs[never] = np.inf
        return weigh(costs, epsilon[:, None] / 2, least[:, None])


class RunningSums(NamedTuple):
    """The running sums of the tiles' weights, and the cost that was taken as 0 (see ``weigh``)."""

    sums: Floats
    least: float

    @property
    def margin(self) -> float:
        """What two ways of computing the same border can differ by."""
        return MARGIN * (len(self.sums) + TILE) * float(self.sums[-1])

    def pick_tiles(self, uniforms: Floats) -> tuple[Ids, Floats, Flags]:
        """Return the tile of each uniform number, the rest to go into it, and whether that is clear."""
        targets = uniforms * self.sums[-1]
        # u·total may round up to the total: then the last tile with any weight is meant.
        tiles = np.minimum(
            np.searchsorted(self.sums, targets, side="right"), np.searchsorted(self.sums, self.sums[-1])
        )
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
    """Return the word picked in each tile, by its 64 weights and a rest, and whether it is clear."""
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
    """The running sums of the input words seen last. Never pickled: it tells which words were seen."""

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
        # Each change is whole by itself, but another thread may have dropped the entry in between; a lock
        # could stay locked in a fork.
        try:
            change(*arguments)
        except KeyError:
            return

    def __reduce__(self) -> tuple[type[SumsCache], tuple[int]]:
        return SumsCache, (self._most_bytes,)
