"""Distances between words without any rounding, at the speed of a matrix product.

The softmax mechanisms take the distances of one word to all words. A float matrix product rounds, and rounds
differently in batches of another shape, on other machines and with other numbers of threads; a keyed release
must not depend on these. So the vectors are first rounded to a public grid: whole multiples of a unit 2^k,
chosen such that no vector is longer than 2^25.5 units. Products and sums of such whole numbers, in any order
and fused or not, stay at or below |⟨a, b⟩| ≤ ‖a‖‖b‖ ≤ 2^51 (Cauchy–Schwarz, which also bounds every partial
sum), and d² = ‖a‖² + ‖b‖² - 2⟨a, b⟩ ≤ 4·2^51 = 2^53: all of them are exact in float64. Only the square root
rounds, correctly.

The mechanisms are defined on the grid vectors, and their guarantees hold for distances on the grid. A grid
vector lies at most √n/2 units from the vector it stands for: in 300 dimensions, 2·10⁻⁷ to 4·10⁻⁷ of the
length of the longest vector. One absurdly long vector would make the grid coarse for all words: less useful,
never less private.
"""

from __future__ import annotations

import math

import numpy as np

from deniable.arrays import Floats, Ids, Vectors
from deniable.embeddings.embedding import Embedding
from deniable.noise.randomness import row_norms

_LONGEST = math.sqrt(2.0**51)
_WORDS_AT_ONCE = 8_192


class Grid:
    """An embedding on its grid: exact distances of words to words, in the units of the embedding."""

    def __init__(self, embedding: Embedding) -> None:
        self._embedding = embedding
        longest = float(row_norms(embedding.unknown.astype(np.float64)[None, :])[0])
        for start in range(0, len(embedding), _WORDS_AT_ONCE):
            block = embedding.vectors[start : start + _WORDS_AT_ONCE].astype(np.float64)
            longest = max(longest, float(row_norms(block).max()))
        # Rounding lengthens a vector by at most √n/2 units.
        room = _LONGEST - math.sqrt(embedding.dimension) / 2 - 1.0
        fraction, exponent = math.frexp(longest / room)
        self.unit = 2.0 ** (exponent - (fraction == 0.5)) if longest > 0.0 else 1.0

    def rows(self, ids: Ids) -> Floats:
        """Return the grid vectors of word ids, ⊥ included, in units."""
        return self._on_grid(self._embedding.rows(ids))

    def to_all(self, ids: Ids) -> Floats:
        """Return the distances of each word id (rows, ⊥ included) to all words (columns)."""
        points = self.rows(ids)
        squares = np.einsum("ij,ij->i", points, points)[:, None]
        doubled = points * 2.0
        distances = np.empty((len(ids), len(self._embedding)))
        for start in range(0, len(self._embedding), _WORDS_AT_ONCE):
            block = self._on_grid(self._embedding.vectors[start : start + _WORDS_AT_ONCE])
            part = np.matmul(doubled, block.T)
            np.subtract(squares + np.einsum("ij,ij->i", block, block), part, out=part)
            np.sqrt(part, out=part)
            np.multiply(part, self.unit, out=distances[:, start : start + len(block)])
        return distances

    def to_some(self, ids: Ids, others: Ids) -> Floats:
        """Return the distances of each word id to its own row of other word ids."""
        differences = self.rows(others.ravel()).reshape(*others.shape, -1)
        differences -= self.rows(ids)[:, None, :]
        distances: Floats = np.sqrt(np.einsum("ijk,ijk->ij", differences, differences))
        distances *= self.unit
        return distances

    def between(self, first: int, second: int) -> float:
        """Return the distance of two word ids."""
        return float(self.to_some(np.array([first]), np.array([[second]]))[0, 0])

    def _on_grid(self, vectors: Vectors) -> Floats:
        scaled = vectors.astype(np.float64)
        scaled /= self.unit
        return np.rint(scaled, out=scaled)
