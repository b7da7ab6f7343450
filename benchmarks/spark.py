"""Words per second of a release on a Spark cluster of this machine, with 1 and with 2 workers of one core each.

    python benchmarks/spark.py --words 400000 --rounds 3

Master, workers and executors are processes of their own, as on a cluster of machines. Two workers on two hardware threads of one
processor core are not two machines: they share its caches and arithmetic units, so twice the speed is more than this can show.
The same texts in one process with one thread and with two stand beside it.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from deniable import Embedding, Multivariate, Privatizer
from deniable.integrations.spark import privatize
from deniable.neighbours.threads import set_threads

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

WORDS_PER_TEXT = 20


def texts(words: int) -> list[str]:
    """Return texts of known words, each other than the last."""
    vocabulary = Embedding.open().words
    drawn = [vocabulary[(7919 * i) % len(vocabulary)] for i in range(words)]
    return [" ".join(drawn[start : start + WORDS_PER_TEXT]) for start in range(0, words, WORDS_PER_TEXT)]


def on_spark(workers: int, given: list[str], epsilon: float, rounds: int) -> list[float]:
    """Return the words per second of each round; the first release, which prepares the embedding, is not counted."""
    from spark_cluster import cluster, session

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with cluster(folder, workers=workers) as address, session(address, folder) as spark:
            frame = spark.createDataFrame([(text,) for text in given], "text string").repartition(4 * workers).cache()
            frame.count()
            speeds = []
            for number in range(rounds + 1):
                begin = time.perf_counter()
                privatize(frame, "text", epsilon=epsilon, fresh_noise=True).write.parquet(str(folder / f"released{number}"))
                speeds.append(len(given) * WORDS_PER_TEXT / (time.perf_counter() - begin))
            return speeds[1:]


def in_one_process(threads: int, given: list[str], epsilon: float, rounds: int) -> list[float]:
    """Return the words per second of each round in this process."""
    set_threads(threads)
    private = Privatizer(Multivariate(Embedding.open(), epsilon=epsilon))
    private.many(given[:10])
    speeds = []
    for _ in range(rounds):
        begin = time.perf_counter()
        private.many(given)
        speeds.append(len(given) * WORDS_PER_TEXT / (time.perf_counter() - begin))
    return speeds


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--words", type=int, default=400_000)
    parser.add_argument("--epsilon", type=float, default=6.0)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    given = texts(options.words)
    print("| how | words/s, median [range] |\n|---|---|")
    for label, measure, count in (
        ("one process, 1 thread", in_one_process, 1),
        ("Spark, 1 worker of 1 core", on_spark, 1),
        ("Spark, 2 workers of 1 core", on_spark, 2),
        ("one process, 2 threads", in_one_process, 2),
    ):
        speeds = measure(count, given, options.epsilon, options.rounds)
        print(f"| {label} | {median(speeds):,.0f} [{min(speeds):,.0f}–{max(speeds):,.0f}] |", flush=True)


if __name__ == "__main__":
    main()
