"""How much memory ``deniable privatize`` takes for files of growing size: it should not grow with them.

Makes a file of synthetic reviews of each size, releases it with a tiny embedding (so that the time goes into
the work around the search, and a large file ends in reasonable time), and reports the highest memory of the
process and of it with its workers.

    python -m benchmarks.sizing.memory --gigabytes 0.1 1 10 --workers 1 2 --words 5 --letters 2000 --json
    docs/data/memory.json
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.machine import machine
from deniable import Embedding
from deniable.embeddings import store

_WORDS, _DIMENSION = 1_000, 8
_SECONDS_BETWEEN_LOOKS = 0.1
_MIB = 1 << 20


def write_reviews(path: Path, size: int, *, words: int, letters: int) -> None:
    """Write lines of so many words until the file has that size; a known word of each line is padded by
    unknown ones of so many letters."""
    rng = np.random.default_rng(1)
    written = 0
    with path.open("wb") as file:
        while written < size:
            known = rng.integers(0, _WORDS, 5_000)
            strange = ["".join(row) for row in rng.choice(list("abcdefghij"), (50, letters))]
            block = "".join(
                " ".join([f"w{number}", *(strange[(number + i) % 50] for i in range(words - 1))]) + "\n"
                for number in known.tolist()
            )
            written += file.write(block.encode())


def children_of(process: int) -> list[int]:
    """Return the processes that a process started and that are still there."""
    try:
        return [int(child) for child in Path(f"/proc/{process}/task/{process}/children").read_text().split()]
    except OSError:
        return []


def memory_of(process: int) -> tuple[int, int]:
    """Return the resident bytes of a process, and its share of them: pages that several processes share are
    divided among them."""
    try:
        fields = dict(
            line.split(":", 1) for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()[1:]
        )
    except OSError:
        return 0, 0
    return int(fields["Rss"].split()[0]) << 10, int(fields["Pss"].split()[0]) << 10


def measure(command: list[str], environment: dict[str, str]) -> dict[str, float]:
    """Run a command and return its time, its highest memory, and the highest of it and its workers
    together."""
    started = time.monotonic()
    process = subprocess.Popen(command, env=environment)
    alone = together = 0
    while process.poll() is None:
        resident, share = memory_of(process.pid)
        alone = max(alone, resident)
        together = max(together, share + sum(memory_of(child)[1] for child in children_of(process.pid)))
        time.sleep(_SECONDS_BETWEEN_LOOKS)
    if process.returncode:
        raise SystemExit(f"the command failed with exit code {process.returncode}")
    return {
        "seconds": round(time.monotonic() - started, 1),
        "process_mib": round(alone / _MIB),
        "with_workers_mib": round(together / _MIB),
    }


def main() -> None:
    """Measure every size and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gigabytes", type=float, nargs="+", default=[0.1, 1.0])
    parser.add_argument("--workers", type=int, nargs="+", default=[1])
    parser.add_argument("--words", type=int, default=20, help="per line")
    parser.add_argument(
        "--letters", type=int, default=6, help="of most words; long words let a large file end sooner"
    )
    parser.add_argument("--key", action="store_true", help="release with a key")
    parser.add_argument("--folder", type=Path, help="where to put the files; they are deleted at the end")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    results: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        os.environ["DENIABLE_HOME"] = f"{folder}/home"
        vectors = np.random.default_rng(0).standard_normal((_WORDS, _DIMENSION))
        store.save(Embedding([f"w{i}" for i in range(_WORDS)], vectors, name="tiny"), "tiny")
        command = [sys.executable, "-m", "deniable"]
        if options.key:
            subprocess.run([*command, "key", "new", f"{folder}/key"], check=True, stdout=subprocess.DEVNULL)
        print(
            "| GB | workers | seconds | MB/s | process, MiB | with workers, MiB |\n|---|---|---|---|---|---|"
        )
        for gigabytes, workers in product(options.gigabytes, options.workers):
            source, target = Path(folder, "in.txt"), Path(folder, "out.txt")
            write_reviews(source, int(gigabytes * 1e9), words=options.words, letters=options.letters)
            release = [
                "privatize",
                str(source),
                "-e",
                "5",
                "--embedding",
                "tiny",
                "-o",
                str(target),
                "--workers",
                str(workers),
                "-q",
            ]
            release += ["--key-file", f"{folder}/key"] if options.key else []
            made = {
                "gigabytes": gigabytes,
                "workers": workers,
                **measure([*command, *release], dict(os.environ)),
            }
            results.append(made)
            cells = (f"{gigabytes:g}", workers, made["seconds"], f"{gigabytes * 1e3 / made['seconds']:.2f}")
            print(
                "|",
                *(f"{cell} |" for cell in (*cells, made["process_mib"], made["with_workers_mib"])),
                flush=True,
            )
            source.unlink()
            target.unlink()
            Path(f"{target}.receipt.json").unlink()
            Path(f"{target}.card.json").unlink()
    if options.json is not None:
        setting = (
            f"lines of {options.words} words, most of {options.letters:,} letters; {_WORDS:,} x "
            f"{_DIMENSION}; {machine()}"
        )
        options.json.write_text(json.dumps({"setting": setting, "rows": results}, indent=2) + "\n")


if __name__ == "__main__":
    main()
