"""How words per second and memory grow with the vocabulary and the dimension: one process a point, so that
memory is that point's own.

    python -m benchmarks.search.growth          # writes docs/data/growth.json

The vectors are the first coordinates of GloVe 840B, enlarged with jittered copies; the noise is that of ε =
10 at 300 dimensions, in proportion to the length of the vectors. Memory is the most that the process held:
the vectors, the index and what surrounds them.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from scripts.pages import DATA, options_of, write_json

from benchmarks.machine import in_a_process, machine
from benchmarks.peers.child import peak_memory
from benchmarks.peers.material import GLOVE, JITTER, SHARED, embedding_of, read_glove
from benchmarks.search.run import median_norm, seconds_of
from deniable.neighbours import best_neighbours

WORDS = (10_000, 30_000, 100_000, 400_000, 1_000_000, 2_500_000)
DIMENSIONS = (8, 16, 50, 100, 150, 200, 300)
AT_DIMENSIONS, AT_WORDS = (50, 300), 400_000
EPSILON, QUERIES, SECONDS = 10.0, 4096, 1.5


def main() -> None:
    """Measure every point, each in a process of its own."""
    parser = options_of(__doc__)
    parser.add_argument("--data", type=Path, default=SHARED, help="folder of the data sets")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--point", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.point:
        source, words, noise = options.point
        print(json.dumps(point(np.load(source), int(words), float(noise))))
        return
    shapes = {(words, dimension) for words in WORDS for dimension in AT_DIMENSIONS}
    shapes |= {(AT_WORDS, dimension) for dimension in DIMENSIONS}
    os.environ["DENIABLE_THREADS"] = str(options.threads)
    points = []
    with tempfile.TemporaryDirectory() as folder:
        source, real = Path(folder, "glove.npy"), read_glove(options.data / GLOVE)[1]
        for words, dimension in sorted(shapes):
            # No more than is needed, because it is part of the point's memory.
            np.save(source, np.ascontiguousarray(real[:words, :dimension]))
            noise = 300.0 / EPSILON * median_norm(real[:, :dimension]) / median_norm(real)
            found = in_a_process("benchmarks.search.growth", "--point", source, words, noise)
            points.append({"words": words, "dimension": dimension} | found)
            print(points[-1], flush=True)
    result = {"machine": machine(), "threads": options.threads, "points": points}
    write_json(DATA / "growth.json", result)


def point(real: Any, words: int, length: float) -> dict[str, Any]:
    """Return words per second and memory with so many words, given real ones, under noise of this length."""
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
    search, count = best_neighbours(embedding_of(vectors)).nearest, 256
    while (took := seconds_of(search, queries[:count])) < SECONDS / 8 and count < QUERIES:
        count *= 2
    times = [seconds_of(search, queries[:count]) for _ in range(max(3, int(SECONDS / took)))]
    return {"words_per_second": median(count / each for each in times), "memory": peak_memory()}


if __name__ == "__main__":
    main()
