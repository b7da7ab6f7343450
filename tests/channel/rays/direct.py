"""Direct simulation in float64: the yardstick of the rays."""

from __future__ import annotations

import numpy as np

from deniable import Embedding
from deniable.arrays import Floats, Ids

_ROUNDING = 1e-12  # of the terms of a score; more than they can be off


class Direct:
    """Finds the nearest word of points by scoring every word in float64; ties go to the lowest id.

    The score <p, v> - |v|^2/2 cannot tell words that lie close together far from the origin; among those the
    distance decides.
    """

    def __init__(self, embedding: Embedding) -> None:
        self._vectors = embedding.vectors.astype(np.float64)
        self._half = 0.5 * np.einsum("ij,ij->i", self._vectors, self._vectors)

    def nearest(self, points: Floats) -> Ids:
        found = np.empty(len(points), dtype=np.int64)
        for start in range(0, len(points), 256):
            part = points[start : start + 256]
            scores = part @ self._vectors.T - self._half
            rounding = _ROUNDING * (
                np.linalg.norm(part, axis=1) * np.sqrt(2 * self._half.max()) + self._half.max()
            )
            for place, (point, reached) in enumerate(
                zip(part, scores >= (scores.max(axis=1) - rounding)[:, None], strict=True), start
            ):
                close = np.flatnonzero(reached)
                found[place] = close[np.square(self._vectors[close] - point).sum(axis=1).argmin()]
        return found

    def gap(self, point: Floats, first: int, second: int) -> float:
        """Return how much the scores of two words differ at a point, as a share of the terms they are made
        of."""
        scores = self._vectors[[first, second]] @ point - self._half[[first, second]]
        return float(
            abs(scores[0] - scores[1])
            / (np.abs(self._vectors[[first, second]] * point).sum() + self._half[[first, second]].sum())
        )


def assert_same_words(direct: Direct, points: Floats, found: Ids) -> None:
    """Check the words of all points; where two words are as near as float64 can tell, either will do."""
    expected = direct.nearest(points)
    for i in np.flatnonzero(expected != found).tolist():
        assert direct.gap(points[i], int(expected[i]), int(found[i])) < 1e-14
