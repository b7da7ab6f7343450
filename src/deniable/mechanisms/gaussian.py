"""The Gaussian mechanism: normal noise on the word's vector, nearest word.

The noise is Normal(0, σ²I) with σ = 1/ε. Two words at distance d have noisy points N(φ(w), σ²I) and N(φ(w'),
σ²I); telling them apart is telling N(0, 1) from N(d/σ, 1) (project on the line through both). That is
μ-Gaussian differential privacy with μ = d/σ = ε·d (Dong, Roth, Su 2022), and the nearest word is
post-processing. In the words of (ε', δ): for every ε' the pair satisfies δ(ε') = Φ(-ε'/μ + μ/2) -
exp(ε')·Φ(-ε'/μ - μ/2) (Balle and Wang 2018, theorem 8).

No finite bound on the ratio of probabilities holds: ``log_bound`` is infinite for words with different
vectors.
"""

from __future__ import annotations

import math

import numpy as np

from deniable.arrays import Floats
from deniable.interfaces import Guarantee, Randomness
from deniable.mechanisms.base import NearestWord
from deniable.noise.randomness import RadialNoise


class Gaussian(NearestWord):
    """Normal noise with standard deviation 1/ε in every coordinate, nearest word: ε·d-Gaussian differential
    privacy."""

    @property
    def sigma(self) -> float:
        """The standard deviation of the noise in every coordinate: 1/ε."""
        return 1.0 / self._epsilon

    @property
    def guarantee(self) -> Guarantee:
        """What is promised for one word."""
        return Guarantee(
            notion="metric Gaussian differential privacy (μ-GDP with μ = ε·d)",
            metric="Euclidean distance between word vectors; over the words of a text, μ is the root of the "
            "sum of squares",
            epsilon=self._epsilon,
            statement=(
                "For any two words w and w', known or unknown: telling M(w) from M(w') is at least as hard "
                "as telling Normal(0, 1) from Normal(μ, 1), μ = ε·‖φ(w) - φ(w')‖ = ‖φ(w) - φ(w')‖/σ. For "
                "every ε' it is (ε', δ)-private with δ = Φ(-ε'/μ + μ/2) - exp(ε')·Φ(-ε'/μ - μ/2). No bound "
                "on the ratio of probabilities alone is promised."
            ),
            exposed="with probability δ(ε') the ratio exceeds exp(ε'), for any ε'",
            caveat=(
                "This ε is 1/σ, the rate of Gaussian differential privacy per unit of distance between word "
                "vectors. It is not the ε of local differential privacy, nor that of metric privacy, and "
                "does not compare across embeddings."
            ),
        )

    @property
    def radial_noise(self) -> RadialNoise:
        """A length χ_n/ε along a direction that is uniform on the sphere."""
        return RadialNoise(lengths="chi", dimension=self._embedding.dimension)

    def noise(self, source: Randomness, epsilon: Floats) -> Floats:
        """Return one normal vector with standard deviation 1/ε for each ε."""
        noise = source.normals(len(epsilon), self._embedding.dimension)
        noise /= epsilon[:, None]
        return noise

    def mu(self, first: int, second: int) -> float:
        """Return μ of Gaussian differential privacy for two word ids: their distance divided by σ."""
        return self._epsilon * float(np.linalg.norm(self._difference(first, second)))

    def delta(self, first: int, second: int, epsilon: float) -> float:
        """Return the δ for which two word ids are (ε', δ)-private, ``epsilon`` being ε'."""
        from scipy.special import log_ndtr

        mu = self.mu(first, second)
        if mu == 0.0:
            return 0.0
        high, low = float(log_ndtr(-epsilon / mu + mu / 2)), float(log_ndtr(-epsilon / mu - mu / 2))
        return max(0.0, math.exp(high) - math.exp(epsilon + low))

    def _log_bound_between(self, difference: Floats) -> float:
        return math.inf if np.any(difference) else 0.0
