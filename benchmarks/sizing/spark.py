"""Words per second of a release on a Spark cluster of this machine, with 1 and with 2 of its workers at work,
one core each.

    python -m benchmarks.sizing.spark --words 200000 --rounds 3 --json docs/data/spark.json

Master, workers and executors are processes of their own, as on a cluster of machines. A frame of one
partition is work for one worker; one of two partitions is work for two. The same texts in one process, with
one thread and with two, stand beside it, all in turns. Two workers on two hardware threads of one processor
core are not two machines: they share its caches and arithmetic units, so twice the speed is more than that
can show.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.machine import busy, machine, processor_seconds
from deniable import Embedding, Multivariate, Privatizer
from deniable.integrations.spark import privatize
from deniable.neighbours.threads import set_threads

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

WORDS_PER_TEXT = 20


def texts(words: int) -> list[str]:
    """Return texts of known words, each other than the last."""
    vocabulary = Embedding.open().words
    drawn = [vocabulary[(7919 * i) % len(vocabulary)] for i in range(words)]
    return [" ".join(drawn[start : start + WORDS_PER_TEXT]) for start in range(0, words, WORDS_PER_TEXT)]


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """Return the seconds that a call takes, and the processor time of this process and of the cluster that it
    started."""
    begin, spent = time.perf_counter(), processor_seconds()
    work()
    return time.perf_counter() - begin, processor_seconds() - spent


def contestants(
    spark: Any, given: list[str], epsilon: float, folder: Path
) -> dict[str, Callable[[], object]]:
    """Return what is measured, by name."""
    private = Privatizer(Multivariate(Embedding.open(), epsilon=epsilon))

    def in_one_process(threads: int) -> None:
        set_threads(threads)
        private.many(given)

    def on_spark(frame: Any) -> None:
        privatize(frame, "text", epsilon=epsilon, fresh_noise=True).write.parquet(str(folder / "released"))
        shutil.rmtree(folder / "released")

    frames = {}
    for workers in (1, 2):
        frames[workers] = (
            spark.createDataFrame([(text,) for text in given], "text string").repartition(workers).cache()
        )
        frames[workers].count()
    return {
        "one process, 1 thread": lambda: in_one_process(1),
        "Spark, 1 worker": lambda: on_spark(frames[1]),
        "Spark, 2 workers": lambda: on_spark(frames[2]),
        "one process, 2 threads": lambda: in_one_process(2),
    }


def main() -> None:
    """Measure and print a table."""
    from tests.support.spark_cluster import cluster, session

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--words", type=int, default=200_000)
    parser.add_argument("--epsilon", type=float, default=6.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    given = texts(options.words)
    embedding = Embedding.open()
    now = busy()
    setting = (
        f"{len(embedding):,} x {embedding.dimension}, {options.words:,} words, {options.rounds} "
        f"rounds in turns; {machine()}"
    )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with cluster(folder, workers=2) as address, session(address, folder) as spark:
            measured = contestants(spark, given, options.epsilon, folder)
            for work in measured.values():  # the first release prepares the embedding in every process
                work()
            rates: dict[str, list[float]] = {how: [] for how in measured}
            costs: dict[str, list[float]] = {how: [] for how in measured}
            for _ in range(options.rounds):
                for how, work in measured.items():
                    seconds, spent = timed(work)
                    rates[how].append(options.words / seconds)
                    costs[how].append(spent / options.words * 1e6)
    print("| how | words/s, median [range] | processor time a word, µs |\n|---|---|---|")
    for how, found in rates.items():
        print(
            f"| {how} | {median(found):,.0f} [{min(found):,.0f}–{max(found):,.0f}] | "
            f"{median(costs[how]):.0f} |"
        )
    if options.json is not None:
        rows = [
            {"how": how, "words_per_second": rates[how], "processor_microseconds": costs[how]}
            for how in rates
        ]
        options.json.write_text(json.dumps({"setting": setting, **now, "rows": rows}, indent=2) + "\n")


if __name__ == "__main__":
    main()
