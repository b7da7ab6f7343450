"""Nearest-word searches: each takes vectors and threads and returns a function from queries to word ids."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.peers.material import embedding_of
from deniable.arrays import Ids, Vectors
from deniable.neighbours import best_neighbours
from deniable.neighbours.blas import BlasNeighbours

Search = Callable[[Vectors], Ids]

OURS, WITHOUT_AMX, FLAT, NUMPY = "deniable", "deniable without AMX", "FAISS IndexFlatL2", "blocked NumPy"


class LeftOut(Exception):
    """A contestant does not take part on this machine; the message says why."""


def ours(vectors: Vectors, threads: int) -> Search:  # noqa: ARG001 - the environment sets the threads
    """Return deniable's search."""
    return best_neighbours(embedding_of(vectors)).nearest


def ours_without_amx(vectors: Vectors, threads: int) -> Search:  # noqa: ARG001
    """Return deniable's search as processors have it that multiply no matrices.

    :raises LeftOut: where this is such a processor.
    """
    try:
        from deniable.neighbours.scan import ScanNeighbours, usable_paths
    except ImportError:
        raise LeftOut("the native module is not installed") from None
    if "amx" not in usable_paths():
        raise LeftOut("the processor has no AMX: it is what deniable does here")
    return ScanNeighbours(embedding_of(vectors), path="avx512vnni").nearest


def ours_blas(vectors: Vectors, threads: int) -> Search:  # noqa: ARG001
    """Return deniable's search without its native module."""
    return BlasNeighbours(embedding_of(vectors)).nearest


def faiss_flat(vectors: Vectors, threads: int) -> Search:
    """Return FAISS's exact search."""
    faiss = _library("faiss")
    faiss.omp_set_num_threads(threads)
    index = faiss.IndexFlatL2(vectors.shape[1])
    index.add(vectors)

    def search(queries: Vectors) -> Ids:
        ids: NDArray[np.int64] = index.search(queries, 1)[1][:, 0]
        return ids

    return search


def usearch_exact(vectors: Vectors, threads: int) -> Search:
    """Return usearch's exact search."""
    usearch = _library("usearch.index")

    def search(queries: Vectors) -> Ids:
        found = usearch.search(vectors, queries, 1, usearch.MetricKind.L2sq, exact=True, threads=threads)
        return np.asarray(found.keys).reshape(-1).astype(np.int64)

    return search


def numkong_exact(vectors: Vectors, threads: int) -> Search:  # noqa: ARG001 - it has no threads of its own
    """Return NumKong's squared distances (SimSIMD's, under its new name) in blocks, and the least of each
    row."""
    numkong = _library("numkong")

    def search(queries: Vectors) -> Ids:
        nearest = np.empty(len(queries), dtype=np.int64)
        for start in range(0, len(queries), 64):
            part = slice(start, start + 64)
            apart = numkong.cdist(queries[part], vectors, "sqeuclidean", out_dtype="float32")
            nearest[part] = np.asarray(apart).argmin(axis=1)
        return nearest

    return search


def _library(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        raise LeftOut(f"{name.partition('.')[0]} is not installed") from None


def blocked_numpy(vectors: Vectors, threads: int) -> Search:  # noqa: ARG001
    """Return float32 matrix products in blocks that stay in the cache, and the largest score of each row."""
    halves = 0.5 * np.einsum("ij,ij->i", vectors, vectors)

    def search(queries: Vectors) -> Ids:
        nearest = np.zeros(len(queries), dtype=np.int64)
        for start in range(0, len(queries), 512):
            batch, own = queries[start : start + 512], nearest[start : start + 512]
            best = np.full(len(batch), -np.inf, dtype=np.float32)
            for first in range(0, len(vectors), 4096):
                scores = batch @ vectors[first : first + 4096].T - halves[first : first + 4096]
                here, top = scores.argmax(axis=1), scores.max(axis=1)
                own[top > best] = here[top > best] + first
                np.maximum(best, top, out=best)
        return nearest

    return search


CONTESTANTS: dict[str, Callable[[Vectors, int], Search]] = {
    OURS: ours,
    WITHOUT_AMX: ours_without_amx,
    "deniable without compiler": ours_blas,
    FLAT: faiss_flat,
    "usearch exact": usearch_exact,
    "NumKong exact": numkong_exact,
    NUMPY: blocked_numpy,
}
"""All contestants; the first is ours."""
