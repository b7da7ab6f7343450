"""How words per second and memory grow with the vocabulary and the dimension: one process a point, so that
memory is that point's own.

The vectors are the first coordinates of GloVe 840B, enlarged with jittered copies; the noise is that of ε =
10 at 300 dimensions, in proportion to the length of the vectors. Memory is the most that the process held:
the vectors, the index and what surrounds them. Points that a GPU measured (``scripts/gpu/check.py``) lie in
docs/data/gpu.json and are drawn beside.

    python -m benchmarks.search.growth --json docs/data/growth.json
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks.machine import machine

ROOT = Path(__file__).resolve().parents[2]
WORDS = (10_000, 30_000, 100_000, 400_000, 1_000_000, 2_500_000)
DIMENSIONS = (8, 16, 50, 100, 150, 200, 300)
AT_DIMENSIONS, AT_WORDS = (50, 300), 400_000
EPSILON, QUERIES = 10.0, 4096


def main() -> None:
    """Measure every point."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--data", type=Path, default=ROOT.parent / "shared" / "data", help="folder of the data sets"
    )
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seconds", type=float, default=1.5, help="wanted length of a point's measurement")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--point", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.point:
        source, words, noise, seconds = options.point
        print(json.dumps(point(np.load(source), int(words), float(noise), float(seconds))))
        return
    found = measured(options)
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def measured(options: argparse.Namespace) -> dict[str, Any]:
    """Return all points, each measured by a process of its own."""
    from benchmarks.peers.material import GLOVE, read_glove
    from benchmarks.search.sets import median_norm

    shapes = {(words, dimension) for words in WORDS for dimension in AT_DIMENSIONS} | {
        (AT_WORDS, dimension) for dimension in DIMENSIONS
    }
    environment = os.environ | {"DENIABLE_THREADS": str(options.threads)}
    points = []
    with tempfile.TemporaryDirectory() as folder:
        source, real = Path(folder, "glove.npy"), read_glove(options.data / GLOVE)[1]
        length = median_norm(real)
        for words, dimension in sorted(shapes):
            np.save(
                source, np.ascontiguousarray(real[:words, :dimension])
            )  # and no more, because it is part of the point's memory
            shorter = median_norm(real[:, :dimension]) / length
            asked = [str(source), str(words), str(300.0 / EPSILON * shorter), str(options.seconds)]
            done = subprocess.run(
                [sys.executable, "-m", "benchmarks.search.growth", "--point", *asked],
                env=environment,
                check=True,
                stdout=subprocess.PIPE,
            )
            points.append({"words": words, "dimension": dimension} | json.loads(done.stdout))
            print(points[-1], file=sys.stderr, flush=True)
    return {"machine": machine(), "threads": options.threads, "points": points}


def point(real: Any, words: int, length: float, seconds: float) -> dict[str, Any]:
    """Return words per second and memory with so many words, given real ones, under noise of this length."""
    from benchmarks.peers.material import JITTER
    from benchmarks.search.contestants import embedding_of
    from deniable.neighbours import best_neighbours

    random, dimension = np.random.default_rng(0), real.shape[1]
    vectors = np.empty((words, dimension), dtype=np.float32)
    for start in range(0, words, len(real)):
        block = vectors[start : start + len(real)]
        block[:] = real[: len(block)]
        if start:
            block += np.float32(JITTER * real.std()) * random.standard_normal(block.shape, dtype=np.float32)
    noise = random.standard_normal((QUERIES, dimension))
    noise *= length / np.linalg.norm(noise, axis=1, keepdims=True)
    queries = (vectors[random.integers(0, words, QUERIES)] + noise).astype(np.float32)
    search = best_neighbours(embedding_of(vectors)).nearest
    count, took = 256, 0.0
    while (took := timed(search, queries[:count])) < seconds / 8 and count < QUERIES:
        count *= 2
    rates = [
        count / took for took in (timed(search, queries[:count]) for _ in range(max(3, int(seconds / took))))
    ]
    return {"words_per_second": median(rates), "memory": most_memory()}


def most_memory() -> int:
    """Return the most bytes that this process held."""
    status = Path("/proc/self/status")
    if status.exists():  # getrusage counts what the parent held before this program began
        return int(re.findall(r"^VmHWM:\s*(\d+) kB$", status.read_text(), re.MULTILINE)[0]) << 10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def timed(search: Any, queries: Any) -> float:
    """Return how long a search takes."""
    began = time.perf_counter()
    search(queries)
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
