"""Runs cases: each is a target and a number, so that what was found can be made again."""

from __future__ import annotations

import random
import resource
import shutil
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

from deniable.errors import DeniableError
from tests.fuzz.target import PRIVATE, Files
from tests.fuzz.targets import TARGETS

MOST_SECONDS = 600.0
MOST_MEBIBYTES = 300


def run_case(name: str, files: Files, folder: Path, source: random.Random) -> str | None:
    """Read damaged files in an empty folder; return what is wrong with how that went, None if nothing is."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for each, content in files.items():
        path = folder / each
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
    memory, started = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    problem = None
    try:
        TARGETS[name].read(folder, source)
    except (DeniableError, OSError) as error:
        said = str(error)
        if not said or not said.replace("\n", " ").isprintable():
            problem = f"a message that acts on a terminal, or none: {said!r}"
        elif PRIVATE[:5] in said:
            problem = f"a message that shows private text: {said!r}"
    except Exception:
        problem = traceback.format_exc()
    except BaseException as error:  # a panic of a Rust library is no Exception
        if isinstance(error, KeyboardInterrupt | SystemExit):
            raise
        problem = traceback.format_exc()
    took = time.process_time() - started
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory) >> 10
    if problem is None and took > MOST_SECONDS:
        problem = f"{took:.1f} s for {sum(map(len, files.values())):,} bytes"
    if problem is None and grown > MOST_MEBIBYTES:
        problem = f"{grown:,} MiB for {sum(map(len, files.values())):,} bytes"
    return problem


def case_files(name: str, number: int, seeds: list[Files]) -> tuple[Files, random.Random]:
    """Return the damaged files of a case, and the source of what its reader chooses."""
    source = random.Random(f"{name}/{number}")
    return TARGETS[name].case(seeds, source), source


def run_cases(
    name: str, numbers: range, folder: Path, *, begin: Callable[[int], None] = lambda _: None
) -> Iterator[tuple[int, str]]:
    """Run the cases with these numbers; yield the numbers of those that went wrong, and how. ``begin`` is
    told each number first."""
    seeds = TARGETS[name].seeds()
    for number in numbers:
        begin(number)
        files, source = case_files(name, number, seeds)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            problem = run_case(name, files, folder, source)
        if problem is not None:
            yield number, problem
