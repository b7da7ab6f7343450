"""Words that lie together, 32 to a tile, so that one test can rule all of them out."""

from __future__ import annotations

import numpy as np

from deniable.arrays import Ids, Vectors

TILE = 32
_SAMPLE = 2048
_TURNS = 4


def tiled_order(vectors: Vectors) -> Ids:
    """Return the rows in an order in which every 32 in turn lie near one another.

    The rows are divided in two halves across the direction in which they spread most, and so on. Any order would be
    correct: this one only decides how much can be ruled out.
    """
    order = np.arange(len(vectors), dtype=np.int64)
    random = np.random.Generator(np.random.PCG64(0))
    todo = [(0, len(vectors))]
    while todo:
        start, stop = todo.pop()
        if stop - start <= TILE:
            continue
        part = order[start:stop]
        points = np.asarray(vectors[part], dtype=np.float32)
        middle = (stop - start) // 2 // TILE * TILE or TILE
        order[start:stop] = part[np.argpartition(points @ _spread(points, random), middle)]
        todo += [(start, start + middle), (start + middle, stop)]
    return order


def _spread(points: Vectors, random: np.random.Generator) -> Vectors:
    """Return the direction in which the points spread most, roughly, by power iteration."""
    sample = points if len(points) <= _SAMPLE else points[random.integers(0, len(points), _SAMPLE)]
    centred = sample - sample.mean(axis=0)
    direction = random.standard_normal(points.shape[1], dtype=np.float32)
    for _ in range(_TURNS):
        direction = (centred @ direction) @ centred
        length = float(np.abs(direction).max())
        if not (0.0 < length < np.inf):
            return np.ones(points.shape[1], dtype=np.float32)  # all points are one
        direction = direction / np.float32(length)
    return np.asarray(direction, dtype=np.float32)
