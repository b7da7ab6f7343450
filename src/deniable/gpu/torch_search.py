"""Exact nearest words on a device without our own kernels: the float32 product and proven bound of the BLAS
form (``blas.py``), in PyTorch.

For each batch of queries one matrix product gives approximate scores s̃ of all words; a tile of 32 words
keeps its largest. A tile can hold the winner only if its largest score plus the error bound E reaches the
best lower bound max(s̃ - E), and within those tiles so can only words that do. Mostly one word is left, and
that is the answer. Where several are, they are scored in float64, and what float64 cannot tell apart is
decided without rounding (``exact.nearest_of``).

The bound speaks of float32 products in any order of summation. TF32 rounds the factors to 10 bits and is not
covered, so a search refuses to run while PyTorch is allowed to use it. Used only when asked for: see
``selection.set_device``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.arrays import Floats, Ids, Vectors
from deniable.embeddings.embedding import Embedding
from deniable.gpu.devices import check_full_products, pytorch, usable_device
from deniable.neighbours.blas import BlasNeighbours, float32_growth, nearest_in_parts, row_norms
from deniable.neighbours.exact import nearest_of, score_error
from deniable.parameters import checked_queries

if TYPE_CHECKING:
    from torch import Tensor

TILE = 32
_SCORES_AT_ONCE = {"cuda": 1 << 28}
_SCORES_AT_ONCE_ELSEWHERE = 1 << 22
_SMALLEST_ERROR = 2.0**-120


class GpuNeighbours:
    """Exact search on a PyTorch device. Safe to use from several threads at once."""

    def __init__(self, embedding: Embedding, *, device: str = "cuda") -> None:
        """Copy the embedding to the device.

        :raises MissingExtra: if PyTorch is not installed.
        :raises InvalidParameter: if PyTorch has no such device here.
        """
        self._torch, self._device = pytorch(), usable_device(device)
        self._embedding = embedding
        self._words, self._dimension = embedding.vectors.shape
        self._tiles = -(-self._words // TILE)
        padded = self._tiles * TILE
        vectors = np.zeros((padded, self._dimension), dtype=np.float32)
        vectors[: self._words] = embedding.vectors
        norms = row_norms(vectors)
        # A word that loses every tie, and a row that is no word, are out of the race: their score is minus
        # infinity.
        winnable = np.zeros(padded, dtype=bool)
        winnable[: self._words] = True
        winnable[embedding.shadowed] = False
        half_squares = np.where(winnable, 0.5 * norms * norms, np.inf)
        self._largest_norm = float(norms.max())
        self._vectors = self._on_device(vectors)
        self._minus_half_squares = self._on_device(-half_squares.astype(np.float32))
        self._half_squares64 = self._on_device(half_squares)
        # Word j·tiles + t belongs to tile t: the maximum over a tile then reads memory in order.
        self._norms = self._on_device(norms.astype(np.float32))
        self._tile_norms = self._norms.view(TILE, self._tiles).amax(dim=0)
        self._within_tile = self._torch.arange(TILE, device=self._device) * self._tiles
        self._on_processor: BlasNeighbours | None = None

    def nearest(self, queries: Vectors) -> Ids:
        """Return the id of the nearest word of every row; ties go to the lowest id.

        :raises InvalidParameter: if PyTorch may use TF32, which the error bound does not cover.
        """
        queries = checked_queries(queries, self._dimension)
        check_full_products("the exact search")
        at_once = max(
            1, _SCORES_AT_ONCE.get(self._device.type, _SCORES_AT_ONCE_ELSEWHERE) // (self._tiles * TILE)
        )
        with self._torch.inference_mode():
            return nearest_in_parts(queries, at_once, self._nearest_of_batch)

    def nearest_k(self, queries: Vectors, k: int) -> tuple[Ids, Floats]:
        """Return the ``k`` nearest words of every row and their distances; the processor does this one.

        :raises InvalidParameter: if ``k`` is not between 1 and the number of words.
        """
        if self._on_processor is None:
            self._on_processor = BlasNeighbours(self._embedding)
        return self._on_processor.nearest_k(queries, k)

    def _nearest_of_batch(self, batch: Vectors) -> Ids:
        torch, points = self._torch, self._on_device(batch)
        lengths = points.double().norm(dim=1)
        scores = torch.addmm(self._minus_half_squares, points, self._vectors.T)
        best = scores.view(len(batch), TILE, self._tiles).amax(dim=1)
        error = self._error(lengths.float()[:, None], self._tile_norms)
        lower = (best - error).amax(dim=1)
        owners, tiles = torch.nonzero(best + error >= lower[:, None], as_tuple=True)
        members = tiles[:, None] + self._within_tile
        member_error = self._error(lengths.float()[owners][:, None], self._norms[members])
        possible = scores[owners[:, None], members] + member_error >= lower[owners][:, None]
        del scores, best, error
        owners, words = owners[:, None].expand(-1, TILE)[possible], members[possible]
        nearest = torch.full((len(batch),), -1, dtype=torch.int64, device=self._device)
        nearest[owners] = words
        contested = torch.bincount(owners, minlength=len(batch))[owners] > 1
        found: Ids = nearest.cpu().numpy()
        if bool(contested.any()):
            self._settle(batch, points, lengths, owners[contested], words[contested], found)
        return found

    def _settle(
        self, batch: Vectors, points: Tensor, lengths: Tensor, owners: Tensor, words: Tensor, found: Ids
    ) -> None:
        """Write the nearest word of each contested query into ``found``."""
        torch = self._torch
        scores = (self._vectors[words].double() * points[owners].double()).sum(dim=1) - self._half_squares64[
            words
        ]
        best = torch.full((len(batch),), -torch.inf, dtype=torch.float64, device=self._device)
        best = best.scatter_reduce(0, owners, scores, "amax")
        slack = self._on_device(2 * score_error(self._dimension, lengths.cpu().numpy(), self._largest_norm))
        close = scores >= (best - slack)[owners]
        close_owners, close_words = owners[close].cpu().numpy(), words[close].cpu().numpy()
        found[close_owners] = close_words
        for query in np.flatnonzero(np.bincount(close_owners, minlength=len(batch)) > 1).tolist():
            found[query] = nearest_of(
                batch[query], self._embedding.vectors, close_words[close_owners == query].tolist()
            )

    def _error(self, query_norms: Tensor, word_norms: Tensor) -> Tensor:
        error: Tensor = (
            float32_growth(self._dimension) * word_norms * (query_norms + 0.5 * word_norms) + _SMALLEST_ERROR
        )
        return error

    def _on_device(self, array: np.ndarray[Any, Any]) -> Tensor:
        there: Tensor = self._torch.from_numpy(np.array(array, copy=not array.flags.writeable)).to(
            self._device
        )
        return there
