"""The tables that the rays are walked on: words in tiles, their projections, and bounds rounded outward.

Everything is scaled by a power of two so that the longest vector is at most 1 long; radii are scaled back at
the end. The tables only rule words out. What is left is computed in float64 (``numpy_rays.py`` and
``native/rays.cpp``).

The bounds, with u = 2⁻²⁴. A_u = ‖u - x‖²/2 is taken as (h_u + h_x) - p with p = ⟨u, x⟩ from a float32 matrix
product: p is off by at most γ_n·‖u‖‖x‖ ≤ γ_n·(h_u + h_x), the sums by a few u·(h_u + h_x), so h is lowered by
(n + 16)·u of itself. A projection is a float32 product too, of a direction rounded to float32: off by less
than (n + 16)·u·‖u‖, which is the slack. It is kept as a whole number of units of 1/32,500: what the
projection and the slack come to, rounded up. So a projection is at most its number of units, and at least one
unit and twice the slack less.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deniable.arrays import Floats, Ids, Vectors
from deniable.embeddings.embedding import Embedding

TILE = 32
"""Words that lie together, so that one test can rule all of them out."""

TILES_AT_ONCE = 64
UNIT = 1.0 / 32_500
NEVER = -32_768
"""The projection of what cannot win: no word's is as low."""

_LEAST = 1e-36
_CACHE_LINE = 64
_UNIT_ROUNDOFF = 2.0**-24
_TILES_PROJECTED_AT_ONCE = 256
_WORDS_TO_FIND_THE_SPREAD, _TURNS = 2048, 4


@dataclass(frozen=True, kw_only=True)
class WordTables:
    """The words in the order of the tiles; ``positions[id]`` is a word's place in it."""

    factor: float
    vectors: Vectors  # (tiles, 32, dimension)
    ids: Ids  # (tiles, 32), the number of words where a place is empty
    positions: Ids
    half: Vectors  # (tiles, 32), infinite for a word that cannot win
    gaps: Vectors
    slack: Vectors  # (tiles,)

    @property
    def tiles(self) -> int:
        """The number of tiles."""
        return len(self.vectors)

    @property
    def dimension(self) -> int:
        """The number of coordinates of a vector."""
        return int(self.vectors.shape[2])


@dataclass(frozen=True, kw_only=True)
class RayTables:
    """Directions and the words' projections on them."""

    directions: Floats  # (rays, dimension)
    projections: NDArray[np.int16]  # (rays, tiles padded, 32), in units
    highest: NDArray[np.int16]  # (rays, tiles padded), in units


