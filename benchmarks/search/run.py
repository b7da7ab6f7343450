"""Words per second of nearest-word searches, ours and others, in one run on the same noisy queries and
threads.

    pip install faiss-cpu usearch numkong matplotlib
    python -m benchmarks.search.run --peer-python peers/bin/python          # writes docs/data/search.json
    python -m benchmarks.search.run --processor --rounds 3 --only "x 300"   # docs/data/search-processor.json

Contestants take turns in rounds, because a shared machine drifts: a figure is the median over the rounds, a
ratio the median of the ratios within a round. "Right words" is the share of queries with the word that the
exact search finds. The roofline compares our multiply-adds per second with the multiply instruction alone,
measured in the same round. With ``--processor`` one thread works and its processor seconds count, which
hardly depend on who else uses the machine; sizes that are not measured stay as they are in the file.
``--peer-python`` is an environment with mldp-text and pypantera (see benchmarks/peers/release.py); without it
these are left out.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from scripts.pages import DATA, options_of, read_json, write_json

from benchmarks.machine import machine
from benchmarks.peers.material import GLOVE, SHARED, embedding_of, enlarge, read_glove
from benchmarks.search.contestants import CONTESTANTS, OURS, WITHOUT_AMX, LeftOut, Search
from deniable import InsecureSeededRandomness, Multivariate, Privatizer
from deniable.arrays import Ids, Vectors
from deniable.embeddings.readers import open_embedding_file
from deniable.noise.randomness import multivariate_noise

THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "DENIABLE_THREADS")
GLOVE_50 = Path("embeddings/glove.6B.50d.txt.bz2")
WORD2VEC = Path("embeddings/word2vec.GoogleNews.300d.unit.bolukbasi26k.bin.xz")
SIZES, EPSILON = (100_000, 400_000), 10.0
FEWEST_QUERIES, MOST_QUERIES, SINGLE_QUERIES = 1024, 8192, 15
"""Searches that live on matrix products need a batch to show what they can do; a turn may take longer for
it."""
PEER_SIZE, PEER_TEXT_WORDS = 400_000, 2
"""The vocabulary of the peers, and the words of a text: pyPANTERA takes 1 GB for each at this size."""
Row = dict[str, Any]


@dataclass(frozen=True)
class VectorSet:
    """Vectors under a name that says where they come from; queries start from the first ``real`` words.

    ``scale`` times ε is the ε of this set: short vectors get less noise, so that it is the same in
    proportion.
    """

    name: str
    vectors: Vectors
    real: int
    scale: float = 1.0

    def queries(self, count: int, seed: int = 1) -> Vectors:
        """Return the vectors of random words with the mechanism's noise."""
        ids = np.random.default_rng(seed).integers(0, self.real, count)
        source = InsecureSeededRandomness(insecure_seed=seed)
        noise = multivariate_noise(source, self.scale * EPSILON, count, self.vectors.shape[1])
        return np.asarray(self.vectors[ids] + noise, dtype=np.float32)


def vector_sets(data: Path) -> Iterator[VectorSet]:
    """Yield the sets one after the other: 300 dimensions at each size, then the largest size with fewer
    dimensions."""
    words, real = read_glove(data / GLOVE)
    short = read_vectors(data / WORD2VEC)
    yield VectorSet("word2vec, unit length", short, len(short), median_norm(real) / median_norm(short))
    yield VectorSet("GloVe 840B", real, len(real))
    larger = enlarge(words, real, max(SIZES))[1]
    name = "GloVe 840B, enlarged"
    for size in SIZES:
        copies = np.ascontiguousarray(larger[:size])
        yield VectorSet(f"{name} with jittered copies", copies, len(real))
    yield VectorSet(f"{name}, first 150 coordinates", np.ascontiguousarray(larger[:, :150]), len(real))
    del larger
    yield VectorSet("GloVe 6B, full file", read_vectors(data / GLOVE_50), 400_000)


def read_vectors(path: Path) -> Vectors:
    """Return the vectors of an embedding file."""
    with open_embedding_file(path) as content:
        return np.concatenate([block for _, block in content.blocks])


def median_norm(vectors: Vectors) -> float:
    """Return the middle length of the vectors."""
    return float(np.median(np.linalg.norm(vectors, axis=1)))


def seconds_of(
    search: Callable[[Any], Any], given: Any, clock: Callable[[], float] = time.perf_counter
) -> float:
    """Return how long a call takes."""
    began = clock()
    search(given)
    return clock() - began


