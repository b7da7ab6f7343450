"""Mechanisms that are wrong in ways the audit must catch, each with the promise of the right one."""

from __future__ import annotations

import numpy as np

from deniable import Embedding, Multivariate
from deniable.arrays import Floats, Ids, Vectors
from deniable.interfaces import Randomness
from tests.mechanisms.mutants import RenormalisedMahalanobis


class HalfTheNoise(Multivariate):
    def noise(self, source: Randomness, epsilon: Floats) -> Floats:
        return super().noise(source, 2 * epsilon)


class LessNoise(Multivariate):
    """30 % too little."""

    def noise(self, source: Randomness, epsilon: Floats) -> Floats:
        return super().noise(source, epsilon / 0.7)


class WrongShape(Multivariate):
    """A radius of shape n - 1, or of half the shape on a line: too often near the word."""

    def noise(self, source: Randomness, epsilon: Floats) -> Floats:
        noise = super().noise(source, epsilon)
        n = self.embedding.dimension
        radii = source.gammas(len(noise), n - 1 if n > 1 else 0.5)
        noise *= (radii / epsilon / np.linalg.norm(noise, axis=1))[:, None]
        return noise


class GaussianNoise(Multivariate):
    """Normal noise that promises what exponential noise does."""

    def noise(self, source: Randomness, epsilon: Floats) -> Floats:
        return source.normals(len(epsilon), self.embedding.dimension) / epsilon[:, None]


class BoundedNoise(Multivariate):
    def noise(self, source: Randomness, epsilon: Floats) -> Floats:
        noise = super().noise(source, epsilon)
        lengths = np.linalg.norm(noise, axis=1) * epsilon
        noise *= np.minimum(1.0, 1.0 / lengths)[:, None]
        return noise


class NoNoiseForSome(Multivariate):
    def noise(self, source: Randomness, epsilon: Floats) -> Floats:
        noise = super().noise(source, epsilon)
        noise[source.uniforms(len(noise), 1)[:, 0] < 0.1] = 0.0
        return noise


class _SeesTheInput(Multivariate):
    def draw(self, ids: Ids, source: Randomness, epsilon: Floats) -> Ids:
        return self.choose(ids, self.points(ids, source, epsilon))

    def choose(self, ids: Ids, points: Vectors) -> Ids:
        raise NotImplementedError

    def distances(self, points: Vectors) -> Floats:
        gaps: Floats = np.linalg.norm(
            points[:, None, :].astype(np.float64) - self.embedding.vectors[None], axis=2
        )
        return gaps


class SkipsTheInput(_SeesTheInput):
    """The Vickrey mechanism of a peer: the input word is taken out of the neighbours."""

    def choose(self, ids: Ids, points: Vectors) -> Ids:
        distances = self.distances(points)
        known = ids < len(self.embedding)
        distances[np.flatnonzero(known), ids[known]] = np.inf
        nearest: Ids = distances.argmin(axis=1)
        return nearest


class StartsAtTheInput(_SeesTheInput):
    """A search that keeps the input word unless another one is clearly nearer."""

    def choose(self, ids: Ids, points: Vectors) -> Ids:
        distances = self.distances(points)
        nearest = distances.argmin(axis=1)
        own = distances[np.arange(len(ids)), np.minimum(ids, len(self.embedding) - 1)]
        stays = (ids < len(self.embedding)) & (own < 1.5 * distances.min(axis=1))
        return np.where(stays, ids, nearest)


class PassesUnknownWordsThrough(Multivariate):
    """⊥ comes out as ⊥."""

    def draw(self, ids: Ids, source: Randomness, epsilon: Floats) -> Ids:
        return np.where(ids == self.embedding.unknown_id, ids, super().draw(ids, source, epsilon))


WRONG = (
    HalfTheNoise,
    LessNoise,
    WrongShape,
    GaussianNoise,
    BoundedNoise,
    NoNoiseForSome,
    RenormalisedMahalanobis,
    SkipsTheInput,
    StartsAtTheInput,
    PassesUnknownWordsThrough,
)


def never_changes(embedding: Embedding) -> Multivariate:
    """A mechanism that returns every word as it is."""
    return Multivariate(embedding, epsilon=1e9)
