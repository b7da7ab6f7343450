"""The Mahalanobis mechanism: noise stretched along the directions in which the words spread (Xu et al. 2020).

Σ is the covariance matrix of all word vectors divided by its mean diagonal entry, S = λΣ + (1-λ)I and A =
S^{1/2}. The noise is N = Gamma(n, 1/ε)·A·g with g uniform on the sphere; the Euclidean nearest word of φ(w) +
N is released.

Proof. N = A·z where z has density c·exp(-ε‖z‖), so N has density c'·exp(-ε‖N‖_S) with ‖x‖_S = √(xᵀS⁻¹x) =
‖A⁻¹x‖, a norm. By the triangle inequality the densities of φ(w) + N and φ(w') + N at any point differ by at
most the factor exp(ε‖φ(w) - φ(w')‖_S), and the nearest word is post-processing. The bound holds in this norm
and in no other: where the words spread little the noise is small, and ‖·‖_S is larger than the Euclidean norm
(by at most 1/√(1-λ)).

Normalising A·g to length 1 before the radius is applied, as one peer does, gives noise with another density:
its ratio at two points is not bounded by exp(ε‖·‖_S).

Σ is taken from the public embedding, never from private text.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from deniable.arrays import Floats, Vectors
from deniable.embeddings.embedding import Embedding
from deniable.interfaces import Guarantee, Randomness
from deniable.mechanisms.base import NearestWord, metric_privacy
from deniable.noise.randomness import RadialNoise, shaped_noise
from deniable.parameters import validated_share

_ROWS_AT_ONCE = 16_384


class Mahalanobis(NearestWord):
    """Noise shaped like the cloud of words, nearest word: ε·d_S metric privacy in the regularised Mahalanobis
    distance d_S."""

    def __init__(self, embedding: Embedding, epsilon: float, *, lam: float = 0.2) -> None:
        """Prepare the mechanism; ``lam`` is λ, from 0 (round noise) to less than 1 (all of the words' shape).

        :raises InvalidParameter: if ``epsilon`` is not a finite number greater than 0, or ``lam`` not in [0,
            1).
        """
        super().__init__(embedding, epsilon=epsilon)
        # λ = 1 could leave directions without any noise, and words that differ in these without any bound.
        self.lam = validated_share(lam, "lam", below_one=True)

    @property
    def guarantee(self) -> Guarantee:
        """What is promised for one word."""
        return metric_privacy(
            self._epsilon,
            metric="regularised Mahalanobis distance √(xᵀ(λΣ + (1-λ)I)⁻¹x) between word vectors, λ = "
            f"{self.lam:g}; summed over words",
            exponent="ε·d_S(w, w')",
            where=", where d_S is the regularised Mahalanobis distance and not the Euclidean one",
            parameters={"lam": self.lam},
        )

    @cached_property
    def shape(self) -> Floats:
        """The symmetric matrix A that round noise is multiplied by."""
        variances, axes = self._axes
        shape: Floats = (axes * np.sqrt(variances)) @ axes.T
        return shape

    @property
    def radial_noise(self) -> RadialNoise:
        """A length Gamma(n, 1)/ε along A·g, where g is uniform on the sphere."""
        return RadialNoise(lengths="gamma", dimension=self._embedding.dimension, shape=self.shape)

    def noise(self, source: Randomness, epsilon: Floats) -> Floats:
        """Return one noise vector with density proportional to exp(-ε‖A⁻¹x‖) for each ε."""
        return shaped_noise(source, epsilon, len(epsilon), self.shape)

    def _log_bound_between(self, difference: Floats) -> float:
        variances, axes = self._axes
        return self._epsilon * float(np.linalg.norm((difference @ axes) / np.sqrt(variances)))

    @cached_property
    def _axes(self) -> tuple[Floats, Floats]:
        covariance = _covariance(self._embedding.vectors)
        variance = float(np.trace(covariance)) / len(covariance)
        # Words that do not spread at all have no shape: their noise stays round.
        sigma = covariance / variance if variance > 0.0 else np.eye(len(covariance))
        values, axes = np.linalg.eigh(self.lam * sigma + (1.0 - self.lam) * np.eye(len(sigma)))
        return np.maximum(values, 1.0 - self.lam), axes


def _covariance(vectors: Vectors) -> Floats:
    """Return the covariance of all rows, in float64 and a block at a time."""
    mean = vectors.mean(axis=0, dtype=np.float64)
    total = np.zeros((vectors.shape[1], vectors.shape[1]))
    for start in range(0, len(vectors), _ROWS_AT_ONCE):
        centred = vectors[start : start + _ROWS_AT_ONCE] - mean
        total += centred.T @ centred
    return total / len(vectors)
