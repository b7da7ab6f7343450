"""A search that draws words itself, as a GPU does, in NumPy: for tests of what is made of such draws."""

from __future__ import annotations

import numpy as np

from deniable import Embedding
from deniable.arrays import Floats, Ids
from deniable.noise.randomness import RadialNoise
from tests.support.oracle import OracleNeighbours


class MadeGpu(OracleNeighbours):
    """Draws gamma noise and finds the nearest words; ``draws`` counts all that were made, and ``too_strong``
    makes them wrong."""

    def __init__(self, embedding: Embedding, *, too_strong: float = 1.0) -> None:
        super().__init__(embedding)
        self._embedding, self._too_strong = embedding, too_strong
        self._random = np.random.default_rng(0)
        self.draws = 0

    def nearest_to_noisy(self, ids: Ids, noise: RadialNoise, epsilons: Floats) -> Ids:
        assert noise.lengths == "gamma"
        assert noise.shape is None
        self.draws += len(ids)
        directions = self._random.standard_normal((len(ids), noise.dimension))
        lengths = self._random.gamma(noise.dimension, self._too_strong / epsilons)
        points = (
            self._embedding.rows(ids) + directions * (lengths / np.linalg.norm(directions, axis=1))[:, None]
        )
        return self.nearest(points.astype(np.float32))
