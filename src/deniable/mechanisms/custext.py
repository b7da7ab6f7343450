"""CusText in its partition form: a draw among the words of a public cell (Chen et al. 2023).

The vocabulary is cut into public cells of K near words. In the order of the ids (frequent words first, in
most embeddings) every word that has no cell yet forms one with the nearest words that have none. The last
cell takes what is left once that is less than two cells, so no cell is smaller than asked for. The partition
depends on the public embedding alone.

For w in a cell C, with d_min and d_max the smallest and largest distance from w to the words of C, the score
of u in C is s(w, u) = -(d(w, u) - d_min)/(d_max - d_min), from -1 to 0, and P(u | w) is proportional to
exp((ε/2)·s(w, u)).

Proof of ε-privacy inside a cell. Scores lie in [-1, 0], so the weights of w and w' in one cell differ by at
most the factor exp(ε/2) for every u in C; so do their sums; and the probabilities by at most exp(ε). Inputs
of different cells have no output in common: the cell of every word is released. ⊥ lies in the cell of the
word nearest to it, as an input only.

With lists of the K nearest words of each word in place of cells, as peers do, two words of one list have
different outputs and the ratio of their probabilities is infinite: no ε holds for any pair but words with the
very same list.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from deniable.arrays import Floats, Ids
from deniable.embeddings.embedding import Embedding
from deniable.interfaces import LOCAL_PRIVACY, Guarantee, Neighbours, Randomness
from deniable.mechanisms.base import DrawsByParts, ExactSums
from deniable.mechanisms.grid import Grid
from deniable.neighbours import best_neighbours
from deniable.neighbours.selection import known_words_for, released_words
from deniable.noise.portable import exp_minus
from deniable.parameters import validated_count

_NUMBERS_AT_ONCE = 1 << 22
_SEEDS_AT_ONCE = 64


@dataclass(frozen=True, kw_only=True)
class Cells:
    """Which cell each input id lies in (⊥ and words that share a vector included), and the words of each
    cell.

    ``members`` has one row for each cell, filled up with -1.
    """

    cell_of: Ids
    members: Ids


_made: WeakKeyDictionary[Embedding, dict[int, Cells]] = WeakKeyDictionary()
"""The partitions of embeddings that are in use, by the size of their cells."""


class CusText(DrawsByParts, ExactSums):
    """A draw among the K words of a public cell: ε-local differential privacy inside each cell, the cell
    itself exposed."""

    def __init__(self, embedding: Embedding, epsilon: float, *, k: int = 20) -> None:
        """Prepare the mechanism; cells have ``k`` words, one of them up to twice as many.

        :raises InvalidParameter: if ``epsilon`` is not a finite number greater than 0, or ``k`` not a whole
            number of at least 2.
        """
        super().__init__(embedding, epsilon=epsilon)
        self.k = validated_count(k, "k", at_least=2)

    @property
    def guarantee(self) -> Guarantee:
        """What is promised for one word."""
        return Guarantee(
            notion=f"{LOCAL_PRIVACY} inside each cell of a public partition of the vocabulary",
            metric="none: the bound is the same for all pairs of words of a cell; summed over the words of a "
            "text",
            epsilon=self._epsilon,
            statement=(
                "For any two words w and w' of one cell and any output y: Pr[M(w) = y] ≤ exp(ε)·Pr[M(w') = "
                "y]. Unknown words share the cell of the word nearest to ⊥. Nothing is promised for words of "
                "different cells: no output is common to them."
            ),
            parameters={"k": self.k},
            exposed=f"the cell of every word: which of the groups of {self.k} near words (one of them "
            "larger) holds it, with certainty",
            caveat=(
                "This ε is that of local differential privacy among the words of one cell. It is no bound "
                "between words of different cells, and does not compare with the ε of metric privacy."
            ),
        )

    @cached_property
    def cells(self) -> Cells:
        """The public partition, made on first use and shared by all mechanisms over the embedding."""
        made = _made.setdefault(self._embedding, {})
        if self.k not in made:
            made[self.k] = cells_of(self._embedding, self.k)
        return made[self.k]

    def log_bound(self, first: int, second: int) -> float:
        """Return ε for two words of a cell (0 for words with one vector), infinity for others."""
        first, second = self._entering_pair(first, second)
        if self.cells.cell_of[first] != self.cells.cell_of[second]:
            return math.inf
        return self._epsilon if self._grid.between(first, second) > 0.0 else 0.0

    def draw(self, ids: Ids, source: Randomness, epsilon: Floats) -> Ids:
        """Return a word of the cell of each input, by one uniform number each."""
        uniforms = source.uniforms(len(ids), 1)
        released = np.empty(len(ids), dtype=np.int64)
        at_once = max(1, _NUMBERS_AT_ONCE // (self.cells.members.shape[1] * self._embedding.dimension))
        for start in range(0, len(ids), at_once):
            part = slice(start, start + at_once)
            members, weights = self._weights(ids[part], epsilon[part])
            sums = np.cumsum(weights, axis=1)
            # The last word of a cell has the rest, so that u·total rounded up to the total still finds a
            # word.
            passed = (sums[:, :-1] <= uniforms[part] * sums[:, -1:]).sum(axis=1)
            places = np.minimum(passed, (members >= 0).sum(axis=1) - 1)
            released[part] = members[np.arange(len(members)), places]
        return released

    def distributions(self, ids: Ids, epsilons: Floats) -> Iterator[tuple[Ids, Floats]]:
        """Yield for each input id the words of its cell and their probabilities; see ``ExactSums``."""
        entering, several = self._entering(ids), len(epsilons)
        at_once = max(
            1, _NUMBERS_AT_ONCE // (several * self.cells.members.shape[1] * self._embedding.dimension)
        )
        for start in range(0, len(entering), at_once):
            part = entering[start : start + at_once]
            members, weights = self._weights(np.repeat(part, several), np.tile(epsilons, len(part)))
            for first in range(0, len(members), several):
                there = members[first] >= 0
                rows = weights[first : first + several]
                yield members[first][there], rows[:, there] / rows.sum(axis=1, keepdims=True)

    @cached_property
    def _grid(self) -> Grid:
        return Grid(self._embedding)

    def _weights(self, ids: Ids, epsilon: Floats) -> tuple[Ids, Floats]:
        """Return the members of each input's cell, -1 where a cell is smaller, and their weights, 0 there."""
        members = self.cells.members[self.cells.cell_of[ids]]
        there = members >= 0
        distances = self._grid.to_some(ids, np.maximum(members, 0))
        least = np.where(there, distances, np.inf).min(axis=1, keepdims=True)
        spread = np.where(there, distances, -np.inf).max(axis=1, keepdims=True) - least
        costs = np.divide(
            distances - least, spread, out=np.zeros_like(distances), where=there & (spread > 0.0)
        )
        with np.errstate(over="ignore", under="ignore"):
            exponents = costs * (epsilon[:, None] / 2)
        weights = np.where(there, exp_minus(exponents), 0.0)
        return members, weights


