"""The search on ARM, compiled by a cross compiler and run by an emulator, returns the oracle's words."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from deniable import Embedding
from tests.neighbours.driven import (
    DRIVER,
    Program,
    ask,
    assert_same_neighbours,
    assert_same_words,
    mark_shadowed,
)
from tests.support.emulated_arm import PACKAGE, compile_object, compile_program, needs_the_tools, run_program
from tests.support.hostile import (
    HOSTILE,
    HOSTILE_AT_ANY_SIZE,
    hostile_queries,
    hostile_vectors,
    named,
    noisy_queries,
)
from tests.support.oracle import OracleNeighbours
from tests.support.strategies import random_embedding

pytestmark = needs_the_tools

NATIVE = PACKAGE / "neighbours" / "native"
PATHS = ("neon", "portable")


def compile_search(sources: Path, folder: Path) -> Path:
    neon = compile_object(sources / "scan_neon.cpp", folder / "scan_neon.o", "-march=armv8.2-a+dotprod")
    others = [
        file for file in sorted(sources.glob("*.cpp")) if file.name not in ("module.cpp", "scan_neon.cpp")
    ]
    return compile_program([*others, DRIVER, neon], folder / "search", headers=sources)


def emulated(program: Path) -> Program:
    return lambda path, given: run_program(program, path, given=given)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_search(NATIVE, tmp_path_factory.mktemp("aarch64"))


@pytest.fixture(scope="module")
def program(built: Path) -> Program:
    return emulated(built)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("dimension", [1, 2, 3, 7, 50, 300, 301])
@pytest.mark.parametrize("words", [1, 2, 63, 64, 65, 700])
def test_equal_to_the_oracle_at_every_size(program: Program, words: int, dimension: int, path: str) -> None:
    embedding = random_embedding(words, dimension)
    queries = np.concatenate(
        [noisy_queries(embedding, epsilon, 31, seed=i) for i, epsilon in enumerate((1.0, 10.0, 50.0, 1e4))]
    )
    assert_same_words(program, path, embedding, queries)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("make", HOSTILE)
def test_equal_to_the_oracle_on_hostile_data(program: Program, make: str, path: str) -> None:
    embedding = HOSTILE[make]()
    queries = hostile_queries(embedding, count=5)
    assert_same_neighbours(program, path, embedding, queries, k=min(40, len(embedding)))


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("dimension", [1, 2, 3, 7, 50, 301])
@pytest.mark.parametrize("kind", HOSTILE_AT_ANY_SIZE)
def test_equal_to_the_oracle_on_hostile_data_at_every_size(
    program: Program, kind: str, dimension: int, path: str
) -> None:
    for words in (1, 2, 65):
        embedding = named(hostile_vectors(kind, words, dimension))
        assert_same_words(program, path, embedding, hostile_queries(embedding, count=4))


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("count", [1, 7, 8, 9, 100])
@pytest.mark.parametrize("threads", [1, 3])
def test_batches_of_every_size_on_any_number_of_threads(
    program: Program, count: int, threads: int, path: str
) -> None:
    embedding = random_embedding(5_000, 12)
    queries = noisy_queries(embedding, 3.0, count)
    found = ask(program, path, embedding, queries, k=3, threads=threads)
    assert np.array_equal(found.nearest, OracleNeighbours(embedding).nearest(queries))
    assert np.array_equal(found.near[0], OracleNeighbours(embedding).nearest_k(queries, 3)[0])


def test_the_words_of_the_built_in_embedding(program: Program) -> None:
    embedding = Embedding.open("default")
    queries = np.concatenate(
        [noisy_queries(embedding, epsilon, 200, seed=i) for i, epsilon in enumerate((4.0, 6.0, 12.0))]
    )
    assert_same_words(program, "neon", embedding, queries)


@pytest.mark.parametrize("make", HOSTILE)
def test_the_index_is_the_one_that_other_processors_build(program: Program, make: str) -> None:
    pytest.importorskip("deniable.neighbours._native", reason="installed without the native module")
    from deniable.neighbours import _native

    embedding = HOSTILE[make]()
    vectors = np.ascontiguousarray(embedding.vectors, dtype=np.float32)
    index = ask(program, "portable", embedding, vectors[:1]).index
    room = np.empty(len(index) + 64, dtype=np.uint8)
    begin = -room.ctypes.data % 64
    room[begin : begin + len(index)] = np.frombuffer(index, dtype=np.uint8)
    assert _native.is_index_of(vectors, mark_shadowed(embedding), room[begin : begin + len(index)], 1)


def test_a_processor_without_the_dot_product_is_told_apart(built: Path) -> None:
    refused = run_program(built, "neon", given=b"", processor="cortex-a53")
    assert (refused.returncode, refused.stderr) == (2, b"neon: the processor lacks asimddp\n")


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("sums[5][v], query, second, 1", "sums[5][v], query, second, 0"),
        ("const std::uint32_t bits[4] = {1, 2, 4, 8}", "const std::uint32_t bits[4] = {1, 2, 4, 4}"),
        ("vst1q_s32(dots + 4, high)", "vst1q_s32(dots + 4, low)"),
    ],
)
def test_a_kernel_with_a_mistake_is_told_from_the_oracle(tmp_path: Path, right: str, wrong: str) -> None:
    """The comparison has power: one wrong lane gives other words, or a search that notices that no word
    survives."""
    sources = tmp_path / "native"
    shutil.copytree(NATIVE, sources)
    kernel = sources / "scan_neon.cpp"
    assert right in kernel.read_text(encoding="utf-8")
    kernel.write_text(kernel.read_text(encoding="utf-8").replace(right, wrong), encoding="utf-8")
    embedding = random_embedding(700, 50)
    queries = noisy_queries(embedding, 3.0, 200)
    program = emulated(compile_search(sources, tmp_path))
    with pytest.raises(AssertionError):
        assert_same_words(program, "neon", embedding, queries)