def word_tables(embedding: Embedding, *, clustered: bool = True) -> WordTables:
    """Return the words of an embedding in tiles; not clustered, they are there sooner and little can be ruled
    out."""
    vectors = np.asarray(embedding.vectors, dtype=np.float32)
    words, dimension = vectors.shape
    longest = max(
        float(np.sqrt(np.square(vectors[i : i + 16_384], dtype=np.float64).sum(axis=1).max()))
        for i in range(0, words, 16_384)
    )
    factor = math.ldexp(1.0, -math.frexp(longest)[1]) if longest > 0.0 else 1.0
    factor = min(max(factor, 2.0**-120), 2.0**120)
    order = tiled_order(vectors * np.float32(factor)) if clustered else np.arange(words, dtype=np.int64)
    tiles = -(-words // TILE)
    ids = np.full(tiles * TILE, words, dtype=np.int64)
    ids[:words] = order
    positions = np.empty(words, dtype=np.int64)
    positions[order] = np.arange(words)
    placed = np.zeros((tiles * TILE, dimension), dtype=np.float32)
    placed[:words] = vectors[order]
    placed *= np.float32(factor)
    half, gaps, slack = bounds(placed)
    half[words:] = np.inf
    half[positions[embedding.shadowed]] = np.inf
    return WordTables(
        factor=factor,
        vectors=placed.reshape(tiles, TILE, dimension),
        ids=ids.reshape(tiles, TILE),
        positions=positions,
        half=half.reshape(tiles, TILE),
        gaps=gaps.reshape(tiles, TILE),
        slack=slack.reshape(tiles, TILE).max(axis=1),
    )


def bounds(vectors: Vectors) -> tuple[Vectors, Vectors, Vectors]:
    """Return, for scaled vectors, half of the squared norm rounded down, what that may lack in A, and the
    slack of projections."""
    squares = np.empty(len(vectors))
    for start in range(0, len(vectors), 16_384):
        squares[start : start + 16_384] = np.square(vectors[start : start + 16_384], dtype=np.float64).sum(
            axis=1
        )
    relative = (vectors.shape[1] + 16) * _UNIT_ROUNDOFF * 1.1
    half = (0.5 * squares * (1.0 - relative) - _LEAST).astype(np.float32)
    gaps = (0.5 * squares * 3.0 * relative + 4.0 * _LEAST).astype(np.float32)
    slack = (np.sqrt(squares) * relative + _LEAST).astype(np.float32)
    return half, gaps, slack


def ray_tables(words: WordTables, directions: Floats) -> RayTables:
    """Return the projections of all words on the directions."""
    tiles, rays = words.tiles, len(directions)
    padded = -(-tiles // TILES_AT_ONCE) * TILES_AT_ONCE
    projections = _lines((rays, padded, TILE))
    highest = _lines((rays, padded))
    along = directions.astype(np.float32)
    at_once = max(1, _TILES_PROJECTED_AT_ONCE * 1000 // max(rays, 1000))
    for start in range(0, tiles, at_once):
        part = slice(start, min(start + at_once, tiles))
        projected = along @ words.vectors[part].reshape(-1, words.dimension).T
        projected += np.repeat(words.slack[part], TILE)
        projected *= np.float32(1.0 / UNIT)
        np.floor(projected, out=projected)
        projected += np.float32(1.0)
        projected[:, np.isinf(words.half[part].reshape(-1))] = NEVER
        projections[:, part] = projected.reshape(rays, -1, TILE)
        highest[:, part] = projections[:, part].max(axis=2)
    return RayTables(directions=directions, projections=projections, highest=highest)


def _lines(shape: tuple[int, ...]) -> NDArray[np.int16]:
    """Return numbers that begin with a line of the cache, so that no tile lies across two."""
    count = math.prod(shape)
    room = np.empty(count + _CACHE_LINE // 2, dtype=np.int16)
    start = -room.ctypes.data % _CACHE_LINE // 2
    lines: NDArray[np.int16] = room[start : start + count].reshape(shape)
    lines[...] = NEVER
    return lines


def unit_directions(rays: int, dimension: int, *, seed: int) -> Floats:
    """Return directions uniform on the sphere. The seed is public: calibration looks at public words and
    releases nothing. In one dimension there are two, in turn: of an even number nothing is left to chance."""
    if dimension == 1:
        return np.resize(np.array([1.0, -1.0]), (rays, 1))
    normals: NDArray[np.float64] = np.random.Generator(np.random.PCG64([seed, dimension])).standard_normal(
        (rays, dimension)
    )
    lengths = np.sqrt((normals * normals).sum(axis=1))
    normals[lengths == 0.0, 0] = 1.0
    lengths[lengths == 0.0] = 1.0
    directions: Floats = normals / lengths[:, None]
    return directions


def tiled_order(vectors: Vectors) -> Ids:
    """Return the rows in an order in which every 32 in turn lie near one another.

    The rows are divided in two halves across the direction in which they spread most, and so on. Any order
    would be correct: this one only decides how much can be ruled out.
    """
    order = np.arange(len(vectors), dtype=np.int64)
    random = np.random.Generator(np.random.PCG64(0))
    todo = [(0, len(vectors))]
    while todo:
        start, stop = todo.pop()
        if stop - start <= TILE:
            continue
        part = order[start:stop]
        points = np.asarray(vectors[part], dtype=np.float32)
        middle = (stop - start) // 2 // TILE * TILE or TILE
        order[start:stop] = part[np.argpartition(points @ _spread(points, random), middle)]
        todo += [(start, start + middle), (start + middle, stop)]
    return order


def _spread(points: Vectors, random: np.random.Generator) -> Vectors:
    """Return the direction in which the points spread most, roughly, by power iteration."""
    sample = (
        points
        if len(points) <= _WORDS_TO_FIND_THE_SPREAD
        else points[random.integers(0, len(points), _WORDS_TO_FIND_THE_SPREAD)]
    )
    centred = sample - sample.mean(axis=0)
    direction = random.standard_normal(points.shape[1], dtype=np.float32)
    for _ in range(_TURNS):
        direction = (centred @ direction) @ centred
        length = float(np.abs(direction).max())
        if not (0.0 < length < np.inf):
            return np.ones(points.shape[1], dtype=np.float32)  # all points are one
        direction = direction / np.float32(length)
    return np.asarray(direction, dtype=np.float32)
