"""The search by AMX with its matrix instructions done in plain C++ returns the oracle's words, on machines
without AMX as well.

Where the machine has AMX, the tests of every search and of real vectors run the instructions themselves. The
rest of the kernel takes AVX-512, which has no emulator here.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from deniable import Embedding
from tests.neighbours.driven import DRIVER, Program, assert_same_neighbours, assert_same_words
from tests.support.emulated_arm import PACKAGE
from tests.support.hostile import (
    HOSTILE,
    HOSTILE_AT_ANY_SIZE,
    hostile_queries,
    hostile_vectors,
    named,
    noisy_queries,
)
from tests.support.strategies import random_embedding

COMPILER = shutil.which("g++")
NATIVE = PACKAGE / "neighbours" / "native"
INSTRUCTIONS = Path(__file__).with_name("emulated_amx.inc")


def has_avx512() -> bool:
    try:
        from deniable.neighbours import _native
    except ImportError:  # installed without the native module
        return False
    return dict(_native.paths()).get("avx512vnni") == ""


pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(COMPILER is None, reason="no compiler"),
    pytest.mark.skipif(not has_avx512(), reason="the processor lacks AVX-512 VNNI"),
]


def compile_search(folder: Path, *changes: tuple[str, str]) -> Program:
    """Return the search with emulated instructions, and with changes to the kernel."""
    sources = folder / "native"
    shutil.copytree(NATIVE, sources)
    shutil.copy(INSTRUCTIONS, sources / "amx.inc")
    change(sources / "dispatch.cpp", '{"amx_int8", has_amx()}', '{"amx_int8", has_amx() || true}')
    for right, wrong in changes:
        change(sources / "scan_amx.cpp", right, wrong)
    (sources / "module.cpp").unlink()
    options = ["-std=c++17", "-O2", "-ffp-contract=off", "-mfma"]
    options += ["-mavx512f", "-mavx512bw", "-mavx512vl", "-mavx512vnni", "-mamx-tile", "-mamx-int8"]
    program = folder / "search"
    files = [str(file) for file in (*sorted(sources.glob("*.cpp")), DRIVER)]
    subprocess.run(
        [str(COMPILER), *options, f"-I{sources}", "-pthread", *files, "-o", str(program)], check=True
    )
    return lambda path, given: subprocess.run(
        [str(program), path], input=given, capture_output=True, check=False
    )


def change(file: Path, right: str, wrong: str) -> None:
    text = file.read_text(encoding="utf-8")
    assert text.count(right) == 1, right
    file.write_text(text.replace(right, wrong), encoding="utf-8")


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    return compile_search(tmp_path_factory.mktemp("amx"))


@pytest.mark.parametrize("dimension", [1, 2, 3, 7, 50, 64, 65, 100, 300, 301])
@pytest.mark.parametrize("words", [1, 2, 63, 64, 65, 700])
def test_equal_to_the_oracle_at_every_size(program: Program, words: int, dimension: int) -> None:
    embedding = random_embedding(words, dimension)
    queries = np.concatenate(
        [noisy_queries(embedding, epsilon, 31, seed=i) for i, epsilon in enumerate((1.0, 10.0, 50.0, 1e4))]
    )
    assert_same_words(program, "amx", embedding, queries)


@pytest.mark.parametrize("make", HOSTILE)
def test_equal_to_the_oracle_on_hostile_data(program: Program, make: str) -> None:
    embedding = HOSTILE[make]()
    queries = np.concatenate([hostile_queries(embedding, count=5)] * 4)
    assert_same_neighbours(program, "amx", embedding, queries, k=min(40, len(embedding)))


@pytest.mark.parametrize("dimension", [1, 7, 50, 301])
@pytest.mark.parametrize("kind", HOSTILE_AT_ANY_SIZE)
def test_equal_to_the_oracle_on_hostile_data_at_every_size(
    program: Program, kind: str, dimension: int
) -> None:
    for words in (1, 2, 65):
        embedding = named(hostile_vectors(kind, words, dimension))
        assert_same_words(
            program, "amx", embedding, np.concatenate([hostile_queries(embedding, count=4)] * 8)
        )


@pytest.mark.parametrize("count", [1, 16, 17, 32, 33, 48, 49, 384, 385, 900])
@pytest.mark.parametrize("threads", [1, 3])
def test_batches_of_every_size_on_any_number_of_threads(program: Program, count: int, threads: int) -> None:
    embedding = random_embedding(5_000, 12)
    assert_same_neighbours(
        program, "amx", embedding, noisy_queries(embedding, 3.0, count), k=3, threads=threads
    )


def test_the_words_of_the_built_in_embedding(program: Program) -> None:
    embedding = Embedding.open("default")
    assert_same_words(program, "amx", embedding, noisy_queries(embedding, 6.0, 100))


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("matrix_multiply<1, 5, 6>();\n            if", "matrix_multiply<1, 4, 6>();\n            if"),
        ("corrections_[sums % 2 * 16]", "corrections_[0]"),
        ("tile + (t < tiles_ ? t : tiles_ - 1)", "tile"),
        ("fours[4 + w], 0xDD", "fours[4 + w], 0x88"),
        ("words += 2 * kMatrixBytes", "words += kMatrixBytes"),
        ("left == 1 ? 0x00FF : 0", "left == 1 ? 0xFFFF : 0"),
    ],
)
def test_a_kernel_with_a_mistake_is_told_from_the_oracle(tmp_path: Path, right: str, wrong: str) -> None:
    """The comparison has power: one wrong register gives other words, or a search that notices that no word
    survives."""
    program = compile_search(tmp_path, (right, wrong))
    # So many dimensions that the last multiplication has fewer than the others, and so many queries that
    # others lie behind them.
    embedding = random_embedding(700, 140)
    with pytest.raises(AssertionError):
        assert_same_words(program, "amx", embedding, noisy_queries(embedding, 3.0, 900))