def measure_set(
    vectors: VectorSet,
    *,
    threads: int,
    rounds: int,
    seconds: float,
    clock: Callable[[], float] = time.perf_counter,
) -> list[Row]:
    """Return one row per contestant: its words per second in each round, its share of right words, its
    latency.

    A contestant that does not take part has a row with the reason under ``left_out`` and no measurements.
    """
    words, dimension = vectors.vectors.shape
    queries = vectors.queries(MOST_QUERIES)
    rows: list[Row] = []
    left_out: list[Row] = []
    searches: list[Search] = []
    for name, make in CONTESTANTS.items():
        row = {"name": name, "set": vectors.name, "words": words, "dimension": dimension}
        began = time.perf_counter()
        try:
            search = make(vectors.vectors, threads)
        except LeftOut as reason:
            left_out.append(row | {"left_out": str(reason)})
            continue
        build, count = time.perf_counter() - began, FEWEST_QUERIES
        while (took := seconds_of(search, queries[:count], clock)) < seconds / 4 and count < MOST_QUERIES:
            count *= 4
        count = int(min(MOST_QUERIES, max(FEWEST_QUERIES, count * seconds / took)))
        rows.append(row | {"queries": count, "build_seconds": build, "words_per_second": [], "peak": []})
        searches.append(search)
    for _ in range(rounds):
        for row, search in zip(rows, searches, strict=True):
            if row["name"] in (OURS, WITHOUT_AMX):
                row["peak"].append(multiply_peak(threads, clock))
            part = queries[: row["queries"]]
            row["words_per_second"].append(len(part) / seconds_of(search, part, clock))
    right = searches[0](queries)
    for row, search in zip(rows, searches, strict=True):
        part = queries[: row["queries"]]
        row["recall"] = float(np.mean(search(part) == right[: len(part)]))
        row["median"] = median(row["words_per_second"])
        pairs = zip(rows[0]["words_per_second"], row["words_per_second"], strict=True)
        row["ratios"] = [ours / theirs for ours, theirs in pairs]
        singles = (seconds_of(search, queries[i : i + 1], clock) for i in range(SINGLE_QUERIES))
        row["single_ms"] = 1000 * median(singles)
    return rows + left_out


def multiply_peak(threads: int, clock: Callable[[], float]) -> float:
    """Return the multiply-adds per second of the vector instruction in use, on registers alone; 0 without the
    native module.

    Also where AMX is in use: its matrix instruction does eight times as many, and no search comes near that.
    """
    try:
        from deniable.neighbours import _native
        from deniable.neighbours.scan import usable_paths
    except ImportError:
        return 0.0
    path, began, spent = next(path for path in usable_paths() if path != "amx"), time.perf_counter(), clock()
    peak: float = _native.multiply_peak(path, threads, 0.5)
    return peak * (time.perf_counter() - began) / (clock() - spent)


def search_share(vectors: VectorSet) -> float:
    """Return the share of the time of ``Privatizer.many`` that the search takes."""
    mechanism = Multivariate(embedding_of(vectors.vectors), epsilon=vectors.scale * EPSILON)
    nearest, inside = mechanism.neighbours.nearest, 0.0

    class Timed:
        def nearest(self, queries: Vectors) -> Ids:
            nonlocal inside
            began = time.perf_counter()
            ids = nearest(queries)
            inside += time.perf_counter() - began
            return ids

    mechanism.__dict__["neighbours"] = Timed()
    private = Privatizer(mechanism)
    texts = [" ".join(str(i) for i in range(start, start + 40)) for start in range(0, 4000, 40)]
    private.many(texts[:1])
    inside = 0.0
    whole = seconds_of(private.many, texts)
    return inside / whole


def measure_peers(options: argparse.Namespace) -> list[Row]:
    """Return whole releases, one row per peer and one of ours at the same size."""
    from benchmarks.peers.release import measure

    rows = []
    for peer in ("mldp-text", "pypantera"):
        results = measure(
            {OURS: sys.executable, peer: options.peer_python},
            data=options.data,
            size=PEER_SIZE,
            text_words=PEER_TEXT_WORDS,
            epsilon=EPSILON,
            threads=options.threads,
            rounds=options.rounds,
            seconds=2 * options.seconds,
        )
        kept = ("name", "failure", "words_per_second", "ratios", "peak_mb")
        rows += [{"words": PEER_SIZE, **{name: each[name] for name in kept}} for each in results]
    return rows


def main() -> None:
    """Measure, and write the result after every step: a run takes long."""
    parser = options_of(__doc__)
    parser.add_argument("--data", type=Path, default=SHARED, help="folder of the data sets")
    parser.add_argument("--peer-python", help="interpreter of the environment with the peers")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.5, help="wanted length of one contestant's turn")
    parser.add_argument("--processor", action="store_true", help="one thread, and its processor seconds")
    parser.add_argument("--only", default="", help='only sizes that hold this, such as "400,000 x"')
    options = parser.parse_args()
    options.threads = 1 if options.processor else options.threads
    threads = {name: str(options.threads) for name in THREAD_VARIABLES}
    if any(os.environ.get(name) != value for name, value in threads.items()):
        # Libraries read these when they are loaded, so they have to be there from the start.
        command = [sys.executable, "-m", "benchmarks.search.run", *sys.argv[1:]]
        os.execve(sys.executable, command, os.environ | threads)
    turns = f"{options.rounds} rounds of about {options.seconds:g} s a contestant in turn"
    where = f"{platform.machine()}, Python {platform.python_version()}"
    clock = time.process_time if options.processor else time.perf_counter
    target = DATA / ("search-processor.json" if options.processor else "search.json")
    before = read_json(target) if target.exists() else {"searches": [], "shares": {}}
    result: dict[str, Any] = {
        **before,
        "setting": f"epsilon {EPSILON:g}, {options.threads} threads, {turns}; {where}",
        "machine": machine(),
        "text_words": PEER_TEXT_WORDS,
        "peers": [],
    }
    how = {"threads": options.threads, "rounds": options.rounds, "seconds": options.seconds, "clock": clock}
    for vectors in vector_sets(options.data):
        size = vectors.vectors.shape
        shape = "{:,} x {}".format(*size)
        if options.only not in shape:
            continue
        others = [row for row in result["searches"] if (row["words"], row["dimension"]) != size]
        result["searches"] = others + measure_set(vectors, **how)
        result["shares"][shape] = search_share(vectors)
        write_json(target, result)
    if options.peer_python:
        result["peers"] = measure_peers(options)
        write_json(target, result)


if __name__ == "__main__":
    main()
