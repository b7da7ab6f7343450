"""Noise that goes straight: a length times a direction, so that one walk along a direction tells all lengths and all ε.

- The multivariate mechanism: length Gamma(n, 1)/ε, direction g uniform on the sphere.
- The Gaussian mechanism: length χ_n/ε, the same directions.
- The Mahalanobis mechanism: length Gamma(n, 1)/ε along A·g. The unit vector of A·g is walked, and what is found at radius r
  belongs to the length r/‖A·g‖.

What else a mechanism does after the noise (Vickrey's second word, a rank) is no function of the nearest word along the ray: such
mechanisms have no straight noise here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from deniable.arrays import Floats, Ids
from deniable.channel.rays.lengths import ChiFunction, GammaFunction, LengthFunction
from deniable.channel.rays.rays import SEED, TABLE_BYTES, Envelope, Rays
from deniable.channel.rays.single import word_envelope
from deniable.channel.rays.tables import unit_directions
from deniable.embeddings.embedding import Embedding
from deniable.interfaces import Mechanism
from deniable.mechanisms.gaussian import Gaussian
from deniable.mechanisms.mahalanobis import Mahalanobis
from deniable.mechanisms.multivariate import Multivariate


@dataclass(frozen=True, kw_only=True)
class RadialNoise:
    """How long noise is at ε = 1, and the matrix that directions are multiplied by, if any."""

    length: LengthFunction
    shape: Floats | None = field(default=None, repr=False)

    def directions(self, rays: int) -> tuple[Floats, Floats]:
        """Return the public directions as unit vectors, and how far one unit of length reaches along each."""
        directions, stretch = unit_directions(rays, self.length.dimension, seed=SEED), np.ones(rays)
        if self.shape is not None:
            directions = directions @ self.shape
            stretch = np.sqrt(np.einsum("ij,ij->i", directions, directions))
            directions /= stretch[:, None]
        return directions, stretch


def radial_noise(mechanism: Mechanism) -> RadialNoise | None:
    """Return the noise of a mechanism that releases the word nearest to straight noise, or None for any other."""
    dimension = mechanism.embedding.dimension
    # Not isinstance: a subclass may draw otherwise.
    if type(mechanism) is Multivariate:
        return RadialNoise(length=GammaFunction(dimension))
    if type(mechanism) is Gaussian:
        return RadialNoise(length=ChiFunction(dimension))
    if type(mechanism) is Mahalanobis:
        return RadialNoise(length=GammaFunction(dimension), shape=mechanism.shape)
    return None


class RadialRays:
    """Walks through an embedding by lengths of noise: ``Rays``, with radii in units of length at ε = 1."""

    def __init__(self, embedding: Embedding, noise: RadialNoise, *, rays: int, table_bytes: int = TABLE_BYTES) -> None:
        """Prepare to follow so many public directions."""
        self.embedding, self.noise, self.rays = embedding, noise, rays
        self._directions, self._stretch = noise.directions(rays)
        self._table_bytes = table_bytes

    @cached_property
    def tables(self) -> Rays:
        """The tables shared by all words, made on first use."""
        return Rays(self.embedding, directions=self._directions, table_bytes=self._table_bytes)

    def first_breakpoints(self, ids: Ids) -> Floats:
        """Return for each word and ray the length at which its cell ends."""
        radii, _ = self.tables.first_breakpoints(ids)
        radii /= self._stretch
        return radii

    def envelopes(self, ids: Ids, *, furthest: float) -> Iterator[Envelope]:
        """Yield each word's walks up to this length at least."""
        for walked in self.tables.envelopes(ids, furthest=furthest * float(self._stretch.max())):
            yield self._by_length(walked)

    def envelope(self, word: int, *, furthest: float) -> Envelope:
        """Return one word's walks without the shared tables, for a few words of a large vocabulary."""
        reach = furthest * float(self._stretch.max())
        return self._by_length(word_envelope(self.embedding, word, rays=self.rays, furthest=reach, directions=self._directions))

    def _by_length(self, walked: Envelope) -> Envelope:
        return walked if self.noise.shape is None else replace(walked, radii=walked.radii / np.repeat(self._stretch, walked.counts))
