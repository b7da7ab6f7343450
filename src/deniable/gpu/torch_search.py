"""Exact nearest words on a device without our own kernels: the float32 product and proven bound of the BLAS
form (``blas.py``), in PyTorch.

For each batch of queries one matrix product gives approximate scores s̃ of all words; a tile of 32 words
keeps its largest. A tile can hold the winner only if its largest score plus the error bound E reaches the
best lower bound max(s̃ - E), and within those tiles so can only words that do. Mostly one word is left, and
that is the answer. Where several are, the processor scores them in float64, and decides what float64 cannot
tell apart without rounding, as it does for its own products.

The bound speaks of float32 products in any order of summation. TF32 rounds the factors to 10 bits and is not
covered, so a search refuses to run while PyTorch is allowed to use it. Used only when asked for: see
``selection.set_device``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from deniable.arrays import Ids, Vectors
from deniable.embeddings.embedding import Embedding
from deniable.gpu.devices import check_full_products, on_device, pytorch, usable_device
from deniable.neighbours.blas import TILE, BlasNeighbours, float32_growth, nearest_in_parts, row_norms
from deniable.parameters import checked_queries

if TYPE_CHECKING:
    from torch import Tensor

_SCORES_AT_ONCE = {"cuda": 1 << 28}
_SCORES_AT_ONCE_ELSEWHERE = 1 << 22
_SMALLEST_ERROR = 2.0**-120


class GpuNeighbours(BlasNeighbours):
    """Exact search whose products are made on a PyTorch device. Safe to use from several threads at once."""

    def __init__(self, embedding: Embedding, *, device: str = "cuda") -> None:
        """Copy the embedding to the device."""
        self._torch, self._device = pytorch(), usable_device(device)
        super().__init__(embedding)
        padded = self._tiles * TILE
        vectors, norms = np.zeros((padded, self._dimension), dtype=np.float32), np.zeros(padded)
        vectors[: self._words] = embedding.vectors
        norms[: self._words] = row_norms(embedding.vectors)
        # A word that loses every tie, and a row that is no word, are out of the race: their score is minus
        # infinity.
        half_squares = 0.5 * norms * norms
        half_squares[self._words :] = half_squares[embedding.shadowed] = np.inf
        self._there = on_device(vectors, self._device)
        self._minus_half_squares = on_device(-half_squares.astype(np.float32), self._device)
        # Word j·tiles + t belongs to tile t: the maximum over a tile then reads memory in order.
        self._norms_there = on_device(norms.astype(np.float32), self._device)
        self._tile_norms_there = self._norms_there.view(TILE, self._tiles).amax(dim=0)
        self._within_tile = self._torch.arange(TILE, device=self._device) * self._tiles

    def nearest(self, queries: Vectors) -> Ids:
        """Return the id of the nearest word of every row; ties go to the lowest id."""
        queries = checked_queries(queries, self._dimension)
        check_full_products("the exact search")
        most = _SCORES_AT_ONCE.get(self._device.type, _SCORES_AT_ONCE_ELSEWHERE)
        at_once = max(1, most // (self._tiles * TILE))
        with self._torch.inference_mode():
            return nearest_in_parts(queries, at_once, self._nearest_of_batch)

    def _nearest_of_batch(self, queries: Vectors) -> Ids:
        torch, points, norms = self._torch, on_device(queries, self._device), row_norms(queries)
        lengths = on_device(norms.astype(np.float32), self._device)
        scores = torch.addmm(self._minus_half_squares, points, self._there.T)
        best = scores.view(len(queries), TILE, self._tiles).amax(dim=1)
        error = self._error(lengths[:, None], self._tile_norms_there)
        lower = (best - error).amax(dim=1)
        owners, tiles = torch.nonzero(best + error >= lower[:, None], as_tuple=True)
        words = tiles[:, None] + self._within_tile
        reach = scores[owners[:, None], words] + self._error(
            lengths[owners][:, None], self._norms_there[words]
        )
        possible = reach >= lower[owners][:, None]
        del scores, best, error
        owners, words = (
            owners[:, None].expand(-1, TILE)[possible].cpu().numpy(),
            words[possible].cpu().numpy(),
        )
        found = np.full(len(queries), -1, dtype=np.int64)
        found[owners] = words
        contested = np.bincount(owners, minlength=len(queries))[owners] > 1
        if contested.any():  # mostly one word is left
            some = np.unique(owners[contested], return_inverse=True)
            found[some[0]] = self._settled(queries[some[0]], norms[some[0]], some[1], words[contested])
        return found

    def _error(self, query_norms: Tensor, word_norms: Tensor) -> Tensor:
        error: Tensor = (
            float32_growth(self._dimension) * word_norms * (query_norms + 0.5 * word_norms) + _SMALLEST_ERROR
        )
        return error
