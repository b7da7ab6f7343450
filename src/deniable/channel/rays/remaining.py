"""First breakpoints after words were taken out of a vocabulary, from those that were found with them.

From a word along a direction, its cell ends at R₁: the least of the radii at which another word takes over. A least value stays when larger
ones are taken away, so if the word behind R₁ is still there, R₁ is what it was. Otherwise it is found again among the words that are left.

Which rays these are is found exactly: each word's rays are followed among the words that were taken out alone. Where one of those takes
over at R₁ or before, which is where it took over, the ray is followed again. R₁ may be known rounded up; then a ray may be followed for
nothing, and none is missed. So the answer is the same, to the last bit, as that of all rays followed anew.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from deniable.arrays import Floats, Ids, Vectors
from deniable.channel.rays.numpy_rays import NumpyRays
from deniable.channel.rays.rays import public_directions, ray_paths
from deniable.channel.rays.tables import TILE, RayTables, WordTables, bounds, ray_tables, word_tables
from deniable.embeddings.embedding import Embedding, LeftOut
from deniable.embeddings.leaving_out import keep_rows
from deniable.neighbours.threads import threads
from deniable.randomness import RadialNoise

Values = TypeVar("Values", bound=np.generic)

_ORIGINS_AT_ONCE = 256
_MOST_RAYS_APART = 0.6
"""From this share of the rays on, all of them are followed: to put the others aside costs more."""


class Origins(NamedTuple):
    """Words to start from, as tables take them: ``starts`` are their places there."""

    vectors: Vectors
    half: Vectors
    slack: Vectors
    starts: Ids

    def one(self, place: int) -> Origins:
        """Return one of them."""
        row = slice(place, place + 1)
        return Origins(self.vectors[row], self.half[row], self.slack[row], self.starts[row])


class RemainingRays:
    """Follows rays through an embedding from which words were left out, only where those words took over.

    ``followed`` counts the rays that were followed again, of ``asked`` in all.
    """

    def __init__(self, embedding: Embedding, left_out: LeftOut, noise: RadialNoise, *, rays: int, path: str | None = None) -> None:
        """Put the words that are left in one table, and those that are gone in another."""
        directions, self._stretch = public_directions(noise, rays)
        path = path or ray_paths()[0]
        self._embedding = embedding
        self._left = _Tables(word_tables(embedding), directions, path)
        self._gone = _Tables(_with_places(_words_gone(left_out)), directions, path)
        self.followed = self.asked = 0

    def first_breakpoints(self, ids: Ids, known: Floats) -> Floats:
        """Return for each word, by its id among those that are left, and ray the length at which its cell ends.

        ``known`` are these lengths with all words, exact or rounded up. Where nothing changed, they are returned as they are.
        """
        found: Floats = np.array(known, dtype=np.float64)
        with ThreadPoolExecutor(threads()) as pool:
            for start in range(0, len(ids), _ORIGINS_AT_ONCE):
                part, words = found[start : start + _ORIGINS_AT_ONCE], ids[start : start + _ORIGINS_AT_ONCE]
                gone = self._among_those_gone(words)
                changed = (gone <= part) & np.isfinite(gone)
                self.followed, self.asked = self.followed + int(changed.sum()), self.asked + changed.size
                rows = np.flatnonzero(changed.any(axis=1))
                if not len(rows):
                    continue
                origins = self._left.origins(self._embedding, words[rows], self._left.words.positions[words[rows]])
                again = list(pool.map(self._left.follow_some, map(origins.one, range(len(rows))), changed[rows]))
                for row, lengths in zip(rows.tolist(), again, strict=True):
                    part[row, changed[row]] = self._lengths(lengths, self._left, changed[row])
        return found

    def _among_those_gone(self, words: Ids) -> Floats:
        """Return where the cells of these words would end if there were no words but them and those that are gone, one by one."""
        first = len(self._gone.words.vectors) - _ORIGINS_AT_ONCE // TILE
        places = self._gone.words.vectors[first:].reshape(_ORIGINS_AT_ONCE, -1)
        places[: len(words)] = self._embedding.rows(words) * np.float32(self._gone.words.factor)
        self._gone.words.slack[first:] = bounds(places)[2].max()
        origins = self._gone.origins(self._embedding, words, first * TILE + np.arange(len(words)))
        return self._lengths(self._gone.follow(self._gone.rays, origins, threads()), self._gone, slice(None))

    def _lengths(self, radii: Floats, tables: _Tables, rays: NDArray[np.bool_] | slice) -> Floats:
        lengths: Floats = radii / tables.words.factor
        lengths /= self._stretch[rays]
        return lengths


class _Tables:
    """Words, and their projections on all directions."""

    def __init__(self, words: WordTables, directions: Floats, path: str) -> None:
        self.words, self.rays, self.path = words, ray_tables(words, directions), path

    def origins(self, embedding: Embedding, ids: Ids, places: Ids) -> Origins:
        """Return these words of an embedding as origins, which stand in these places of the tables."""
        vectors: Vectors = embedding.rows(ids) * np.float32(self.words.factor)
        half, _, slack = bounds(vectors)
        return Origins(vectors, half, slack, places)

    def follow_some(self, origin: Origins, wanted: NDArray[np.bool_]) -> Floats:
        """Return the first breakpoints of one origin on the wanted rays, and on no others."""
        rays = np.flatnonzero(wanted)
        if len(rays) > _MOST_RAYS_APART * len(wanted):
            found: Floats = self.follow(self.rays, origin, 1)[0, rays]
            return found
        chosen = RayTables(directions=self.rays.directions[rays], projections=self.rays.projections[rays], highest=self.rays.highest[rays])
        some: Floats = self.follow(chosen, origin, 1)[0]
        return some

    def follow(self, rays: RayTables, origins: Origins, at_once: int) -> Floats:
        """Return the first breakpoints of the origins on these rays, by this many threads."""
        if self.path == "numpy":
            return NumpyRays(self.words, rays).first(*origins)[0]
        from deniable.neighbours import _native

        w = self.words
        engine = _native.Rays(w.vectors, w.ids, w.half, w.slack, rays.projections, rays.highest, rays.directions)
        shape = len(origins[0]), len(rays.directions)
        radii, winners = np.empty(shape), np.empty(shape, dtype=np.int64)
        engine.first(*origins, radii, winners, self.path, at_once)
        return radii


def _words_gone(left_out: LeftOut) -> WordTables:
    """Return the words that were left out in tiles, scaled as all words: the longest is among them, and wins nothing if it stayed."""
    source = left_out.source
    longest = int(np.argmax(np.einsum("ij,ij->i", source.vectors, source.vectors, dtype=np.float64)))
    gone = np.delete(np.arange(len(source)), left_out.kept)
    among = np.union1d(gone, longest)
    words = word_tables(keep_rows(source, among))
    half = words.half.copy().reshape(-1)
    half[words.positions[~np.isin(among, gone)]] = np.inf
    return replace(words, half=half.reshape(words.half.shape))


def _with_places(words: WordTables) -> WordTables:
    """Return the tables with empty places at the end, for words to start from that win nothing."""
    tiles = _ORIGINS_AT_ONCE // TILE

    def extended(values: NDArray[Values], filler: float) -> NDArray[Values]:
        return np.concatenate([values, np.full((tiles, *values.shape[1:]), filler, dtype=values.dtype)])

    return replace(
        words,
        vectors=extended(words.vectors, 0),
        ids=extended(words.ids, len(words.positions)),
        half=extended(words.half, np.inf),
        gaps=extended(words.gaps, 0),
        slack=extended(words.slack, 0),
    )
