"""Rays by lengths of noise: one walk along a direction tells all lengths of the noise, and so all ε.

- The multivariate mechanism: length Gamma(n, 1)/ε, direction g uniform on the sphere.
- The Gaussian mechanism: length χ_n/ε, the same directions.
- The Mahalanobis mechanism: length Gamma(n, 1)/ε along A·g. The unit vector of A·g is walked, and what is found at radius r
  belongs to the length r/‖A·g‖.

What else a mechanism does after the noise (Vickrey's second word, a rank) is no function of the nearest word along the ray: such
mechanisms declare no radial noise.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property

import numpy as np

from deniable.arrays import Floats, Ids
from deniable.channel.rays.lengths import length_function
from deniable.channel.rays.rays import SEED, TABLE_BYTES, Envelope, Rays
from deniable.channel.rays.tables import unit_directions, word_tables
from deniable.embeddings.embedding import Embedding
from deniable.noise import RadialNoise

_TABLE_BYTES_FOR_ONE_WORD = 1 << 27


class RadialRays:
    """Walks through an embedding by lengths of noise: ``Rays``, with radii in units of length at ε = 1."""

    def __init__(self, embedding: Embedding, noise: RadialNoise, *, rays: int, table_bytes: int = TABLE_BYTES) -> None:
        """Prepare to follow this many public directions."""
        self.embedding, self.noise, self.rays = embedding, noise, rays
        self.length = length_function(noise)
        self._directions, self._stretch = public_directions(noise, rays)
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
        """Return the walks of one word (or ⊥) without the shared tables: quick to begin, and small in any vocabulary."""
        tables = word_tables(self.embedding, clustered=False)
        engine = Rays(self.embedding, words=tables, directions=self._directions, table_bytes=_TABLE_BYTES_FOR_ONE_WORD)
        return self._by_length(next(engine.envelopes(np.array([word]), furthest=furthest * float(self._stretch.max()))))

    def _by_length(self, walked: Envelope) -> Envelope:
        return walked if self.noise.shape is None else replace(walked, radii=walked.radii / np.repeat(self._stretch, walked.counts))


def public_directions(noise: RadialNoise, rays: int) -> tuple[Floats, Floats]:
    """Return the public directions as unit vectors, and how far one unit of length reaches along each."""
    directions, stretch = unit_directions(rays, noise.dimension, seed=SEED), np.ones(rays)
    if noise.shape is not None:
        directions = directions @ noise.shape
        stretch = np.sqrt(np.einsum("ij,ij->i", directions, directions))
        directions /= stretch[:, None]
    return directions, stretch