def cells_of(embedding: Embedding, size: int) -> Cells:
    """Return the partition of the outputs into cells of ``size`` words, the last one up to twice as large."""
    left = released_words(embedding)
    groups: list[Ids] = []
    while len(left) >= 2 * size:
        some, left = _cells_until_half_is_gone(embedding, left, size)
        groups += some
    groups.append(left)
    members = np.full((len(groups), max(len(group) for group in groups)), -1, dtype=np.int64)
    cell_of = np.empty(len(embedding) + 1, dtype=np.int64)
    for cell, group in enumerate(groups):
        members[cell, : len(group)] = group
        cell_of[group] = cell
    return Cells(cell_of=cell_of[known_words_for(embedding)], members=members)


def _cells_until_half_is_gone(embedding: Embedding, words: Ids, size: int) -> tuple[list[Ids], Ids]:
    """Return some cells, and the words that are left, for which a smaller search then takes over."""
    names = [embedding.words[word] for word in words.tolist()]
    none = np.array([], dtype=np.int64)
    part = Embedding.from_checked(
        names, embedding.vectors[words], embedding.unknown, name=embedding.name, shadowed=none
    )
    search, free = best_neighbours(part), np.ones(len(words), dtype=bool)
    groups: list[Ids] = []
    while (rest := int(free.sum())) >= max(len(words) // 2, 2 * size):
        seeds = np.flatnonzero(free)[: min(_SEEDS_AT_ONCE, rest // size - 1)]
        near, _ = search.nearest_k(part.vectors[seeds], min(8 * size, len(words)))
        for seed, neighbours in zip(seeds.tolist(), near, strict=True):
            if free[seed]:
                group = _nearest_free(search, part, seed, neighbours, free, size)
                free[group] = False
                groups.append(words[group])
    return groups, words[free]


def _nearest_free(
    search: Neighbours, part: Embedding, seed: int, near: Ids, free: NDArray[np.bool_], size: int
) -> Ids:
    while len(found := near[free[near]][:size]) < size:
        near = search.nearest_k(part.vectors[[seed]], min(4 * len(near), len(part)))[0][0]
    return found
