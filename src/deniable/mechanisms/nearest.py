"""The nearest-word family: noise is added to the word's vector, and a function of the noisy point alone is released.

Whatever happens after the noise is post-processing: it keeps the bound between the densities of the noisy points of two
words. The search never sees the word that the point came from.
"""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property

import numpy as np

from deniable.arrays import Floats, Ids, Vectors
from deniable.interfaces import Neighbours, Randomness
from deniable.mechanisms.parts import DrawsByParts
from deniable.neighbours import best_neighbours

_FURTHEST_POINT = 1e24


class NearestWord(DrawsByParts):
    """Adds the noise of a subclass to the vector and releases the nearest word."""

    @abstractmethod
    def noise(self, source: Randomness, epsilon: Floats) -> Floats:
        """Return one noise vector for each ε."""

    @cached_property
    def neighbours(self) -> Neighbours:
        """The exact search behind the mechanism, prepared on first use."""
        return best_neighbours(self._embedding)

    def points(self, ids: Ids, source: Randomness, epsilon: Floats) -> Vectors:
        """Return the noisy points of one part of a batch, for the search. They must never leave the mechanism."""
        points = self.noise(source, epsilon)
        points += self._embedding.rows(ids)
        return _representable(points)

    def draw(self, ids: Ids, source: Randomness, epsilon: Floats) -> Ids:
        """Return the nearest word of each noisy point."""
        return self.neighbours.nearest(self.points(ids, source, epsilon))

    def log_bound(self, first: int, second: int) -> float:
        """Return ε times the distance in the metric of the guarantee."""
        rows = self._embedding.rows(np.array(self._entering_pair(first, second))).astype(np.float64)
        return self._log_bound_between(rows[0] - rows[1])

    @abstractmethod
    def _log_bound_between(self, difference: Floats) -> float:
        """Return the log of the largest ratio of the densities of two points, one this much beside the other."""


def _representable(points: Floats) -> Vectors:
    """Return the points as float32, pulled back along their ray where float32 arithmetic would overflow."""
    furthest = np.abs(points).max(axis=1)
    far = furthest > _FURTHEST_POINT
    if far.any():
        points[far] *= (_FURTHEST_POINT / furthest[far])[:, None]
    return points.astype(np.float32)
