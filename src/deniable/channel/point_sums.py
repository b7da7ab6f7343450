"""The two sums over pairs of an input word and a shared point: how dense the mixture is at each point, and
then every row.

Squared distances come from one matrix product: (x, ‖x‖², 1)·(-2z, 1, ‖z‖²) = ‖x - z‖². All is float32, in
blocks that stay in the cache, by threads of our own. A product that is large enough would be handed to the
matrix library's threads as well, and these wait for one another: on two busy processors that was a hundred
times slower. So products are so small that the library does each in one thread, many of them in one call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from deniable.arrays import Floats, Vectors
from deniable.channel.points import SharedPoints
from deniable.neighbours.selection import device_in_use
from deniable.neighbours.threads import threads
from deniable.progress import Report

if TYPE_CHECKING:
    from deniable.gpu.sums import GpuSums

Taken = TypeVar("Taken")

_SMALL_PRODUCT = 1 << 18
"""OpenBLAS takes one thread for products of no more multiplications than this (4 · 65,536)."""

_POINTS_IN_A_TILE = 64
_INPUTS_AT_ONCE = 64
_NUMBERS_AT_ONCE = 1 << 16


def sums_of(points: SharedPoints, report: Report | None = None) -> ProcessorSums | GpuSums:
    """Return the sums on the PyTorch device that was asked for, or on the processor; float32 gives both the
    same numbers, as far as it goes. ``report`` gets of how many points the density is known, of how many."""
    if (device := device_in_use()) is None:
        return ProcessorSums(points, report)
    from deniable.gpu.sums import GpuSums

    return GpuSums(
        with_squares(points.inputs, 1.0),
        [with_squares(layer.points, -2.0) for layer in points.layers],
        [layer.own for layer in points.layers],
        points.weights,
        _log_shares(points),
        squared=points.squared,
        device=device,
        report=report,
    )


def _log_shares(points: SharedPoints) -> Floats:
    """Return what the distances are taken off, but for -log q(z): log c_y/(T·kept_y)."""
    shares: Floats = np.log(points.counts / (float(points.draws) * points.kept))
    return shares


class ProcessorSums:
    """The sums on the processor."""

    def __init__(self, points: SharedPoints, report: Report | None = None) -> None:
        """Compute the density of the mixture at every point; ``report`` receives how many points it is
        known, of how many."""
        self._width = points.inputs.shape[1] + 2
        self._tile = min(_POINTS_IN_A_TILE, max(1, _SMALL_PRODUCT // (8 * self._width)))
        self._block = min(_INPUTS_AT_ONCE, max(1, _SMALL_PRODUCT // (self._tile * self._width)))
        self._tiles_at_once = max(1, _NUMBERS_AT_ONCE // (self._tile * self._block))
        self._squared, self._outputs = points.squared, len(points.outputs)
        self._inputs = with_squares(points.inputs, 1.0)
        self._layers = [self._tiled(layer.points) for layer in points.layers]
        weights = points.weights.astype(np.float32)
        found = []
        with ThreadPoolExecutor(threads()) as pool:
            done, total = 0, sum(len(layer.own) for layer in points.layers)
            for tiles, layer in zip(self._layers, points.layers, strict=True):
                own = self._filled(layer.own, 0.0)
                starts = range(0, len(tiles), self._tiles_at_once)
                sums = []
                for start, part in zip(
                    starts, pool.map(partial(self._densities, tiles, own, weights), starts), strict=True
                ):
                    sums.append(part)
                    if report is not None:
                        report(min(done + (start + len(part)) * self._tile, done + len(layer.own)), total)
                done += len(layer.own)
                found.append(np.log(np.concatenate(sums).ravel()[: len(layer.own)]) - layer.own)
        shares = _log_shares(points)
        self._offsets = [self._filled(shares[: len(each)] - each, -np.inf) for each in found]

    def rows(self, part: slice, take: Callable[[int, Vectors], Taken]) -> Iterator[Taken]:
        """Yield what ``take`` makes of the place of a first row and of P(y | x) there and in some more rows,
        over ``outputs``.

        Together the blocks have all rows of the part, in order, with sums of about 1. Several threads may
        call ``take``.
        """
        starts = range(part.start, part.stop, self._block)
        with ThreadPoolExecutor(threads()) as pool:
            yield from pool.map(
                lambda start: take(start, self._rows_of(start, min(start + self._block, part.stop))), starts
            )

    def _densities(self, tiles: Vectors, own: Vectors, weights: Vectors, start: int) -> Floats:
        """Return Σ_x w_x·K(z | x)/K(z | own word) for some tiles of points: the own word's share alone keeps
        it from vanishing."""
        part = slice(start, start + self._tiles_at_once)
        room = np.empty((len(tiles[part]), self._block, self._tile), dtype=np.float32)
        total = np.zeros((len(tiles[part]), self._tile))
        for first in range(0, len(self._inputs), self._block):
            inputs = self._inputs[first : first + self._block]
            total += weights[first : first + self._block] @ self._weighed(
                inputs, tiles[part], own[part], room
            )
        return total

    def _rows_of(self, start: int, stop: int) -> Vectors:
        inputs = self._inputs[start:stop]
        rows = np.empty((len(inputs), len(self._layers[0]), self._tile), dtype=np.float32)
        room = np.empty((self._tiles_at_once, self._block, self._tile), dtype=np.float32)
        for first in range(0, len(self._layers[0]), self._tiles_at_once):
            part = slice(first, first + self._tiles_at_once)
            total = np.zeros((len(self._layers[0][part]), len(inputs), self._tile), dtype=np.float32)
            for tiles, offsets in zip(self._layers, self._offsets, strict=True):
                if first >= len(tiles):
                    break
                found = self._weighed(inputs, tiles[part], offsets[part], room)
                total[: len(found)] += found
            rows[:, part] = total.transpose(1, 0, 2)
        return rows.reshape(len(inputs), -1)[:, : self._outputs]

    def _weighed(self, inputs: Vectors, tiles: Vectors, offsets: Vectors, room: Vectors) -> Vectors:
        """Return exp(offset - distance) for all pairs, tile by tile, in the room that is given."""
        found = np.matmul(inputs, tiles.transpose(0, 2, 1), out=room[: len(tiles), : len(inputs)])
        np.maximum(found, 0.0, out=found)
        if not self._squared:
            np.sqrt(found, out=found)
        np.subtract(offsets, found, out=found)
        return np.exp(found, out=found)

    def _tiled(self, points: Vectors) -> Vectors:
        """Return points as tiles of the same size, the last one filled up with anything."""
        filled = np.zeros((-(-len(points) // self._tile) * self._tile, self._width), dtype=np.float32)
        filled[: len(points)] = with_squares(points, -2.0)
        return filled.reshape(-1, self._tile, self._width)

    def _filled(self, numbers: Floats, beyond: float) -> Vectors:
        filled = np.full(-(-len(numbers) // self._tile) * self._tile, beyond, dtype=np.float32)
        filled[: len(numbers)] = numbers
        return filled.reshape(-1, 1, self._tile)


def with_squares(vectors: Vectors, factor: float) -> Vectors:
    """Return (x, ‖x‖², 1) for a factor of 1, and (-2z, 1, ‖z‖²) for one of -2: the product of both is the
    squared distance."""
    squares = np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64)
    beside = (squares, np.ones(len(vectors))) if factor == 1.0 else (np.ones(len(vectors)), squares)
    return np.column_stack([np.float32(factor) * vectors, *(each.astype(np.float32) for each in beside)])
