"""Asks the search of ``emulated.cpp``, a program without Python, for words."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from subprocess import CompletedProcess

import numpy as np
from numpy.typing import NDArray

from deniable import Embedding
from deniable.arrays import Floats, Ids, Vectors
from tests.support.oracle import OracleNeighbours

DRIVER = Path(__file__).with_name("emulated.cpp")

Program = Callable[[str, bytes], "CompletedProcess[bytes]"]
"""Runs the program with the name of a path and what it reads."""


@dataclass(frozen=True, kw_only=True)
class Found:
    """What the emulated processor found, and the index it built."""

    index: bytes
    nearest: Ids
    near: tuple[Ids, Floats]


def mark_shadowed(embedding: Embedding) -> NDArray[np.uint8]:
    """Return a one for every word that shares another's vector."""
    marks = np.zeros(len(embedding), dtype=np.uint8)
    marks[embedding.shadowed] = 1
    return marks


def ask(
    program: Program, path: str, embedding: Embedding, queries: Vectors, *, k: int = 1, threads: int = 2
) -> Found:
    """Return what the program finds."""
    vectors = np.ascontiguousarray(embedding.vectors, dtype="<f4")
    words, dimension = vectors.shape
    head = struct.pack("<5Q", words, dimension, len(queries), k, threads)
    answer = program(
        path, head + vectors.tobytes() + mark_shadowed(embedding).tobytes() + queries.astype("<f4").tobytes()
    )
    assert answer.returncode == 0, answer.stderr.decode()
    ends = np.cumsum([8 * len(queries) * k, 8 * len(queries) * k, 8 * len(queries)])
    distances, near, nearest = (
        answer.stdout[len(answer.stdout) - end : len(answer.stdout) - start]
        for start, end in zip((0, *ends), ends, strict=False)
    )
    return Found(
        index=answer.stdout[: -ends[-1]],
        nearest=np.frombuffer(nearest, dtype="<i8"),
        near=(
            np.frombuffer(near, dtype="<i8").reshape(-1, k),
            np.frombuffer(distances, dtype="<f8").reshape(-1, k),
        ),
    )


def assert_same_words(program: Program, path: str, embedding: Embedding, queries: Vectors) -> None:
    """Fail unless the program finds the oracle's words."""
    assert np.array_equal(
        ask(program, path, embedding, queries).nearest, OracleNeighbours(embedding).nearest(queries)
    )


def assert_same_neighbours(
    program: Program, path: str, embedding: Embedding, queries: Vectors, *, k: int, threads: int = 2
) -> None:
    """Fail unless the program finds the oracle's words, the k nearest in their order, and their distances."""
    found, oracle = ask(program, path, embedding, queries, k=k, threads=threads), OracleNeighbours(embedding)
    expected_near, expected_distances = oracle.nearest_k(queries, k)
    assert np.array_equal(found.nearest, oracle.nearest(queries))
    assert np.array_equal(found.near[0], expected_near)
    assert np.allclose(found.near[1], expected_distances, rtol=1e-12, atol=0)
