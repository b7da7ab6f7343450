"""The rays without native code: the same tables, the same tests, and the same float64 sums in the same
order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.arrays import Floats, Ids, Vectors
from deniable.channel.rays.tables import TILE, UNIT, RayTables, WordTables, bounds

_LANES = 8
_DOWN = np.float32(1.0 - 1e-6)
_LARGEST_INVERSE = np.float32(1e30)
_RELATIVE = 1e-6
_TESTS_AT_ONCE = 1 << 22
_NEAR_TILES = 12
_UNIT = np.float32(UNIT)

Pieces = tuple[NDArray[np.uint32], NDArray[np.uint32], Floats]


class NumpyRays:
    """What ``_native.Rays`` does, slower. Origins come with their half squares, slacks and start
    positions."""

    def __init__(self, words: WordTables, rays: RayTables) -> None:
        self._words, self._rays = words, rays
        self._flat = words.vectors.reshape(-1, words.dimension)
        self._ids = words.ids.reshape(-1)

    def first(self, *origins: Any) -> tuple[Floats, Ids]:
        """Return the first breakpoint of every origin and ray and the position of the winner behind it."""
        rays = np.arange(len(self._rays.directions))
        found = [walk.next_breakpoints(rays) for walk in self._walks(origins, np.inf)]
        return np.stack([radii for radii, _ in found]), np.stack([winners for _, winners in found])

    def walk(self, *origins_and_reach: Any) -> list[Pieces]:
        """Return every origin's breakpoints below a radius: how many per ray, the winners behind them, the
        radii."""
        *origins, furthest = origins_and_reach
        rays = np.arange(len(self._rays.directions))
        return [walk.pieces(rays, np.full(len(rays), furthest)) for walk in self._walks(origins, furthest)]

    def at(self, *origins_and_ends: Any) -> Ids:
        """Return the position of the word that every origin and ray ends in at one radius per ray."""
        *origins, radii, stays = origins_and_ends
        winners: Ids = np.repeat(origins[3][:, None], len(radii), axis=1)
        beyond = np.nextafter(radii, np.inf)  # a word takes over at its breakpoint
        for row, walk in enumerate(self._walks(origins, np.inf)):
            counts, met, _ = walk.pieces(np.flatnonzero(stays[row] == 0), beyond)
            moved = counts > 0
            winners[row, moved] = met[np.cumsum(counts)[moved] - 1]
        return winners

    def _walks(self, origins: Sequence[Any], furthest: float) -> Iterator[_Walk]:
        """Yield the rays of each origin, given what ``_native.Rays`` takes of them."""
        products: Vectors = np.matmul(origins[0], self._flat.T, dtype=np.float32)
        gaps = bounds(origins[0])[1]
        for vector, half, slack, start, gap, product in zip(*origins, gaps, products, strict=True):
            yield _Walk(self, vector, float(half), float(gap), float(slack), int(start), product, furthest)


class _Walk:
    """The rays of one origin."""

    def __init__(
        self,
        tables: NumpyRays,
        vector: Vectors,
        half: float,
        gap: float,
        slack: float,
        start: int,
        product: Vectors,
        furthest: float,
    ) -> None:
        self._t, words, rays = tables, tables._words, len(tables._rays.directions)
        self._vector, self._slack = vector.astype(np.float64), np.float32(slack)
        self._cost_low = (words.half + np.float32(half)) - product.reshape(-1, TILE)
        self._cost_high = self._cost_low + words.gaps + np.float32(gap)
        self._least = self._cost_low.min(axis=1)
        self._cap = (
            np.float32(min(float(_LARGEST_INVERSE), 1.0 / furthest)) * _DOWN
            if furthest < np.inf
            else np.float32(0.0)
        )
        self._winners = np.full(rays, start, dtype=np.int64)
        self._costs = np.full(rays, self._cost(np.array([start]))[0])
        self._reached = np.zeros(rays)

    def pieces(self, active: Ids, furthest: Floats) -> Pieces:
        """Walk these rays from where they are to their furthest radius."""
        met: list[tuple[Ids, Ids, Floats]] = []
        while len(active) or not met:
            radii, winners = self.next_breakpoints(active)
            going_on = (winners >= 0) & (radii < furthest[active])
            active = active[going_on]
            met.append((active, winners[going_on], radii[going_on]))
            self.move(*met[-1])
        owners = np.concatenate([m[0] for m in met])
        order = np.argsort(owners, kind="stable")
        return (
            np.bincount(owners, minlength=len(furthest)).astype(np.uint32),
            np.concatenate([m[1] for m in met])[order].astype(np.uint32),
            np.concatenate([m[2] for m in met])[order],
        )

    def move(self, rays: Ids, winners: Ids, radii: Floats) -> None:
        """Let these rays go on from their new winners."""
        self._winners[rays], self._reached[rays], self._costs[rays] = winners, radii, self._cost(winners)

    def next_breakpoints(self, rays: Ids) -> tuple[Floats, Ids]:
        """Return where each of the rays meets its next winner, and that winner's position: infinity and -1
        for none."""
        radii, winners = np.full(len(rays), np.inf), np.full(len(rays), -1, dtype=np.int64)
        at_once = max(1, _TESTS_AT_ONCE // self._t._words.tiles)
        for start in range(0, len(rays), at_once):
            part = slice(start, start + at_once)
            radii[part], winners[part] = self._search(rays[part])
        return radii, winners

    def _difference(self, rays: Ids, positions: Ids, others: Ids) -> tuple[Floats, Floats]:
        """Return s_u - s_c and A_u - A_c of words u and c, along a ray each."""
        u, c = self._t._flat[positions].astype(np.float64), self._t._flat[others].astype(np.float64)
        difference = u - c
        rise = _in_lanes(self._t._rays.directions[rays] * difference)
        return rise, _in_lanes(difference * (0.5 * (u + c) - self._vector))

    def _search(self, rays: Ids) -> tuple[Floats, Ids]:
        words, tables = self._t._words, self._t._rays
        current = self._winners[rays]
        own = (self._t._flat[current] * tables.directions[rays]).sum(axis=1).astype(np.float32)
        margin = words.slack[current // TILE] + self._slack
        low, high = own - margin, own + margin
        inverse = np.full(len(rays), self._cap, dtype=np.float32)
        near = np.argsort(self._least, kind="stable")[:_NEAR_TILES]
        self._tighten(
            inverse, np.repeat(np.arange(len(rays)), len(near)), np.tile(near, len(rays)), rays, high, current
        )
        threshold = self._threshold(low, inverse, rays)
        with np.errstate(invalid="ignore"):  # infinity times zero: a tile in which no word can win
            bound = tables.highest[rays, : words.tiles] * _UNIT - self._least * inverse[:, None]
        owners, tiles = np.nonzero(bound > threshold[:, None])
        self._tighten(inverse, owners, tiles, rays, high, current)
        threshold = self._threshold(low, inverse, rays)
        with np.errstate(invalid="ignore"):
            value = (
                tables.projections[rays[owners], tiles] * _UNIT
                - self._cost_low[tiles] * inverse[owners][:, None]
            )
        pairs, slots = np.nonzero(value > (threshold[owners] - words.slack[tiles])[:, None])
        return self._decide(rays, owners[pairs], tiles[pairs] * TILE + slots, current)

    def _tighten(
        self, inverse: Vectors, owners: Ids, tiles: Ids, rays: Ids, high: Vectors, current: Ids
    ) -> None:
        """Raise the bounds by what words of these (ray, tile) pairs surely reach."""
        words = self._t._words
        # A projection may be one unit and twice the slack below its number of units; two units leave room for
        # rounding.
        least = (self._t._rays.projections[rays[owners], tiles] - np.float32(2.0)) * _UNIT
        rise = least - (high[owners] + words.slack[tiles] * np.float32(2.0))[:, None]
        cost = self._cost_high[tiles] - (self._costs[rays[owners]].astype(np.float32) * _DOWN)[:, None]
        useful = (rise > 0) & (cost > np.float32(1e-30)) & (cost < np.float32(1e30))
        useful &= tiles[:, None] * TILE + np.arange(TILE) != current[owners][:, None]
        slope = np.divide(rise * _DOWN, cost, out=np.zeros_like(rise), where=useful).max(axis=1, initial=0.0)
        np.maximum.at(inverse, owners, np.minimum(slope, _LARGEST_INVERSE) * _DOWN)

    def _threshold(self, low: Vectors, inverse: Vectors, rays: Ids) -> Vectors:
        rest = self._costs[rays] * inverse.astype(np.float64)
        threshold = low.astype(np.float64) - rest - _RELATIVE * (rest + np.abs(low.astype(np.float64)))
        bound: Vectors = threshold.astype(np.float32) - np.float32(1e-37)
        return bound

    def _decide(self, rays: Ids, owners: Ids, positions: Ids, current: Ids) -> tuple[Floats, Ids]:
        keep = positions != current[owners]
        owners, positions = owners[keep], positions[keep]
        radii, winners = np.full(len(rays), np.inf), np.full(len(rays), -1, dtype=np.int64)
        rise, cost = self._difference(rays[owners], positions, current[owners])
        valid = rise > 0.0
        owners, positions, rise, cost = owners[valid], positions[valid], rise[valid], cost[valid]
        radius = np.maximum(cost / rise, self._reached[rays[owners]])
        order = np.lexsort((self._t._ids[positions], -rise, radius, owners))
        first = order[np.r_[True, owners[order][1:] != owners[order][:-1]]] if len(order) else order
        radii[owners[first]], winners[owners[first]] = radius[first], positions[first]
        return radii, winners

    def _cost(self, positions: Ids) -> Floats:
        costs: Floats = 0.5 * np.square(self._t._flat[positions].astype(np.float64) - self._vector).sum(
            axis=1
        )
        return costs


def _in_lanes(terms: Floats) -> Floats:
    """Return the sums of the rows, added up as the native code does: eight lanes, then the lanes in pairs."""
    rows, count = terms.shape
    padded = np.zeros((rows, -(-count // _LANES) * _LANES))
    padded[:, :count] = terms
    lanes = np.zeros((rows, _LANES))
    for start in range(0, padded.shape[1], _LANES):
        lanes += padded[:, start : start + _LANES]
    total: Floats = ((lanes[:, 0] + lanes[:, 4]) + (lanes[:, 2] + lanes[:, 6])) + (
        (lanes[:, 1] + lanes[:, 5]) + (lanes[:, 3] + lanes[:, 7])
    )
    return total
