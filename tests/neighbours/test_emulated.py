"""The search on processors that this machine is none of returns the oracle's words.

ARM is a cross-compiled program under an emulator. For AMX, whose AVX-512 part has no emulator here, the
matrix instructions alone are done in plain C++; where the machine has AMX, the tests of every search run the
instructions themselves.
"""

from __future__ import annotations

import shutil
import subprocess
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


needs_avx512 = [
    pytest.mark.slow,
    pytest.mark.skipif(COMPILER is None, reason="no compiler"),
    pytest.mark.skipif(not has_avx512(), reason="the processor lacks AVX-512 VNNI"),
]
AMX, NEON, PORTABLE = (
    pytest.param("amx", marks=needs_avx512),
    pytest.param("neon", marks=needs_the_tools),
    pytest.param("portable", marks=needs_the_tools),
)
every_path = pytest.mark.parametrize("path", [AMX, NEON, PORTABLE])


def change(file: Path, right: str, wrong: str) -> None:
    text = file.read_text(encoding="utf-8")
    assert text.count(right) == 1, right
    file.write_text(text.replace(right, wrong), encoding="utf-8")


def compile_for_amx(sources: Path, target: Path) -> Program:
    """Return the search with emulated matrix instructions."""
    shutil.copy(INSTRUCTIONS, sources / "amx.inc")
    change(sources / "dispatch.cpp", '{"amx_int8", has_amx()}', '{"amx_int8", has_amx() || true}')
    (sources / "module.cpp").unlink()
    options = ["-std=c++17", "-O2", "-ffp-contract=off", "-mfma"]
    options += ["-mavx512f", "-mavx512bw", "-mavx512vl", "-mavx512vnni", "-mamx-tile", "-mamx-int8"]
    files = [str(file) for file in (*sorted(sources.glob("*.cpp")), DRIVER)]
    command = [str(COMPILER), *options, f"-I{sources}", "-pthread", *files, "-o", str(target)]
    subprocess.run(command, check=True)
    return lambda path, given: subprocess.run(
        [str(target), path], input=given, capture_output=True, check=False
    )


def compile_for_arm(sources: Path, target: Path) -> Path:
    neon = compile_object(sources / "scan_neon.cpp", target.with_suffix(".o"), "-march=armv8.2-a+dotprod")
    others = [
        file for file in sorted(sources.glob("*.cpp")) if file.name not in ("module.cpp", "scan_neon.cpp")
    ]
    return compile_program([*others, DRIVER, neon], target, headers=sources)


def compile_for(path: str, folder: Path, *changes: tuple[str, str]) -> Program:
    """Return the search for the processor of a path, with changes to its kernel."""
    sources, target = folder / "native", folder / "search"
    shutil.copytree(NATIVE, sources)
    for right, wrong in changes:
        change(sources / f"scan_{path}.cpp", right, wrong)
    if path == "amx":
        return compile_for_amx(sources, target)
    program = compile_for_arm(sources, target)
    return lambda path, given: run_program(program, path, given=given)


@pytest.fixture(scope="module")
def programs() -> dict[str, Program]:
    return {}


@pytest.fixture
def program(path: str, programs: dict[str, Program], tmp_path_factory: pytest.TempPathFactory) -> Program:
    processor = "amx" if path == "amx" else "aarch64"
    if processor not in programs:
        programs[processor] = compile_for(path, tmp_path_factory.mktemp(processor))
    return programs[processor]


@every_path
@pytest.mark.parametrize("dimension", [1, 2, 3, 7, 50, 64, 65, 100, 300, 301])
@pytest.mark.parametrize("words", [1, 2, 63, 64, 65, 700])
def test_equal_to_the_oracle_at_every_size(program: Program, words: int, dimension: int, path: str) -> None:
    embedding = random_embedding(words, dimension)
    queries = np.concatenate(
        [noisy_queries(embedding, epsilon, 31, seed=i) for i, epsilon in enumerate((1.0, 10.0, 50.0, 1e4))]
    )
    assert_same_words(program, path, embedding, queries)


@every_path
@pytest.mark.parametrize("make", HOSTILE)
def test_equal_to_the_oracle_on_hostile_data(program: Program, make: str, path: str) -> None:
    embedding = HOSTILE[make]()
    # AMX takes many queries at a time.
    queries = np.concatenate([hostile_queries(embedding, count=5)] * (4 if path == "amx" else 1))
    assert_same_neighbours(program, path, embedding, queries, k=min(40, len(embedding)))


