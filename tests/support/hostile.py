"""Embeddings and queries that bring out what a search gets wrong, shared by the tests of all searches."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from deniable import Embedding, InsecureSeededRandomness
from deniable.arrays import Vectors
from deniable.noise.randomness import multivariate_noise


def named(vectors: Vectors) -> Embedding:
    """Return an embedding of the vectors under the words w0, w1, …"""
    return Embedding([f"w{i}" for i in range(len(vectors))], vectors)


def noisy_queries(embedding: Embedding, epsilon: float, count: int, *, seed: int = 0) -> Vectors:
    """Return random words' vectors with the mechanism's noise."""
    # Far from the seeds that made the embedding: the same stream would point the noise of query i exactly at
    # word i.
    ids = np.random.default_rng(seed + 1_000_000).integers(0, len(embedding), count)
    noise = multivariate_noise(
        InsecureSeededRandomness(insecure_seed=seed + 2_000_000), epsilon, count, embedding.dimension
    )
    return (noise + embedding.rows(ids)).astype(np.float32)


def equal_vectors() -> Embedding:
    """Return words of which half share a vector with an earlier word, and a third are zero."""
    vectors = np.random.default_rng(0).standard_normal((300, 4)).astype(np.float32)
    vectors[100:200] = vectors[:100]
    vectors[200:] = 0.0
    vectors[250] = -0.0
    return named(vectors)


def all_norms() -> Embedding:
    """Return vectors with norms from 1e-6 to 1e6, and one zero vector."""
    rng = np.random.default_rng(1)
    vectors = rng.standard_normal((500, 20)) * 10 ** rng.uniform(-6, 6, (500, 1))
    vectors[7] = 0.0
    return named(vectors.astype(np.float32))


def one_outlier() -> Embedding:
    """Return ordinary vectors and one a million times as long."""
    vectors = np.random.default_rng(2).standard_normal((400, 10))
    vectors[200] *= 1e6
    return named(vectors.astype(np.float32))


def near_ties() -> Embedding:
    """Return vectors in groups of four that differ by one float in one coordinate, or not at all."""
    vectors = np.repeat(np.random.default_rng(3).standard_normal((50, 8)).astype(np.float32), 4, axis=0)
    vectors[1::4, 0] = np.nextafter(vectors[1::4, 0], np.float32(9))
    vectors[2::4, 7] = np.nextafter(vectors[2::4, 7], np.float32(-9))
    return named(vectors)


def all_within_the_bound() -> Embedding:
    """Return thousands of words so close together that 8 bits cannot tell any of them apart."""
    rng = np.random.default_rng(4)
    return named((rng.standard_normal(6) + 1e-5 * rng.standard_normal((12_000, 6))).astype(np.float32))


def longest_and_shortest() -> Embedding:
    """Return vectors about as long as an embedding may have, the smallest float32 numbers, and zero."""
    vectors = np.random.default_rng(5).standard_normal((90, 5)) * np.repeat([1e11, 1e-38, 1e-44], 30)[:, None]
    vectors[11] = 0.0
    return named(vectors.astype(np.float32))


def near_ties_beside_a_giant() -> Embedding:
    """Return words one permutation apart and so short that float32 has nothing left of them beside the
    longest word."""
    rng = np.random.default_rng(8)
    short = np.array([rng.permutation(np.linspace(-1.0, 1.0, 40)) for _ in range(64)]) * 1e-36
    return named(np.concatenate([short, np.full((1, 40), 1e11)]).astype(np.float32))


HOSTILE: dict[str, Callable[[], Embedding]] = {
    make.__name__: make
    for make in (
        equal_vectors,
        all_norms,
        one_outlier,
        near_ties,
        all_within_the_bound,
        longest_and_shortest,
        near_ties_beside_a_giant,
    )
}


def _copies(vectors: Vectors, rng: np.random.Generator) -> None:
    vectors[len(vectors) - len(vectors) // 2 :] = vectors[: len(vectors) // 2]


def _one_float_apart(vectors: Vectors, rng: np.random.Generator) -> None:
    for member in range(1, 4):
        vectors[member::4] = vectors[::4][: len(vectors[member::4])]
    vectors[1::4, 0] = np.nextafter(vectors[1::4, 0], np.float32(9))
    vectors[2::4, -1] = np.nextafter(vectors[2::4, -1], np.float32(-9))


def _zeros(vectors: Vectors, rng: np.random.Generator) -> None:
    vectors[::3] = 0.0
    vectors[3::6] = -0.0


def _all_norms(vectors: Vectors, rng: np.random.Generator) -> None:
    vectors *= 10 ** rng.uniform(-6, 6, (len(vectors), 1)).astype(np.float32)


def _an_outlier(vectors: Vectors, rng: np.random.Generator) -> None:
    vectors[len(vectors) // 2] *= 1e6


def _within_the_bound(vectors: Vectors, rng: np.random.Generator) -> None:
    vectors *= 1e-5
    vectors += rng.standard_normal(vectors.shape[1], dtype=np.float32)


HOSTILE_AT_ANY_SIZE: dict[str, Callable[[Vectors, np.random.Generator], None]] = {
    "half of the words are copies": _copies,
    "four words are one float apart": _one_float_apart,
    "a third of the words are zero": _zeros,
    "norms from 1e-6 to 1e6": _all_norms,
    "one word a million times as long": _an_outlier,
    "all words within the bound": _within_the_bound,
}
"""What to do to random vectors."""


def hostile_vectors(kind: str, words: int, dimension: int) -> Vectors:
    """Return vectors of a kind of ``HOSTILE_AT_ANY_SIZE``."""
    rng = np.random.default_rng(9)
    vectors = rng.standard_normal((words, dimension), dtype=np.float32)
    HOSTILE_AT_ANY_SIZE[kind](vectors, rng)
    return vectors


def hostile_queries(embedding: Embedding, count: int = 150) -> Vectors:
    """Return queries from very noisy to hardly noisy, the words themselves, midpoints of words, and the
    diagonal."""
    rng = np.random.default_rng(6)
    noisy = [
        noisy_queries(embedding, epsilon, count, seed=i) for i, epsilon in enumerate((1e-3, 1.0, 1e3, 1e6))
    ]
    rows = embedding.vectors[rng.integers(0, len(embedding), count)]
    others = embedding.vectors[rng.integers(0, len(embedding), count)]
    diagonal = np.repeat(
        np.array([[0.0], [1e-36], [1e-18], [1.0], [1e18]], dtype=np.float32), embedding.dimension, axis=1
    )
    return np.concatenate([*noisy, rows, rows / 2 + others / 2, diagonal])
