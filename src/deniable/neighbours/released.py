"""The words that can be released: all but those that share their vector with an earlier word."""

from __future__ import annotations

import numpy as np

from deniable.arrays import Floats, Ids, Vectors
from deniable.embeddings.embedding import Embedding
from deniable.interfaces import Neighbours
from deniable.neighbours.selection import best_neighbours

_NUMBERS_AT_ONCE = 1 << 22


def first_of_each(embedding: Embedding) -> Ids:
    """Return for every word the first word with the same vector: itself, unless it is shadowed."""
    first = np.arange(len(embedding), dtype=np.int64)
    if len(embedding.shadowed):
        first[embedding.shadowed] = best_neighbours(embedding).nearest(embedding.rows(embedding.shadowed))
    return first


def released_words(embedding: Embedding) -> Ids:
    """Return the ids of all words that can be released, in order."""
    return np.delete(np.arange(len(embedding), dtype=np.int64), embedding.shadowed)


def nearest_released(embedding: Embedding, search: Neighbours, points: Vectors, k: int) -> tuple[Ids, Floats]:
    """Return the ``k`` nearest words that can be released of every row, nearest first, and their distances.

    ``k`` must not exceed the number of such words.
    """
    ids, distances = np.empty((len(points), k), dtype=np.int64), np.empty((len(points), k))
    shadowed = np.zeros(len(embedding), dtype=bool)
    shadowed[embedding.shadowed] = True
    left, asked = np.arange(len(points)), k
    while len(left):
        at_once = max(1, _NUMBERS_AT_ONCE // asked)
        short = []
        for start in range(0, len(left), at_once):
            rows = left[start : start + at_once]
            near, far = search.nearest_k(points[rows], asked)
            free = ~shadowed[near]
            enough = free.sum(axis=1) >= k
            first_k = np.argsort(~free, axis=1, kind="stable")[enough, :k]
            ids[rows[enough]] = np.take_along_axis(near[enough], first_k, axis=1)
            distances[rows[enough]] = np.take_along_axis(far[enough], first_k, axis=1)
            short.append(rows[~enough])
        left, asked = np.concatenate(short), min(2 * asked + len(embedding.shadowed[:64]), len(embedding))
    return ids, distances
