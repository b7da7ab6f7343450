"""What share of the multiply instruction's peak the certified scan reaches on one thread, in processor
seconds.

    python -m benchmarks.search.peak

Vectors are drawn from a normal law. The instruction alone, on registers, and the search take turns; the
median of the ratios counts.
"""

from __future__ import annotations

import os
import statistics
import time

import numpy as np

from benchmarks.machine import machine
from benchmarks.search.contestants import embedding_of

WORDS, TURNS = 50_000, 7


def main() -> None:
    """Print a line for each dimension."""
    os.environ["DENIABLE_THREADS"] = "1"
    from deniable.neighbours import _native
    from deniable.neighbours.scan import ScanNeighbours, usable_paths

    path, random = usable_paths()[0], np.random.default_rng(0)
    for dimension, queries in ((50, 4096), (300, 1024)):
        vectors = random.standard_normal((WORDS, dimension), dtype=np.float32)
        points = vectors[:queries] + np.float32(0.3) * random.standard_normal(
            (queries, dimension), dtype=np.float32
        )
        search, shares = ScanNeighbours(embedding_of(vectors)), []
        for _ in range(TURNS):
            began, clock = time.process_time(), time.perf_counter()
            peak = _native.multiply_peak(path, 1, 0.2)
            peak *= (time.perf_counter() - clock) / (
                time.process_time() - began
            )  # what it is where nobody else uses the processor
            began = time.process_time()
            search.nearest(points)
            shares.append(queries * WORDS * dimension / (time.process_time() - began) / peak)
        print(f"{machine()}, {path}, {WORDS:,} x {dimension}: {statistics.median(shares):.0%} of the peak")


if __name__ == "__main__":
    main()
