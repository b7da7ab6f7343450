"""Direct simulation in float64: the yardstick of the rays."""

from __future__ import annotations

import numpy as np

from deniable import Embedding
from deniable.arrays import Floats, Ids


class Direct:
    """Finds the nearest word of points by scoring every word in float64; ties go to the lowest id."""

    def __init__(self, embedding: Embedding) -> None:
        self._vectors = embedding.vectors.astype(np.float64)
        self._half = 0.5 * np.einsum("ij,ij->i", self._vectors, self._vectors)

    def nearest(self, points: Floats) -> Ids:
        found = np.empty(len(points), dtype=np.int64)
        for start in range(0, len(points), 256):
            found[start : start + 256] = (points[start : start + 256] @ self._vectors.T - self._half).argmax(axis=1)
        return found

    def gap(self, point: Floats, first: int, second: int) -> float:
        """Return how much the scores of two words differ at a point, as a share of the terms they are made of."""
        scores = self._vectors[[first, second]] @ point - self._half[[first, second]]
        return float(
            abs(scores[0] - scores[1]) / (np.abs(self._vectors[[first, second]] * point).sum() + self._half[[first, second]].sum())
        )


def assert_same_words(direct: Direct, points: Floats, found: Ids) -> None:
    """Check the words of all points; where two words are as near as float64 can tell, either will do."""
    expected = direct.nearest(points)
    for i in np.flatnonzero(expected != found).tolist():
        assert direct.gap(points[i], int(expected[i]), int(found[i])) < 1e-14
