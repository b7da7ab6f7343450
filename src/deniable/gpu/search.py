"""Exact nearest words on a GPU at the speed of its matrix units: bfloat16 products, float32 sums, and a
proven bound.

The nearest word of q is argmax_u s(u) with s(u) = ⟨q, φ_u⟩ - h_u and h_u = ‖φ_u‖²/2. Words stand in tiles by
falling length. For each batch of points

1. one kernel computes rounded scores s̃ by matrix products and keeps only the largest of each tile: no score
   is ever written to memory;
2. |s̃ - s| ≤ E for all words of a tile, by the bound below. A tile can hold the winner only if its largest s̃
   plus E reaches the best lower bound max(s̃ - E) over all tiles. A second kernel scores these few tiles
   again in float64, the most promising one first: its float64 score less what float64 can err is a far better
   lower bound, and drops most of the others;
3. a word whose float64 score beats all others by more than float64 can err is the nearest one. What float64
   cannot tell apart (exact ties, mostly) goes to the search of the processor, which decides without rounding
   (``exact.nearest_of``).

So the word is the true nearest one, whatever the data; bad data make it slower, never wrong. Points can be
made on the GPU too: then ids go in and ids come out, and nothing else crosses the bus. The processor waits
once a call, not once a batch.

The bound. Let q̂ and φ̂_u be the points and vectors rounded to bfloat16, with what lies below 2⁻¹⁰⁰ made
zero. Then

    ⟨q, φ_u⟩ - ⟨q̂, φ̂_u⟩ = ⟨q - q̂, φ_u⟩ + ⟨q̂, φ_u - φ̂_u⟩,

at most ‖q - q̂‖·‖φ_u‖ + ‖q̂‖·‖φ_u - φ̂_u‖ by Cauchy and Schwarz; all four lengths are computed in float64
from the numbers at hand. h_u is written as three bfloat16 numbers, which stand in the same matrix product as
further coordinates with factors 1; what they leave of h_u, ρ_u, is known. A product of two bfloat16 numbers
is exact in float32. Of the sums only this is assumed: terms are added in any order, in groups of any size,
each group shifted to the exponent of its largest term and *truncated* to no fewer than 23 bits (matrix units
do not round; Fasi, Higham, Mikaitis and Pranesh 2021 measured 24 bits and more). Each of the K + 1 additions
and shifts is then off by at most 2⁻²² of the sum of magnitudes, which ‖q̂‖·‖φ̂_u‖ + 1.02·h_u bounds; gradual
underflow, or none, adds 2⁻¹²⁶ for each term. The bound itself, its addition and subtraction are computed in
float32 and cost a few 2⁻²⁴ more; 32 further terms cover them. Together, with A = (K + 32)·2⁻²²,

    E = ‖q - q̂‖·‖φ_u‖ + ‖q̂‖·(‖φ_u - φ̂_u‖ + A·‖φ̂_u‖) + 1.02·A·h_u + ρ_u + K·2⁻¹²⁰,

and a tile takes the largest of each factor, rounded upwards. Scores are finite: points have coordinates of at
most 10²⁵, vectors a length of at most 10¹², and this search takes at most 1,000 dimensions. Words that can
never win have the score -3.39·10³⁸, below all others.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from deniable.arrays import Floats, Ids, Vectors
from deniable.embeddings.embedding import Embedding
from deniable.errors import RandomnessError
from deniable.gpu.devices import on_device, pytorch, usable_device
from deniable.gpu.stream import Launch, gpu_noise, launching_on
from deniable.gpu.tiles import maxima_by_block, maxima_by_stream, settle
from deniable.interfaces import Neighbours
from deniable.neighbours.blas import BlasNeighbours
from deniable.neighbours.exact import UNIT_ROUNDOFF
from deniable.noise.randomness import RadialNoise
from deniable.parameters import FURTHEST_POINT, checked_queries

if TYPE_CHECKING:
    from torch import Tensor

_STEP = 32
_H_PARTS = 3
_NEVER = 3.38e38
_SMALLEST = 2.0**-100
_UPWARDS = 1.0 + 2.0**-20
_TRUNCATION = 2.0**-22
_ROWS_AT_ONCE = 1 << 15
_MAXIMA_AT_ONCE = 1 << 29
_MOST_POINTS_AT_ONCE = 1 << 18
_PROGRAMS_EACH = 8
_MOST_FOR_STREAMS = 128
_FEW_WORDS = 150_000  # about half way, in proportion, between the two sizes that were measured


@dataclass(frozen=True, kw_only=True)
class Tiling:
    """How the matrix product is cut: ``rows`` points by ``tile`` words at a time.

    By ``stream`` a program keeps its points and walks through the words, ``side`` tiles at a time; otherwise
    it computes one such block. ``depth`` is how many loads are under way. The decision looks at ``span``
    tiles of ``settled`` points at a time, by ``settle_step`` coordinates at a time.
    """

    stream: bool
    rows: int = 128
    tile: int = 32
    side: int = 4
    warps: int = 8
    depth: int = 3
    settled: int = 16
    span: int = 128
    settle_warps: int = 4
    settle_step: int = 64


def tiling_for(width: int, words: int) -> Tiling:
    """Return the fastest way to cut the product with so many words of so many rounded coordinates.

    It was the fastest of twenty ways or more on an H200, for 400,000 words of 320 and of 64 coordinates and
    50,000 of 64.
    """
    if width > _MOST_FOR_STREAMS:
        return Tiling(stream=False, tile=32, side=8, warps=8)
    tile, side = (64, 2) if words > _FEW_WORDS else (32, 4)
    return Tiling(stream=True, tile=tile, side=side, warps=4, span=64, settle_warps=2, settle_step=32)


class FusedNeighbours:
    """Exact search on a GPU by our own kernels. Safe to use from several threads at once."""

    def __init__(
        self,
        embedding: Embedding,
        *,
        device: str = "cuda",
        tiling: Tiling | None = None,
        on_processor: Callable[[Embedding], Neighbours] = BlasNeighbours,
    ) -> None:
        """Copy the embedding to the device, as it is and rounded."""
        self._torch, self._device = pytorch(), usable_device(device)
        self._embedding = embedding
        self._dimension = embedding.dimension
        self._width = -(-(self._dimension + _H_PARTS) // _STEP) * _STEP
        self._tiling = tiling or tiling_for(self._width, len(embedding))
        self._on_processor = on_processor
        self._lock = threading.Lock()
        with self._torch.inference_mode():
            self._copy_words()
            self._make_room()

    @property
    def tiles_scored_again(self) -> int:
        """How many tiles were scored in float64, of all points so far: what the bound costs."""
        return int(self._rescored)

    def nearest(self, queries: Vectors) -> Ids:
        """Return the id of the nearest word of every row; ties go to the lowest id."""
        queries = checked_queries(queries, self._dimension)
        found = np.empty(len(queries), dtype=np.int64)
        with self._lock, self._torch.inference_mode(), launching_on(self._device):
            there = self._undecided(len(queries))
            for start in range(0, len(queries), self._at_once):
                part = slice(start, start + self._at_once)
                self._search(on_device(queries[part], self._device), there[part])
            found[:] = there.cpu().numpy()
        undecided = np.flatnonzero(found < 0)
        if len(undecided):
            found[undecided] = self._processor.nearest(queries[undecided])
        return found

    def nearest_k(self, queries: Vectors, k: int) -> tuple[Ids, Floats]:
        """Return the ``k`` nearest words of every row and their distances; the processor does this one."""
        return self._processor.nearest_k(queries, k)

    def nearest_to_noisy(self, ids: Ids, noise: RadialNoise, epsilons: Floats) -> Ids:
        """Return the nearest word of each word's vector plus noise of its own; the noise is made on the GPU
        and stays there.

        ``ids`` may hold ⊥. The noise comes from a cryptographic source that the operating system keyed
        (``gpu.stream``).
        """
        with self._lock, self._torch.inference_mode(), launching_on(self._device):
            words = on_device(ids.astype(np.int32), self._device)
            found = self._words_of_noisy(words, noise, on_device(epsilons, self._device))
            return found.cpu().numpy().astype(np.int64)

    def _words_of_noisy(self, ids: Tensor, noise: RadialNoise, epsilons: Tensor) -> Tensor:
        """Return the released words of ids on the device, there."""
        torch = self._torch
        source = gpu_noise(self._device)
        found = self._undecided(len(ids))
        failed = torch.zeros((), dtype=torch.bool, device=self._device)
        launches = []
        for start in range(0, len(ids), self._at_once):
            part = slice(start, start + self._at_once)
            launch = source.launch()
            points = self._noisy_points(launch, ids[part], noise, epsilons[part])
            failed |= points.isnan().any()
            self._search(points, found[part])
            launches.append((part, launch))
        undecided = (found < 0).nonzero()[:, 0].cpu().numpy()
        if bool(failed):
            raise RandomnessError("the noise of a word could not be made on the device; nothing was released")
        for part, launch in launches:
            places = undecided[(undecided >= part.start) & (undecided < part.stop)]
            if len(places):
                # The same launch makes the same points again: rare, and cheaper than keeping all points.
                points = self._noisy_points(launch, ids[part], noise, epsilons[part])[
                    on_device(places - part.start, self._device)
                ]
                decided = self._processor.nearest(points.cpu().numpy())
                found[on_device(places, self._device)] = on_device(decided.astype(np.int32), self._device)
        return found

    def _noisy_points(self, launch: Launch, ids: Tensor, noise: RadialNoise, epsilons: Tensor) -> Tensor:
        """Return noisy points as ``mechanisms.base`` makes them: pulled back and rounded alike."""
        points = launch.noise(noise, epsilons)
        points += self._vectors[self._places[ids.long()]]
        furthest = points.abs().amax(dim=1, keepdim=True)
        points *= (FURTHEST_POINT / furthest).clamp(max=1.0)
        rounded: Tensor = points.float()
        return rounded

    def _undecided(self, count: int) -> Tensor:
        """Return room for so many words: what no kernel writes is left to the processor."""
        room: Tensor = self._torch.full((count,), -1, dtype=self._torch.int32, device=self._device)
        return room

    def _search(self, points: Tensor, found: Tensor) -> None:
        """Write the nearest word of each point, or -1 where the processor must decide."""
        torch, tiling, count = self._torch, self._tiling, len(points)
        rounded = _flushed(points.bfloat16())
        self._points[:count, : self._dimension] = rounded
        exact, coarse = points.double(), rounded.double()
        lengths = self._upwards(torch.maximum(exact.norm(dim=1), coarse.norm(dim=1)))
        offs = self._upwards((exact - coarse).norm(dim=1))
        blocks, groups = -(-count // tiling.rows), self._tiles // tiling.side
        options = {name: getattr(tiling, name) for name in ("depth", "rows", "tile", "side")}
        options["num_warps"] = tiling.warps
        if tiling.stream:
            first = 1 << (self._width.bit_length() - 1)
            shares = max(1, min(groups, -(-_PROGRAMS_EACH * self._processors // blocks)))
            maxima_by_stream[(blocks, shares)](
                self._points,
                self._rounded,
                self._maxima,
                self._at_once,
                groups,
                -(-groups // shares),
                first=first,
                second=self._width - first,
                **options,
            )
        else:
            step = 64 if self._width % 64 == 0 else _STEP
            maxima_by_block[(blocks * groups,)](
                self._points,
                self._rounded,
                self._maxima,
                self._at_once,
                blocks,
                width=self._width,
                step=step,
                **options,
            )
        growth = (self._dimension + 8) * UNIT_ROUNDOFF
        settle[(-(-count // tiling.settled),)](
            self._maxima,
            self._at_once,
            points,
            lengths,
            offs,
            *self._tile_bounds,
            self._vectors,
            self._half_squares,
            self._names,
            found,
            self._rescored,
            count,
            self._tiles,
            growth=growth / (1.0 - growth),
            smallest=float(np.finfo(np.float64).tiny),
            dimension=self._dimension,
            tile=tiling.tile,
            at_once=tiling.settled,
            span=tiling.span,
            step=min(tiling.settle_step, 1 << (self._dimension - 1).bit_length()),
            num_warps=tiling.settle_warps,
        )

    def _copy_words(self) -> None:
        """Copy the vectors, as they are and rounded, by falling length; what never wins comes last."""
        torch, embedding = self._torch, self._embedding
        words, dimension = embedding.vectors.shape
        block = self._tiling.tile * self._tiling.side
        padded = -(-(words + 1) // block) * block
        self._tiles = padded // self._tiling.tile
        vectors = torch.zeros((padded, dimension), dtype=torch.float32, device=self._device)
        for start in range(0, words, _ROWS_AT_ONCE):
            rows = embedding.vectors[start : start + _ROWS_AT_ONCE]
            vectors[start : start + len(rows)] = on_device(rows, self._device)
        vectors[words] = on_device(np.asarray(embedding.unknown, dtype=np.float32), self._device)
        norms = torch.cat([part.double().norm(dim=1) for part in vectors.split(_ROWS_AT_ONCE)])
        winnable = torch.zeros(padded, dtype=torch.bool, device=self._device)
        winnable[:words] = True
        winnable[on_device(embedding.shadowed, self._device)] = False
        order = torch.where(winnable, -norms, torch.inf).argsort(stable=True)
        places = torch.empty_like(order)
        places[order] = torch.arange(padded, device=self._device)
        self._names = order.int()
        self._places = places[: words + 1]
        self._vectors = torch.empty_like(vectors)
        self._rounded = torch.zeros((padded, self._width), dtype=torch.bfloat16, device=self._device)
        norms, winnable = norms[order], winnable[order]
        self._half_squares = torch.where(winnable, 0.5 * norms * norms, torch.inf)
        rests, halves_rests = torch.zeros_like(norms), torch.zeros_like(norms)
        for start in range(0, padded, _ROWS_AT_ONCE):
            part = slice(start, start + _ROWS_AT_ONCE)
            self._vectors[part] = vectors[order[part]]
            can_win = winnable[part, None]
            rounded = torch.where(can_win, _flushed(self._vectors[part].bfloat16()), 0.0)
            self._rounded[part, :dimension] = rounded
            rests[part] = torch.where(can_win, self._vectors[part].double() - rounded.double(), 0.0).norm(
                dim=1
            )
            left = torch.where(winnable[part], self._half_squares[part], _NEVER)
            for place in range(_H_PARTS):
                piece = _flushed(left.bfloat16())
                self._rounded[part, dimension + place] = -piece
                left = left - piece.double()
            halves_rests[part] = torch.where(winnable[part], left.abs(), 0.0)
        self._tile_bounds = self._bounds(torch.where(winnable, norms, 0.0), rests, halves_rests)

    def _bounds(self, norms: Tensor, rests: Tensor, halves_rests: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return for each tile the factors of ‖q - q̂‖ and ‖q̂‖ in E, and what remains of it."""

        def largest(values: Tensor) -> Tensor:
            return values.view(self._tiles, self._tiling.tile).amax(dim=1)

        norm, rest = largest(norms), largest(rests)
        growth = (self._width + 32) * _TRUNCATION
        least = 1.02 * growth * 0.5 * norm * norm + largest(halves_rests) + self._width * 2.0**-120
        return self._upwards(norm), self._upwards(rest + growth * (norm + rest)), self._upwards(least)

    def _make_room(self) -> None:
        torch, rows = self._torch, self._tiling.rows
        most = min(_MOST_POINTS_AT_ONCE, _MAXIMA_AT_ONCE // self._tiles)
        self._at_once = max(1, most // rows) * rows
        if self._device.type == "cpu":  # interpreted, for tests
            self._at_once = 64 * rows
        self._processors: int = (
            torch.cuda.get_device_properties(self._device).multi_processor_count
            if self._device.type == "cuda"
            else 1
        )
        self._points = torch.zeros((self._at_once, self._width), dtype=torch.bfloat16, device=self._device)
        self._points[:, self._dimension : self._dimension + _H_PARTS] = 1.0
        self._maxima = torch.empty((self._tiles, self._at_once), dtype=torch.float32, device=self._device)
        self._rescored = torch.zeros((), dtype=torch.int64, device=self._device)

    def _upwards(self, values: Tensor) -> Tensor:
        """Return float32 numbers no smaller than these, nor so small that they might count as zero."""
        return (values * _UPWARDS).clamp(min=_SMALLEST).float()

    @cached_property
    def _processor(self) -> Neighbours:
        """The search of the processor, prepared on first use."""
        return self._on_processor(self._embedding)


def _flushed(rounded: Tensor) -> Tensor:
    """Return the numbers with the smallest made zero: whether a matrix unit does so is not known."""
    kept: Tensor = rounded.where(rounded.abs() >= _SMALLEST, 0.0)
    return kept
