"""Exact nearest words by blocked float32 matrix products and a proven error bound.

The nearest word of q is argmax_u ⟨q, φ_u⟩ - ‖φ_u‖²/2 (never form ‖q‖²: at small ε it costs float32 its
digits). For each batch of queries:

1. a float32 matrix product gives approximate scores s̃ of all words, a block of words at a time; of each tile
   of 32 words only the largest score is kept;
2. |s̃ - s| ≤ E by the bound below, so a tile can hold the winner only if its largest score plus E reaches the
   best lower bound max(s̃ - E) over all tiles: one or two tiles a query;
3. those tiles are scored again in float64, and what float64 cannot tell apart is decided without rounding
   (``exact.nearest_of``).

The result is the true nearest word, by proof. On bad data (huge norms) more tiles survive: slower, never
wrong.

The bound. A float32 sum of n products in any order, fused or not, is off by at most γ_n·Σ|qᵢφᵢ| ≤
γ_n·‖q‖·‖φ_u‖ with γ_n = n·u/(1-n·u), u = 2⁻²⁴. Rounding ‖φ_u‖²/2 to float32, the subtraction, the bound
itself and its addition to the score, all in float32, add a few u·(‖q‖‖φ_u‖ + ‖φ_u‖²/2); gradual underflow
adds at most 2⁻¹⁴⁹ per product. γ_{n+16} and a tiny constant cover all of it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from deniable.arrays import Floats, Ids, Vectors
from deniable.embeddings.embedding import Embedding
from deniable.neighbours.exact import nearest_of, rank, score_error
from deniable.parameters import checked_k, checked_queries

TILE = 32
_QUERIES_AT_ONCE = 512
_QUERIES_AT_ONCE_IN_A_SMALL_VOCABULARY = 1 << 15
_SCORES_AT_ONCE = 1 << 20
_RESCORED_AT_ONCE = 1 << 19
_UNIT_ROUNDOFF_32 = 2.0**-24
_SMALLEST_ERROR = 2.0**-120


class BlasNeighbours:
    """Exact search by numpy's matrix product alone. Safe to use from several threads at once."""

    def __init__(self, embedding: Embedding) -> None:
        self._vectors = embedding.vectors
        self._words, self._dimension = embedding.vectors.shape
        norms = row_norms(self._vectors)
        self._half_squares: Vectors = (0.5 * norms * norms).astype(np.float32)
        # A word that shares its vector with an earlier word loses every tie: it is taken out of the race for
        # good.
        self._winnable_half_squares: Vectors = self._half_squares.copy()
        self._winnable_half_squares[embedding.shadowed] = np.inf
        self._tiles = -(-self._words // TILE)
        padded = np.zeros(self._tiles * TILE, dtype=np.float32)
        padded[: self._words] = norms
        self._norms: Vectors = padded[: self._words]
        self._tile_norms: Vectors = padded.reshape(self._tiles, TILE).max(axis=1)
        self._largest_norm = float(norms.max())
        self._shadowed = np.zeros(self._words, dtype=bool)
        self._shadowed[embedding.shadowed] = True

    def nearest(self, queries: Vectors) -> Ids:
        """Return the id of the nearest word of every row; ties go to the lowest id."""
        queries = checked_queries(queries, self._dimension)
        at_once = min(
            max(_QUERIES_AT_ONCE, _SCORES_AT_ONCE // self._words), _QUERIES_AT_ONCE_IN_A_SMALL_VOCABULARY
        )
        return nearest_in_parts(queries, at_once, self._nearest_of_batch)

    def nearest_k(self, queries: Vectors, k: int) -> tuple[Ids, Floats]:
        """Return the ids of the ``k`` nearest words of every row, nearest first, and their distances."""
        queries = checked_queries(queries, self._dimension)
        checked_k(k, self._words)
        ids = np.empty((len(queries), k), dtype=np.int64)
        distances = np.empty((len(queries), k))
        at_once = max(1, 16 * _SCORES_AT_ONCE // self._words)
        for start in range(0, len(queries), at_once):
            batch = queries[start : start + at_once]
            scores = batch @ self._vectors.T
            scores -= self._half_squares
            norms = row_norms(batch).astype(np.float32)
            for i, query in enumerate(batch):
                error = self._float32_error(norms[i], self._norms)
                lower = scores[i] - error
                threshold = np.partition(lower, self._words - k)[self._words - k]
                candidates = np.flatnonzero(scores[i] + error >= threshold)
                ids[start + i], distances[start + i] = rank(query, self._vectors, candidates, k)
        return ids, distances

    def _float32_error(self, query_norm: np.float32 | Vectors, word_norms: Vectors) -> Vectors:
        relative = np.float32(float32_growth(self._dimension))
        bound: Vectors = relative * word_norms * (query_norm + np.float32(0.5) * word_norms) + np.float32(
            _SMALLEST_ERROR
        )
        return bound

    def _nearest_of_batch(self, queries: Vectors) -> Ids:
        norms = row_norms(queries)
        upper, best_lower = self._tile_bounds(queries, norms.astype(np.float32))
        owners, tiles = np.nonzero((upper >= best_lower).T)
        words = tiles[:, None] * TILE + np.arange(TILE)
        possible = words < self._words
        possible[possible] = ~self._shadowed[words[possible]]
        return self._settled(queries, norms, np.repeat(owners, possible.sum(axis=1)), words[possible])

    def _tile_bounds(self, queries: Vectors, query_norms: Vectors) -> tuple[Vectors, Vectors]:
        """Return what no score of a tile (rows) exceeds, for each query (columns), and what each query's best
        score reaches."""
        count = len(queries)
        transposed = np.ascontiguousarray(queries.T)
        rows = max(TILE, _SCORES_AT_ONCE // count // TILE * TILE)
        buffer = np.empty((min(rows, self._tiles * TILE), count), dtype=np.float32)
        upper = np.empty((self._tiles, count), dtype=np.float32)
        best_lower = np.full(count, -np.inf, dtype=np.float32)
        for start in range(0, self._words, rows):
            stop = min(start + rows, self._words)
            scores = buffer[: stop - start]
            np.matmul(self._vectors[start:stop], transposed, out=scores)
            scores -= self._winnable_half_squares[start:stop, None]
            whole = (stop - start) // TILE
            best = upper[start // TILE : -(-stop // TILE)]
            scores[: whole * TILE].reshape(whole, TILE, count).max(axis=1, out=best[:whole])
            if whole < len(best):
                scores[whole * TILE :].max(axis=0, out=best[whole])
            error = self._float32_error(query_norms, self._tile_norms[start // TILE : -(-stop // TILE), None])
            np.maximum(best_lower, (best - error).max(axis=0), out=best_lower)
            best += error
        return upper, best_lower

    def _settled(self, queries: Vectors, norms: Floats, owners: Ids, words: Ids) -> Ids:
        """Return each query's nearest word of pairs sorted by query; -1 for a query without any."""
        scores = np.empty(len(words))
        at_once = max(1, _RESCORED_AT_ONCE // self._dimension)
        for start in range(0, len(words), at_once):
            pairs = slice(start, start + at_once)
            vectors = self._vectors[words[pairs]].astype(np.float64)
            points = queries[owners[pairs]].astype(np.float64)
            scores[pairs] = np.einsum("ij,ij->i", vectors, points - 0.5 * vectors)
        best = np.full(len(queries), -np.inf)
        starts = np.flatnonzero(np.r_[True, owners[1:] != owners[:-1]])[: len(owners)]
        best[owners[starts]] = np.maximum.reduceat(scores, starts) if len(scores) else scores
        close = scores >= (best - 2 * score_error(self._dimension, norms, self._largest_norm))[owners]
        owners, words = owners[close], words[close]
        nearest = np.full(len(queries), -1, dtype=np.int64)
        nearest[owners] = words
        for query in np.flatnonzero(np.bincount(owners, minlength=len(queries)) > 1).tolist():
            nearest[query] = nearest_of(queries[query], self._vectors, words[owners == query].tolist())
        return nearest


def float32_growth(dimension: int) -> float:
    """Return γ_{n+16} of the bound: what float32 scores are off by, relative to their norms."""
    growth = (dimension + 16) * _UNIT_ROUNDOFF_32
    return growth / (1.0 - growth)


def row_norms(vectors: Vectors) -> Floats:
    """Return the lengths of the rows, computed in float64."""
    norms = np.empty(len(vectors))
    for start in range(0, len(vectors), 16_384):
        block = vectors[start : start + 16_384].astype(np.float64)
        norms[start : start + len(block)] = np.sqrt(np.einsum("ij,ij->i", block, block))
    return norms


def nearest_in_parts(queries: Vectors, at_once: int, nearest: Callable[[Vectors], Ids]) -> Ids:
    """Return the nearest word of every row, found for ``at_once`` rows at a time, in bounded memory."""
    found = np.empty(len(queries), dtype=np.int64)
    for start in range(0, len(queries), at_once):
        found[start : start + at_once] = nearest(queries[start : start + at_once])
    return found
