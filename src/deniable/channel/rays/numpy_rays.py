"""The rays without native code: the same tables, the same tests, and the same float64 sums in the same order."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deniable.arrays import Floats, Ids, Vectors
from deniable.channel.rays.tables import TILE, UNIT, RayTables, WordTables

_LANES = 8
_DOWN = np.float32(1.0 - 1e-6)
_LARGEST_INVERSE = np.float32(1e30)
_RELATIVE = 1e-6
_TESTS_AT_ONCE = 1 << 22
_NEAR_TILES = 12
_UNIT = np.float32(UNIT)

Pieces = tuple[NDArray[np.uint32], NDArray[np.uint32], Floats]


class NumpyRays:
    """What ``_native.Rays`` does, slower. Origins come with their half squares, gaps, slacks, start positions and products."""

    def __init__(self, words: WordTables, rays: RayTables) -> None:
        self._words, self._rays = words, rays
        self._flat = words.vectors.reshape(-1, words.dimension)
        self._ids = words.ids.reshape(-1)

    def first(self, vectors: Vectors, half: Vectors, gaps: Vectors, slack: Vectors, starts: Ids, products: Vectors) -> tuple[Floats, Ids]:
        """Return the first breakpoint of every origin and ray and the position of the winner behind it."""
        rays = len(self._rays.directions)
        radii, winners = np.empty((len(vectors), rays)), np.empty((len(vectors), rays), dtype=np.int64)
        for o in range(len(vectors)):
            walk = _Walk(self, vectors[o], float(half[o]), float(gaps[o]), float(slack[o]), int(starts[o]), products[o], np.inf)
            radii[o], winners[o] = walk.next_breakpoints(np.arange(rays))
        return radii, winners

    def walk(
        self, vectors: Vectors, half: Vectors, gaps: Vectors, slack: Vectors, starts: Ids, products: Vectors, furthest: float
    ) -> list[Pieces]:
        """Return every origin's breakpoints below ``furthest``: how many per ray, the winners behind them, the radii."""
        rays = len(self._rays.directions)
        answer: list[Pieces] = []
        for o in range(len(vectors)):
            walk = _Walk(self, vectors[o], float(half[o]), float(gaps[o]), float(slack[o]), int(starts[o]), products[o], furthest)
            active = np.arange(rays)
            met: list[tuple[Ids, Ids, Floats]] = []
            while len(active):
                radii, winners = walk.next_breakpoints(active)
                going_on = (winners >= 0) & (radii < furthest)
                active = active[going_on]
                met.append((active, winners[going_on], radii[going_on]))
                walk.move(*met[-1])
            owners = np.concatenate([m[0] for m in met])
            order = np.argsort(owners, kind="stable")
            answer.append(
                (
                    np.bincount(owners, minlength=rays).astype(np.uint32),
                    np.concatenate([m[1] for m in met])[order].astype(np.uint32),
                    np.concatenate([m[2] for m in met])[order],
                )
            )
        return answer


class _Walk:
    """The rays of one origin."""

    def __init__(
        self, tables: NumpyRays, vector: Vectors, half: float, gap: float, slack: float, start: int, product: Vectors, furthest: float
    ) -> None:
        self._t, words, rays = tables, tables._words, len(tables._rays.directions)
        self._vector, self._slack = vector.astype(np.float64), np.float32(slack)
        self._cost_low = (words.half + np.float32(half)) - product.reshape(-1, TILE)
        self._cost_high = self._cost_low + words.gaps + np.float32(gap)
        self._least = self._cost_low.min(axis=1)
        self._cap = np.float32(min(float(_LARGEST_INVERSE), 1.0 / furthest)) * _DOWN if furthest < np.inf else np.float32(0.0)
        self._winners = np.full(rays, start, dtype=np.int64)
        self._costs = np.full(rays, self._cost(np.array([start]))[0])
        self._reached = np.zeros(rays)

    def move(self, rays: Ids, winners: Ids, radii: Floats) -> None:
        """Let these rays go on from their new winners."""
        self._winners[rays], self._reached[rays], self._costs[rays] = winners, radii, self._cost(winners)

    def next_breakpoints(self, rays: Ids) -> tuple[Floats, Ids]:
        """Return where each of the rays meets its next winner, and that winner's position: infinity and -1 for none."""
        radii, winners = np.full(len(rays), np.inf), np.full(len(rays), -1, dtype=np.int64)
        at_once = max(1, _TESTS_AT_ONCE // self._t._words.tiles)
        for start in range(0, len(rays), at_once):
            part = slice(start, start + at_once)
            radii[part], winners[part] = self._search(rays[part])
        return radii, winners

    def _search(self, rays: Ids) -> tuple[Floats, Ids]:
        words, tables = self._t._words, self._t._rays
        current = self._winners[rays]
        own = (self._t._flat[current] * tables.directions[rays]).sum(axis=1).astype(np.float32)
        margin = words.slack[current // TILE] + self._slack
        low, high = own - margin, own + margin
        inverse = np.full(len(rays), self._cap, dtype=np.float32)
        near = np.argsort(self._least, kind="stable")[:_NEAR_TILES]
        self._tighten(inverse, np.repeat(np.arange(len(rays)), len(near)), np.tile(near, len(rays)), rays, high, current)
        threshold = self._threshold(low, inverse, rays)
        with np.errstate(invalid="ignore"):  # infinity times zero: a tile in which no word can win
            bound = tables.highest[rays, : words.tiles] * _UNIT - self._least * inverse[:, None]
        owners, tiles = np.nonzero(bound > threshold[:, None])
        self._tighten(inverse, owners, tiles, rays, high, current)
        threshold = self._threshold(low, inverse, rays)
        with np.errstate(invalid="ignore"):
            value = tables.projections[rays[owners], tiles] * _UNIT - self._cost_low[tiles] * inverse[owners][:, None]
        pairs, slots = np.nonzero(value > (threshold[owners] - words.slack[tiles])[:, None])
        return self._decide(rays, owners[pairs], tiles[pairs] * TILE + slots, current)

    def _tighten(self, inverse: Vectors, owners: Ids, tiles: Ids, rays: Ids, high: Vectors, current: Ids) -> None:
        """Raise the bounds by what words of these (ray, tile) pairs surely reach."""
        words = self._t._words
        # A projection may be one unit and twice the slack below its number of units; two units leave room for rounding.
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
        u, c = self._t._flat[positions].astype(np.float64), self._t._flat[current[owners]].astype(np.float64)
        difference = u - c
        rise = _in_lanes(self._t._rays.directions[rays[owners]] * difference)
        cost = _in_lanes(difference * (0.5 * (u + c) - self._vector))
        valid = rise > 0.0
        owners, positions, rise, cost = owners[valid], positions[valid], rise[valid], cost[valid]
        radius = np.maximum(cost / rise, self._reached[rays[owners]])
        order = np.lexsort((self._t._ids[positions], -rise, radius, owners))
        first = order[np.r_[True, owners[order][1:] != owners[order][:-1]]] if len(order) else order
        radii[owners[first]], winners[owners[first]] = radius[first], positions[first]
        return radii, winners

    def _cost(self, positions: Ids) -> Floats:
        costs: Floats = 0.5 * np.square(self._t._flat[positions].astype(np.float64) - self._vector).sum(axis=1)
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