@every_path
@pytest.mark.parametrize("dimension", [1, 2, 3, 7, 50, 301])
@pytest.mark.parametrize("kind", HOSTILE_AT_ANY_SIZE)
def test_equal_to_the_oracle_on_hostile_data_at_every_size(
    program: Program, kind: str, dimension: int, path: str
) -> None:
    for words in (1, 2, 65):
        embedding = named(hostile_vectors(kind, words, dimension))
        queries = np.concatenate([hostile_queries(embedding, count=4)] * (8 if path == "amx" else 1))
        assert_same_words(program, path, embedding, queries)


@every_path
@pytest.mark.parametrize("count", [1, 7, 8, 9, 16, 17, 32, 33, 48, 49, 100, 384, 385, 900])
@pytest.mark.parametrize("threads", [1, 3])
def test_batches_of_every_size_on_any_number_of_threads(
    program: Program, count: int, threads: int, path: str
) -> None:
    embedding = random_embedding(5_000, 12)
    queries = noisy_queries(embedding, 3.0, count if path == "amx" else min(count, 100))
    assert_same_neighbours(program, path, embedding, queries, k=3, threads=threads)


@pytest.mark.parametrize("path", [AMX, NEON])
def test_the_words_of_the_built_in_embedding(program: Program, path: str) -> None:
    embedding = Embedding.open("default")
    queries = [noisy_queries(embedding, epsilon, 100, seed=i) for i, epsilon in enumerate((4.0, 6.0, 12.0))]
    assert_same_words(program, path, embedding, np.concatenate(queries))


@pytest.mark.parametrize("path", [PORTABLE])
@pytest.mark.parametrize("make", HOSTILE)
def test_the_index_is_the_one_that_other_processors_build(program: Program, make: str, path: str) -> None:
    pytest.importorskip("deniable.neighbours._native", reason="installed without the native module")
    from deniable.neighbours import _native

    embedding = HOSTILE[make]()
    vectors = np.ascontiguousarray(embedding.vectors, dtype=np.float32)
    index = ask(program, path, embedding, vectors[:1]).index
    room = np.empty(len(index) + 64, dtype=np.uint8)
    begin = -room.ctypes.data % 64
    room[begin : begin + len(index)] = np.frombuffer(index, dtype=np.uint8)
    assert _native.is_index_of(vectors, mark_shadowed(embedding), room[begin : begin + len(index)], 1)


@pytest.mark.parametrize("path", [NEON])
def test_a_processor_without_the_dot_product_is_told_apart(path: str, tmp_path: Path) -> None:
    built = compile_for_arm(NATIVE, tmp_path / "search")
    refused = run_program(built, path, given=b"", processor="cortex-a53")
    assert (refused.returncode, refused.stderr) == (2, b"neon: the processor lacks asimddp\n")


MISTAKES = [
    ("amx", "matrix_multiply<1, 5, 6>();\n            if", "matrix_multiply<1, 4, 6>();\n            if"),
    ("amx", "corrections_[sums % 2 * 16]", "corrections_[0]"),
    ("amx", "tile + (t < tiles_ ? t : tiles_ - 1)", "tile"),
    ("amx", "fours[4 + w], 0xDD", "fours[4 + w], 0x88"),
    ("amx", "words += 2 * kMatrixBytes", "words += kMatrixBytes"),
    ("amx", "left == 1 ? 0x00FF : 0", "left == 1 ? 0xFFFF : 0"),
    ("neon", "sums[5][v], query, second, 1", "sums[5][v], query, second, 0"),
    ("neon", "const std::uint32_t bits[4] = {1, 2, 4, 8}", "const std::uint32_t bits[4] = {1, 2, 4, 4}"),
    ("neon", "vst1q_s32(dots + 4, high)", "vst1q_s32(dots + 4, low)"),
]


@pytest.mark.parametrize(
    ("path", "right", "wrong"),
    [pytest.param(*each, marks=needs_avx512 if each[0] == "amx" else needs_the_tools) for each in MISTAKES],
)
def test_a_kernel_with_a_mistake_is_told_from_the_oracle(
    tmp_path: Path, path: str, right: str, wrong: str
) -> None:
    """The comparison has power: one wrong register or lane gives other words, or a search that notices that
    no word survives."""
    program = compile_for(path, tmp_path, (right, wrong))
    # So many dimensions that the last multiplication of AMX has fewer than the others, and so many queries
    # that others lie behind them.
    dimension, count = (140, 900) if path == "amx" else (50, 200)
    embedding = random_embedding(700, dimension)
    with pytest.raises(AssertionError):
        assert_same_words(program, path, embedding, noisy_queries(embedding, 3.0, count))
