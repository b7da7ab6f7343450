"""Rays: what a word becomes at every radius at once, and so at every ε.

Noise is r·g with g uniform on the sphere and r = G/ε, G ~ Gamma(n, 1). From φ(w) along g the released word at
radius r is argmax_u r·⟨g, φ_u - φ_w⟩ - ‖φ_u - φ_w‖²/2: the upper envelope of one line per word. One walk
along the envelope gives the released word for every r. The first breakpoint R₁ is where w's own cell ends:
Pr[M(w) = w | g] = Pr[G ≤ ε·R₁].

The directions are shared by all words, which makes their projections a table that is computed once. This is
for calibration only: releases never share directions.

Words that share a vector: the first of them is released for all, so its cell counts as the own cell of each.
Likewise a protected word goes in as the word that stands in for it, and has that one's rays and cell.

``Rays`` counts in lengths of noise at ε = 1, so that one walk tells all ε:

- The multivariate mechanism: length Gamma(n, 1)/ε, direction g uniform on the sphere.
- The Gaussian mechanism: length χ_n/ε, the same directions.
- The Mahalanobis mechanism: length Gamma(n, 1)/ε along A·g. The unit vector of A·g is walked, and what is
  found at radius r belongs to the length r/‖A·g‖.

What else a mechanism does after the noise (Vickrey's second word, a rank) is no function of the nearest word
along the ray: such mechanisms declare no radial noise.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.arrays import Floats, Ids, Vectors
from deniable.channel.rays.numpy_rays import NumpyRays
from deniable.channel.rays.tables import WordTables, bounds, ray_tables, unit_directions, word_tables
from deniable.embeddings.embedding import Embedding
from deniable.errors import InvalidParameter
from deniable.neighbours import best_neighbours
from deniable.neighbours.selection import first_of_each
from deniable.neighbours.threads import threads
from deniable.noise.randomness import RadialNoise
from deniable.parameters import validated_count

SEED = 1
"""Every calibration uses the same public directions, so results can be compared and cached."""

TABLE_BYTES = 2 << 30
"""Projections take at most so much memory, by default: more rays are taken through the words in
several parts."""

_TABLE_BYTES_FOR_ONE_WORD = 1 << 27
_PRODUCTS_AT_ONCE = 1 << 26
_MOST_ORIGINS = 256
_BYTES_PER_PROJECTION = 2


@dataclass(frozen=True, kw_only=True)
class Envelope:
    """The walks of one word along all rays: ray j passes ``counts[j]`` breakpoints after its start in the
    cell of ``start``.

    ``winners`` and ``radii`` hold, ray after ray, the word that takes over and where.
    """

    start: int
    counts: Ids
    winners: Ids
    radii: Floats

    def at(self, radii: Floats) -> Ids:
        """Return the released word of each ray at one radius per ray."""
        ends = np.cumsum(self.counts)
        owners = np.repeat(np.arange(len(self.counts)), self.counts)
        passed = np.bincount(owners[self.radii <= radii[owners]], minlength=len(self.counts))
        words, moved = np.full(len(self.counts), self.start, dtype=np.int64), passed > 0
        words[moved] = self.winners[(ends - self.counts + passed - 1)[moved]]
        return words

    @cached_property
    def pieces(self) -> Pieces:
        """The pieces of all rays, put together once for all ε."""
        rays, ends = len(self.counts), np.cumsum(self.counts + 1)
        owners = np.repeat(np.arange(rays), self.counts + 1)
        first, last = np.zeros(len(owners), dtype=bool), np.zeros(len(owners), dtype=bool)
        first[ends - self.counts - 1], last[ends - 1] = True, True
        begins, words = np.zeros(len(owners)), np.full(len(owners), self.start, dtype=np.int64)
        begins[~first], words[~first] = self.radii, self.winners
        # What np.unique gives, without sorting: ids are small numbers.
        place_of = np.zeros(int(words.max(initial=0)) + 1, dtype=np.int64)
        place_of[words] = 1
        met = np.flatnonzero(place_of)
        place_of[met] = np.arange(len(met))
        places = place_of[words]
        return Pieces(owners=owners, begins=begins, last=last, met=met, places=places)


@dataclass(frozen=True, kw_only=True)
class Pieces:
    """What a word's rays pass, ray after ray: piece i of ray ``owners[i]`` begins at ``begins[i]`` in the
    cell of ``met[places[i]]``.

    ``last`` marks the pieces that do not end, and ``met`` holds every word once, in rising order.
    """

    owners: Ids
    begins: Floats
    last: NDArray[np.bool_]
    met: Ids
    places: Ids


class Rays:
    """Shared rays through an embedding, by lengths of noise."""

    def __init__(
        self,
        embedding: Embedding,
        noise: RadialNoise | None = None,
        *,
        rays: int = 1000,
        seed: int = SEED,
        path: str | None = None,
        clustered: bool = True,
        table_bytes: int = TABLE_BYTES,
    ) -> None:
        """Prepare to follow this many public directions; tables are made on first use.

        Lengths are radii without a ``noise``, or if it has no shape. ``path`` forces native code for an
        instruction set, or "numpy" for none. If the projections do not fit in ``table_bytes``, which takes 2
        bytes for each word and ray, every question goes through the rays in parts, and each part's
        projections are computed again: the answers are the same, and few questions about many words are much
        faster than many about few. Not ``clustered``, words are there sooner and little can be ruled out.

        :raises InvalidParameter: if ``rays`` is not a whole number of at least 1, or the machine has no such
            path.
        """
        self.embedding, self.rays = embedding, validated_count(rays, "rays")
        self.noise = noise or RadialNoise(lengths="gamma", dimension=embedding.dimension)
        self.path, self._clustered = _chosen(path), clustered
        self._room = validated_count(table_bytes, "table_bytes")
        self.directions, self._stretch = unit_directions(rays, embedding.dimension, seed=seed), np.ones(rays)
        if self.noise.shape is not None:
            self.directions = self.directions @ self.noise.shape
            self._stretch = np.sqrt(np.einsum("ij,ij->i", self.directions, self.directions))
            self.directions /= self._stretch[:, None]

    @property
    def in_parts(self) -> bool:
        """Whether the projections of all rays are too large to be kept."""
        return len(self._slices) > 1

    @property
    def order(self) -> Ids:
        """All word ids in the order in which they are looked at fastest: words that lie together follow one
        another."""
        return self._ids[: len(self.embedding)]

    def place(self, ids: Ids) -> Ids:
        """Return where the words stand in ``order``."""
        return self._words.positions[ids]

    def first_breakpoints(self, ids: Ids) -> tuple[Floats, Ids]:
        """Return for each word and ray the length at which its cell ends, and the word behind; infinity and
        -1 for no end."""
        radii, winners = np.empty((len(ids), self.rays)), np.empty((len(ids), self.rays), dtype=np.int64)
        for rays, part in self._parts():
            for rows, origins in self._origins(ids):
                radii[rows, rays], winners[rows, rays] = part.first(*origins)
        outside = winners < 0
        winners = self._ids[winners]
        winners[outside] = -1
        radii /= self._words.factor
        radii /= self._stretch
        return radii, winners

    def envelopes(self, ids: Ids, *, furthest: float = np.inf) -> Iterator[Envelope]:
        """Yield each word's walks up to this length at least; an id of ⊥ starts in the cell of the word
        nearest to it."""
        reach = furthest * float(self._stretch.max())
        if not self.in_parts:
            for rays, part in self._parts():
                yield from self._walked(part, ids, reach, self._stretch[rays])
            return
        parts = [list(self._walked(part, ids, reach, self._stretch[rays])) for rays, part in self._parts()]
        yield from map(_joined, zip(*parts, strict=True))

    def envelope(self, word: int, *, furthest: float) -> Envelope:
        """Return the walks of one word (or ⊥) without the shared tables: quick to begin, and small in any
        vocabulary."""
        alone = self._without("_words", "_slices", "_whole", "_flat", "_ids")
        alone._clustered, alone._room = False, _TABLE_BYTES_FOR_ONE_WORD
        return next(alone.envelopes(np.array([word]), furthest=furthest))

    def some(self, rays: slice) -> Rays:
        """Return some of the rays, over the same table of words."""
        some = self._without("_slices", "_whole")
        some.directions, some._stretch = self.directions[rays], self._stretch[rays]
        some.rays = len(some.directions)
        return some

    def _without(self, *tables: str) -> Rays:
        other = copy(self)
        for table in tables:
            other.__dict__.pop(table, None)
        return other

    def winners_at(self, ids: Ids, lengths: Floats, *, stays: NDArray[np.bool_] | None = None) -> Ids:
        """Return the released word of each word and ray at one length per ray: what ``Envelope.at`` says,
        without the walk.

        ``stays`` marks rays that are known to be still in the cell they begin in.
        """
        winners = np.full((len(ids), self.rays), -1, dtype=np.int64)
        still = np.zeros(winners.shape, dtype=np.uint8) if stays is None else stays.astype(np.uint8)
        radii = lengths * self._stretch * self._words.factor
        for rays, part in self._parts():
            along = np.ascontiguousarray(radii[rays])
            for rows, origins in self._origins(ids):
                winners[rows, rays] = part.at(*origins, along, np.ascontiguousarray(still[rows, rays]))
        return self._ids[winners]

    @cached_property
    def _words(self) -> WordTables:
        return word_tables(self.embedding, clustered=self._clustered)

    @cached_property
    def _flat(self) -> Vectors:
        return self._words.vectors.reshape(-1, self.embedding.dimension)

    @cached_property
    def _ids(self) -> Ids:
        return self._words.ids.reshape(-1)

    @cached_property
    def _slices(self) -> list[slice]:
        at_once = max(1, self._room // (_BYTES_PER_PROJECTION * len(self._flat)))
        return [slice(start, min(start + at_once, self.rays)) for start in range(0, self.rays, at_once)]

    @cached_property
    def _whole(self) -> _Part | None:
        return None if self.in_parts else _Part(self._words, self.directions, self.path)

    def _walked(self, part: _Part, ids: Ids, reach: float, stretch: Floats) -> Iterator[Envelope]:
        factor = self._words.factor
        for _, origins in self._origins(ids):
            walks = part.walk(*origins, reach * factor)
            for start, (counts, winners, radii) in zip(origins[3], walks, strict=True):
                yield Envelope(
                    start=int(self._ids[start]),
                    counts=counts.astype(np.int64),
                    winners=self._ids[winners],
                    radii=radii / factor / np.repeat(stretch, counts),
                )

    def _parts(self) -> Iterator[tuple[slice, _Part]]:
        for rays in self._slices:
            yield rays, self._whole or _Part(self._words, self.directions[rays], self.path)

    def _origins(self, ids: Ids) -> Iterator[tuple[slice, tuple[Vectors, Vectors, Vectors, Ids]]]:
        ids = self.embedding.stands_in(np.asarray(ids, dtype=np.int64))
        first = first_of_each(self.embedding)
        at_once = min(max(1, _PRODUCTS_AT_ONCE // len(self._flat)), _MOST_ORIGINS)
        for start in range(0, len(ids), at_once):
            part = ids[start : start + at_once]
            vectors: Vectors = self.embedding.rows(part) * np.float32(self._words.factor)
            half, _, slack = bounds(vectors)
            unknown = part == self.embedding.unknown_id
            starts = first[np.where(unknown, 0, part)]
            if unknown.any():
                starts[unknown] = best_neighbours(self.embedding).nearest(self.embedding.unknown[None, :])[0]
            yield slice(start, start + len(part)), (vectors, half, slack, self._words.positions[starts])


class _Part:
    """The projections on some of the directions, and what walks on them."""

    def __init__(self, words: WordTables, directions: Floats, path: str) -> None:
        tables = ray_tables(words, directions)
        self._path, self._rays = path, len(directions)
        self._numpy = NumpyRays(words, tables) if path == "numpy" else None
        if path != "numpy":
            from deniable.neighbours import _native

            of_words = (words.vectors, words.ids, words.half, words.slack)
            self._native: Any = _native.Rays(*of_words, tables.projections, tables.highest, tables.directions)

    def first(self, *origins: Any) -> tuple[Floats, Ids]:
        if self._numpy is not None:
            return self._numpy.first(*origins)
        shape = len(origins[0]), self._rays
        radii, winners = np.empty(shape), np.empty(shape, dtype=np.int64)
        self._native.first(*origins, radii, winners, self._path, threads())
        return radii, winners

    def walk(self, *origins_and_reach: Any) -> Any:
        if self._numpy is not None:
            return self._numpy.walk(*origins_and_reach)
        return self._native.walk(*origins_and_reach, self._path, threads())

    def at(self, *origins_and_ends: Any) -> Ids:
        if self._numpy is not None:
            return self._numpy.at(*origins_and_ends)
        winners: Ids = np.full((len(origins_and_ends[0]), self._rays), -1, dtype=np.int64)  # none is likely
        self._native.at(*origins_and_ends, winners, self._path, threads())
        return winners


def _joined(parts: tuple[Envelope, ...]) -> Envelope:
    return Envelope(
        start=parts[0].start,
        counts=np.concatenate([part.counts for part in parts]),
        winners=np.concatenate([part.winners for part in parts]),
        radii=np.concatenate([part.radii for part in parts]),
    )


def ray_paths() -> list[str]:
    """Return the ways this machine can walk rays, fastest first."""
    try:
        from deniable.neighbours import _native
    except ImportError:
        return ["numpy"]
    return [*_native.ray_paths(), "numpy"]


def _chosen(path: str | None) -> str:
    usable = ray_paths()
    if path is not None and path not in usable:
        raise InvalidParameter("path", path, f"must be one this machine has: {', '.join(usable)}")
    return path or usable[0]
