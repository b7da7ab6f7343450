"""Feed every reader of files that come from elsewhere with damaged ones, as many as wanted.

Usage: nice python scripts/fuzz_readers.py --cases 1000000 [--first N] [--target NAME …] [--out FOLDER]

The cases are divided between the targets (tests/fuzz/targets.py). Each batch runs in a process of its own,
with a limit on its memory and on the processor time of a case, so that a crash, a hang or a bomb is a finding
like any other. A case is a target and a number, and gives the same files again; what went wrong is printed
and, with --out, kept there in the form of tests/fuzz/found. Exit code 1 if anything was found.
"""

from __future__ import annotations

import argparse
import json
import logging
import mmap
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

BATCH = 5_000
MOST_MEMORY = 6 << 30
MOST_SECONDS_A_CASE = 20


def child(name: str, first: int, last: int, progress: Path) -> None:
    """Run cases and print a line of JSON for each that went wrong; the number of the current one stands in
    the file ``progress``."""
    from tests.fuzz.cases import run_cases

    logging.disable(logging.CRITICAL)  # gensim and others report what is raised anyway
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    place = "/dev/shm" if Path("/dev/shm").is_dir() else None
    with (
        progress.open("r+b") as file,
        mmap.mmap(file.fileno(), 8) as current,
        tempfile.TemporaryDirectory(dir=place) as folder,
    ):

        def begin(number: int) -> None:
            current[:8] = number.to_bytes(8, "little")
            used = resource.getrusage(resource.RUSAGE_SELF)
            limit = int(used.ru_utime + used.ru_stime) + MOST_SECONDS_A_CASE
            resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY))

        for number, problem in run_cases(name, range(first, last), Path(folder) / "case", begin=begin):
            print(json.dumps({"number": number, "problem": problem}), flush=True)


def run_batch(name: str, first: int, last: int) -> tuple[int, list[tuple[int, str]]]:
    """Run cases in a process of their own; return where it stopped, and what went wrong."""
    with tempfile.NamedTemporaryFile() as progress:
        progress.write(bytes(8))
        progress.flush()
        command = [sys.executable, __file__, "--child", name, str(first), str(last), progress.name]
        done = subprocess.run(
            command, capture_output=True, check=False, env={**os.environ, "DENIABLE_HOME": "/nonexistent"}
        )
        found = [(line["number"], line["problem"]) for line in map(json.loads, done.stdout.splitlines())]
        if done.returncode == 0:
            return last, found
        stopped = int.from_bytes(Path(progress.name).read_bytes(), "little")
        said = done.stderr.decode("utf-8", "replace")[-2000:]
        return stopped + 1, [*found, (stopped, f"the process ended with {done.returncode}: {said}")]


def keep(name: str, number: int, folder: Path) -> None:
    """Write the files of a case."""
    from tests.fuzz.cases import case_files
    from tests.fuzz.targets import TARGETS

    files, _ = case_files(name, number, TARGETS[name].seeds())
    for each, content in files.items():
        path = folder / name / str(number) / each
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def main() -> int:
    """Run all cases."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cases", type=int, default=100_000, help="how many cases, of all targets together")
    parser.add_argument("--first", type=int, default=0, help="the number of the first case of each target")
    parser.add_argument("--target", action="append", help="a target; all by default")
    parser.add_argument("--out", type=Path, help="a folder for what was found")
    parser.add_argument("--child", nargs=4, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.child:
        child(asked.child[0], int(asked.child[1]), int(asked.child[2]), Path(asked.child[3]))
        return 0
    from tests.fuzz.targets import TARGETS

    names = asked.target or list(TARGETS)
    each, total, found, started = -(-asked.cases // len(names)), 0, 0, time.monotonic()
    for start in range(asked.first, asked.first + each, BATCH):
        for name in names:
            at, last = start, min(start + BATCH, asked.first + each)
            while at < last:
                stopped, problems = run_batch(name, at, last)
                total, at = total + stopped - at, stopped
                found += len(problems)
                for number, problem in problems:
                    print(f"{name} {number}: {problem}", flush=True)
                    if asked.out is not None:
                        keep(name, number, asked.out)
        print(f"{total:,} cases, {found:,} found, {time.monotonic() - started:,.0f} s", flush=True)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
