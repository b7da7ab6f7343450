"""A public partition of the vocabulary into cells of near words.

In the order of the ids (frequent words first, in most embeddings) every word that has no cell yet forms one with the nearest
words that have none. The last cell takes what is left once that is less than two cells, so no cell is smaller than asked
for. The partition depends on the public embedding alone.

Words that have a cell are taken out of the search whenever half of them are gone: the work is that of one search for each
cell, plus the making of the smaller searches.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deniable.arrays import Ids
from deniable.embeddings.embedding import Embedding
from deniable.interfaces import Neighbours
from deniable.neighbours import best_neighbours
from deniable.neighbours.selection import first_of_each, released_words

_SEEDS_AT_ONCE = 64


@dataclass(frozen=True, kw_only=True)
class Cells:
    """Which cell each input id lies in (⊥ and words that share a vector included), and the words of each cell.

    ``members`` has one row for each cell, filled up with -1.
    """

    cell_of: Ids
    members: Ids


def cells_of(embedding: Embedding, size: int) -> Cells:
    """Return the partition of the words that can be released into cells of ``size`` words, the last one of up to twice as many."""
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
    cell_of[:-1] = cell_of[first_of_each(embedding)]
    cell_of[-1] = cell_of[best_neighbours(embedding).nearest(embedding.unknown[None, :])[0]]
    return Cells(cell_of=cell_of, members=members)


def _cells_until_half_is_gone(embedding: Embedding, words: Ids, size: int) -> tuple[list[Ids], Ids]:
    names = [embedding.words[word] for word in words.tolist()]
    none = np.array([], dtype=np.int64)
    part = Embedding.from_checked(names, embedding.vectors[words], embedding.unknown, name=embedding.name, shadowed=none)
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


def _nearest_free(search: Neighbours, part: Embedding, seed: int, near: Ids, free: NDArray[np.bool_], size: int) -> Ids:
    while len(found := near[free[near]][:size]) < size:
        near = search.nearest_k(part.vectors[[seed]], min(4 * len(near), len(part)))[0][0]
    return found
