"""How much memory ``deniable privatize`` takes for files of growing size: it should not grow with them.

    python -m benchmarks.sizing.memory --gigabytes 0.1 1 10 --workers 1 2          # writes
    docs/data/memory.json

Makes a file of synthetic reviews of each size, releases it with a tiny embedding (so that the time goes into
the work around the search, and a large file ends in reasonable time), and reports the highest memory of the
process and of it with its workers.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from itertools import product
from pathlib import Path

import numpy as np
from scripts.pages import DATA, options_of, write_json

from benchmarks.machine import machine
from deniable import Embedding
from deniable.embeddings import store

VOCABULARY, DIMENSION = 1_000, 8
WORDS, LETTERS = 5, 2_000
"""Words of a line, and letters of most of them: long words let a large file end sooner."""
_SECONDS_BETWEEN_LOOKS, _MIB = 0.1, 1 << 20


def write_reviews(path: Path, size: int) -> None:
    """Write lines until the file has that size; a known word of each is followed by long unknown ones."""
    rng, written = np.random.default_rng(1), 0
    with path.open("wb") as file:
        while written < size:
            known = rng.integers(0, VOCABULARY, 5_000)
            strange = ["".join(row) for row in rng.choice(list("abcdefghij"), (50, LETTERS))]
            lines = (
                " ".join([f"w{number}", *(strange[(number + i) % 50] for i in range(WORDS - 1))])
                for number in known.tolist()
            )
            written += file.write(("\n".join(lines) + "\n").encode())


def memory_of(process: int) -> tuple[int, int]:
    """Return the resident bytes of a process, and its share of them: pages that several processes share are
    divided among them."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()[1:]
    except OSError:
        return 0, 0
    fields = dict(line.split(":", 1) for line in lines)
    return int(fields["Rss"].split()[0]) << 10, int(fields["Pss"].split()[0]) << 10


def measure(command: list[str]) -> dict[str, float]:
    """Run a command and return its time, its highest memory, and the highest of it and its workers
    together."""
    started = time.monotonic()
    process = subprocess.Popen(command)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    alone = together = 0
    while process.poll() is None:
        try:
            workers = [int(child) for child in children.read_text().split()]
        except OSError:
            workers = []
        resident, share = memory_of(process.pid)
        alone = max(alone, resident)
        together = max(together, share + sum(memory_of(worker)[1] for worker in workers))
        time.sleep(_SECONDS_BETWEEN_LOOKS)
    if process.returncode:
        raise SystemExit(f"the command failed with exit code {process.returncode}")
    seconds = round(time.monotonic() - started, 1)
    return {
        "seconds": seconds,
        "process_mib": round(alone / _MIB),
        "with_workers_mib": round(together / _MIB),
    }


def main() -> None:
    """Measure every size, and write the result."""
    parser = options_of(__doc__)
    parser.add_argument("--gigabytes", type=float, nargs="+", default=[0.1, 1.0])
    parser.add_argument("--workers", type=int, nargs="+", default=[1])
    parser.add_argument("--folder", type=Path, help="where to put the files; they are deleted at the end")
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        os.environ["DENIABLE_HOME"] = f"{folder}/home"
        vectors = np.random.default_rng(0).standard_normal((VOCABULARY, DIMENSION))
        store.save(Embedding([f"w{i}" for i in range(VOCABULARY)], vectors, name="tiny"), "tiny")
        source, target = Path(folder, "in.txt"), Path(folder, "out.txt")
        command = [
            sys.executable,
            "-m",
            "deniable",
            "privatize",
            str(source),
            "-e",
            "5",
            "--embedding",
            "tiny",
        ]
        for gigabytes, workers in product(options.gigabytes, options.workers):
            write_reviews(source, int(gigabytes * 1e9))
            found = measure([*command, "-o", str(target), "--workers", str(workers), "-q", "--force"])
            rows.append({"gigabytes": gigabytes, "workers": workers, **found})
            print(rows[-1], flush=True)
    setting = (
        f"lines of {WORDS} words, most of {LETTERS:,} letters; {VOCABULARY:,} x {DIMENSION}; {machine()}"
    )
    write_json(DATA / "memory.json", {"setting": setting, "rows": rows})


if __name__ == "__main__":
    main()
