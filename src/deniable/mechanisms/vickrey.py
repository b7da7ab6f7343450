"""The Vickrey mechanism: one of the two nearest words, so that a lonely word changes more often (Xu et al.
2021).

z is the noisy point of the multivariate or the Mahalanobis mechanism; its two nearest words lie at distances
d₁ ≤ d₂. The first is released with probability (1-t)·d₂/(t·d₁ + (1-t)·d₂), the second otherwise. t = 0 is the
plain mechanism, and 0.75 the authors' choice.

Proof. The release is a random function of z alone, so it is post-processing, and the bound is that of z:
exp(ε·d) with d the Euclidean or the Mahalanobis distance. Skipping the *input* word among the neighbours, as
one peer does, uses more than z and breaks the bound: that word is then never released for itself and often
for its neighbours.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np

from deniable.arrays import Floats, Ids
from deniable.embeddings.embedding import Embedding
from deniable.errors import InvalidParameter
from deniable.interfaces import Guarantee, Randomness
from deniable.mechanisms.base import NearestWord
from deniable.mechanisms.mahalanobis import Mahalanobis
from deniable.mechanisms.multivariate import Multivariate
from deniable.neighbours.selection import nearest_released
from deniable.noise.randomness import row_norms
from deniable.parameters import validated_share

Noise = Literal["multivariate", "mahalanobis"]


class Vickrey(NearestWord):
    """Noise, then one of the two nearest words of the noisy point: the guarantee of the noise, fewer words
    unchanged."""

    def __init__(
        self,
        embedding: Embedding,
        epsilon: float,
        *,
        t: float = 0.75,
        noise: Noise = "multivariate",
        lam: float | None = None,
    ) -> None:
        """Prepare the mechanism; ``t`` weighs the second word, and ``lam`` is that of Mahalanobis noise
        (0.2).

        :raises InvalidParameter: if ``epsilon`` is not a finite number greater than 0, ``t`` not in [0, 1],
            ``lam`` not in [0, 1) or given for other noise, or ``noise`` is neither multivariate nor
            mahalanobis.
        """
        super().__init__(embedding, epsilon=epsilon)
        self.t = validated_share(t, "t")
        if noise not in ("multivariate", "mahalanobis"):
            raise InvalidParameter("noise", noise, "must be multivariate or mahalanobis")
        if noise == "multivariate" and lam is not None:
            raise InvalidParameter("lam", lam, "is for noise=mahalanobis only")
        self.plain: NearestWord = (
            Multivariate(embedding, epsilon=epsilon)
            if noise == "multivariate"
            else Mahalanobis(embedding, epsilon=epsilon, lam=0.2 if lam is None else lam)
        )

    @property
    def guarantee(self) -> Guarantee:
        """What is promised for one word: what the noise promises."""
        plain = self.plain.guarantee
        noise = type(self.plain).__name__.lower()
        return replace(plain, parameters={"t": self.t, "noise": noise, **plain.parameters})

    def noise(self, source: Randomness, epsilon: Floats) -> Floats:
        """Return the noise of the multivariate or the Mahalanobis mechanism."""
        return self.plain.noise(source, epsilon)

    def draw(self, ids: Ids, source: Randomness, epsilon: Floats) -> Ids:
        """Return one of the two nearest words of each noisy point."""
        points = self.points(ids, source, epsilon)
        chances = source.uniforms(len(ids), 1)[:, 0]
        if len(self.outputs) < 2:
            return self.neighbours.nearest(points)
        near, _ = nearest_released(self._embedding, self.neighbours, points, 2)
        # Not the distances of the search, whose last bit depends on the processor.
        nearer, further = (
            row_norms(points.astype(np.float64) - self._embedding.rows(near[:, place])) for place in (0, 1)
        )
        weights = np.stack([(1.0 - self.t) * further, self.t * nearer])
        # Only t = 1 with the point on a word gives two zeros: the limit from below is the first word.
        second = chances * weights.sum(axis=0) >= weights[0]
        second &= weights[1] > 0.0
        released: Ids = np.where(second, near[:, 1], near[:, 0])
        return released

    def _log_bound_between(self, difference: Floats) -> float:
        return self.plain._log_bound_between(difference)
