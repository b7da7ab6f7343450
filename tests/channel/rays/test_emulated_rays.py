"""The rays on ARM, compiled by a cross compiler and run by an emulator, are those of NumPy, number for
number."""

from __future__ import annotations

import shutil
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deniable import Embedding
from deniable.arrays import Floats, Ids
from deniable.channel.rays import rays as module
from deniable.channel.rays.rays import Rays
from deniable.channel.rays.tables import RayTables, WordTables
from tests.channel.rays.test_rays import KINDS, hostile, size_of
from tests.support.emulated_arm import PACKAGE, compile_program, needs_the_tools, run_program
from tests.support.strategies import random_embedding

pytestmark = needs_the_tools

DRIVER = Path(__file__).with_name("emulated.cpp")
PATHS = ("neon", "portable")
Numbers = list[np.ndarray]


def compile_rays(package: Path, folder: Path) -> Path:
    native = package / "channel" / "rays" / "native"
    sources = [file for file in sorted(native.glob("*.cpp")) if file.name != "binding.cpp"]
    return compile_program(
        [*sources, package / "neighbours" / "native" / "pool.cpp", DRIVER], folder / "rays", headers=native
    )


class EmulatedRays:
    """What ``NumpyRays`` does, by the program; see ``emulated.cpp`` for what it reads and writes."""

    def __init__(self, program: Path, path: str, words: WordTables, rays: RayTables) -> None:
        self._program, self._path, self._words, self._rays = program, path, words, rays

    def first(self, *origins: Any) -> tuple[Floats, Ids]:
        answer, shape = self._ask("first", origins), (len(origins[0]), len(self._rays.directions))
        radii, winners = answer[: len(answer) // 2], answer[len(answer) // 2 :]
        return np.frombuffer(radii, "<f8").reshape(shape).copy(), np.frombuffer(winners, "<i8").reshape(
            shape
        ).copy()

    def at(self, *origins_and_ends: Any) -> Ids:
        shape = (len(origins_and_ends[0]), len(self._rays.directions))
        return np.frombuffer(self._ask("at", origins_and_ends), "<i8").reshape(shape).copy()

    def walk(self, *origins_and_reach: Any) -> list[Numbers]:
        answer, rays, walks = self._ask("walk", origins_and_reach), len(self._rays.directions), []
        for _ in range(len(origins_and_reach[0])):
            counts = np.frombuffer(answer, "<u4", rays)
            passed, answer = int(counts.sum()), answer[4 * rays :]
            walks.append(
                [
                    counts,
                    np.frombuffer(answer, "<u4", passed),
                    np.frombuffer(answer[4 * passed :], "<f8", passed),
                ]
            )
            answer = answer[12 * passed :]
        assert not answer
        return walks

    def _ask(self, question: str, asked: tuple[Any, ...]) -> bytes:
        words, rays = self._words, self._rays
        sizes = struct.pack(
            "<6Q", words.dimension, words.tiles, rays.highest.shape[1], len(rays.directions), len(asked[0]), 2
        )
        tables = (
            words.vectors,
            words.ids,
            words.half,
            words.slack,
            rays.projections,
            rays.highest,
            rays.directions,
        )
        given = sizes + b"".join(np.ascontiguousarray(each).tobytes() for each in (*tables, *asked))
        answer = run_program(self._program, self._path, question, given=given)
        assert answer.returncode == 0, answer.stderr.decode()
        return answer.stdout


def numbers_of(embedding: Embedding, ids: Ids, furthest: float) -> Numbers:
    rays = Rays(embedding, rays=33, path="numpy")
    size = size_of(embedding)
    walks = rays.envelopes(ids, furthest=furthest)
    along = [part for walk in walks for part in (walk.counts, walk.winners, walk.radii)]
    return [*rays.first_breakpoints(ids), rays.winners_at(ids, np.linspace(size, 4 * size, 33)), *along]


def same(found: Numbers, expected: Numbers) -> bool:
    return len(found) == len(expected) and all(
        np.array_equal(a, b) for a, b in zip(found, expected, strict=True)
    )


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_rays(PACKAGE, tmp_path_factory.mktemp("aarch64"))


@pytest.fixture
def emulate(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path, str], None]:
    """Let rays be walked on the emulated processor from now on."""
    return lambda program, path: monkeypatch.setattr(
        module, "NumpyRays", lambda words, rays: EmulatedRays(program, path, words, rays)
    )


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("kind", KINDS)
def test_hostile_words_have_the_rays_of_numpy(
    program: Path, kind: str, path: str, emulate: Callable[[Path, str], None]
) -> None:
    embedding, ids = hostile(kind), np.arange(60)
    reaches = [3 * size_of(embedding), np.inf]
    expected = [numbers_of(embedding, ids, reach) for reach in reaches]
    emulate(program, path)
    assert all(
        same(numbers_of(embedding, ids, reach), each) for reach, each in zip(reaches, expected, strict=True)
    )


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(("words", "dimension"), [(1, 1), (31, 2), (33, 7), (2_100, 12), (500, 50)])
def test_words_of_every_size_have_the_rays_of_numpy(
    program: Path, words: int, dimension: int, path: str, emulate: Callable[[Path, str], None]
) -> None:
    embedding = random_embedding(words, dimension)
    ids = np.unique(np.linspace(0, words - 1, 20).astype(np.int64))
    expected = numbers_of(embedding, ids, 4.0)
    emulate(program, path)
    assert same(numbers_of(embedding, ids, 4.0), expected)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("sixteen(0), sixteen(16)", "sixteen(16), sixteen(0)"),
        ("vuzp2q_u16(", "vuzp1q_u16("),
        ("vmull_high_u16(shifted, multiplier)", "vmull_u16(vget_low_u16(shifted), vget_low_u16(multiplier))"),
        ("smallest = vminq_u16(smallest, whole)", "smallest = vmaxq_u16(smallest, whole)"),
    ],
)
def test_a_kernel_with_a_mistake_is_told_from_numpy(
    right: str, wrong: str, tmp_path: Path, emulate: Callable[[Path, str], None]
) -> None:
    """The comparison has power: words that a wrong kernel rules out are missed."""
    package = tmp_path / "deniable"
    for room in ("channel/rays", "neighbours"):
        shutil.copytree(PACKAGE / room / "native", package / room / "native")
    kernel = package / "channel" / "rays" / "native" / "rays_neon.cpp"
    assert right in kernel.read_text(encoding="utf-8")
    kernel.write_text(kernel.read_text(encoding="utf-8").replace(right, wrong), encoding="utf-8")
    embedding, ids = random_embedding(2_100, 3), np.arange(0, 2_100, 40)
    expected = numbers_of(embedding, ids, np.inf)
    emulate(compile_rays(package, tmp_path), "neon")
    assert not same(numbers_of(embedding, ids, np.inf), expected)
