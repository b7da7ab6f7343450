"""The softmax family: a word u is released for w with probability proportional to exp(-(ε/2)·cost(w, u)).

Exponential mechanism. If cost is a metric (or cost(w, u) a function with |cost(w, u) - cost(w', u)| ≤ d(w, w') for all u), then
the weights of w and w' differ by at most the factor exp((ε/2)·d(w, w')) for every u; so do their sums, the normalisers; and the
probabilities by at most exp(ε·d(w, w')). Outputs are the words of the public vocabulary that share no vector with an earlier
one: a fixed set, the same for every input.

Costs are functions of exact distances (``grid``), and drawing is inversion (``cumulative``): a token's word depends on its
input word, its ε and its uniform number, and on nothing else of the batch, nor on the machine.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from deniable.arrays import Floats, Ids
from deniable.embeddings.embedding import Embedding
from deniable.interfaces import Randomness
from deniable.mechanisms.base import DrawsByParts, ExactSums
from deniable.mechanisms.cumulative import TILE, RunningSums, SumsCache, pick_exactly, pick_words, running_sums, weigh
from deniable.mechanisms.grid import Grid

_DISTANCES_AT_ONCE = 1 << 24
_TILE_NUMBERS_AT_ONCE = 1 << 22


class Softmax(DrawsByParts, ExactSums):
    """Draws from exp(-(ε/2)·cost) for the cost of a subclass, exactly and without a table of pairs."""

    def __init__(self, embedding: Embedding, *, epsilon: float) -> None:
        """Prepare the mechanism.

        :raises InvalidParameter: if ``epsilon`` is not a finite number greater than 0.
        """
        super().__init__(embedding, epsilon=epsilon)
        self._cache = SumsCache()

    @abstractmethod
    def cost(self, distances: Floats, epsilon: float | Floats) -> Floats:
        """Return the costs at these distances; ``epsilon`` is one number, or broadcasts to the distances."""

    def distributions(self, ids: Ids, epsilons: Floats) -> Iterator[tuple[Ids, Floats]]:
        """Yield for each input id the ids of all words that can be released and their exact probabilities, a row for each ε."""
        entering = self._entering(ids)
        outputs = np.delete(np.arange(len(self._embedding)), self._embedding.shadowed)
        for start in range(0, len(ids), self._words_at_once):
            for distances in self.grid.to_all(entering[start : start + self._words_at_once]):
                away, chances = distances[outputs], np.empty((len(epsilons), len(outputs)))
                for row, epsilon in enumerate(epsilons.tolist()):
                    costs = self.cost(away, epsilon)
                    weights = weigh(costs, epsilon / 2, float(costs.min()))
                    np.divide(weights, weights.sum(), out=chances[row])
                yield outputs, chances

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
    def _never(self) -> NDArray[np.bool_]:
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
        costs = self.cost(self.grid.to_some(ids, np.minimum(members, len(self._embedding) - 1)), epsilon[:, None])
        costs[never] = np.inf
        return weigh(costs, epsilon[:, None] / 2, least[:, None])
