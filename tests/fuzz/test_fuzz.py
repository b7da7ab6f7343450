"""A part of the fuzzing runs with the tests; ``scripts/fuzz_readers.py`` runs as many cases as wanted."""

from __future__ import annotations

import logging
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fuzz.cases import run_case, run_cases
from tests.fuzz.target import Files
from tests.fuzz.targets import TARGETS

FOUND = Path(__file__).parent / "found"
SHORT, LONG = 150, 10_000


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Keep gensim and others from reporting what is raised anyway."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.parametrize("name", TARGETS)
def test_undamaged_files_are_read(name: str, tmp_path: Path) -> None:
    for number, files in enumerate(TARGETS[name].seeds()):
        folder = tmp_path / str(number)
        for each, content in files.items():
            (folder / each).parent.mkdir(parents=True, exist_ok=True)
            (folder / each).write_bytes(content)
        TARGETS[name].read(folder, _Steady())


class _Steady(random.Random):
    """Chooses the first of all, and never what is rare."""

    def random(self) -> float:
        return 0.99

    def choice(self, seq: Any) -> Any:
        return seq[0]


@pytest.mark.parametrize("name", TARGETS)
def test_damaged_files_are_read_or_refused_with_one_error(name: str, tmp_path: Path) -> None:
    assert (
        list(run_cases(name, range(SHORT // 5 if TARGETS[name].confined else SHORT), tmp_path / "case")) == []
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
def test_many_damaged_files_are_read_or_refused_with_one_error(name: str, tmp_path: Path) -> None:
    assert list(run_cases(name, range(SHORT, LONG), tmp_path / "case")) == []


@pytest.mark.parametrize(
    "case", sorted(path.relative_to(FOUND).as_posix() for path in FOUND.glob("*/*") if path.is_dir())
)
def test_what_was_found_once_is_not_found_again(case: str, tmp_path: Path) -> None:
    name, folder = case.split("/")[0], FOUND / case
    files: Files = {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }
    for number in range(2 if TARGETS[name].confined else 8):
        assert run_case(name, files, tmp_path / "case", random.Random(number)) is None
