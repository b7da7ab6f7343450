"""Words per second of a release on a Spark cluster of this machine, with 1 and with 2 of its workers at work,
one core each.

    python -m benchmarks.sizing.spark          # writes docs/data/spark.json

Master, workers and executors are processes of their own, as on a cluster of machines. A frame of one
partition is work for one worker; one of two partitions is work for two. The same texts in one process, with
one thread and with two, stand beside it, all in turns. Two workers on two hardware threads of one processor
core are not two machines: they share its caches and arithmetic units, so twice the speed is more than that
can show.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from scripts.pages import DATA, options_of, write_json

from benchmarks.machine import busy, in_turns, machine
from deniable import Embedding, Multivariate, Privatizer
from deniable.integrations.spark import privatize
from deniable.neighbours.threads import set_threads

WORDS_PER_TEXT, EPSILON = 20, 6.0


def contestants(spark: Any, words: int, folder: Path) -> dict[str, Callable[[], object]]:
    """Return what is measured, by name: releases of texts of known words, each other than the last."""
    embedding = Embedding.open()
    drawn = [embedding.words[(7919 * i) % len(embedding)] for i in range(words)]
    texts = [" ".join(drawn[start : start + WORDS_PER_TEXT]) for start in range(0, words, WORDS_PER_TEXT)]
    private = Privatizer(Multivariate(embedding, epsilon=EPSILON))

    def in_one_process(threads: int) -> None:
        set_threads(threads)
        private.many(texts)

    def on_spark(workers: int) -> Callable[[], object]:
        frame = spark.createDataFrame([(text,) for text in texts], "text string").repartition(workers).cache()
        frame.count()

        def release() -> None:
            released = privatize(frame, "text", epsilon=EPSILON, fresh_noise=True)
            released.write.parquet(str(folder / "released"))
            shutil.rmtree(folder / "released")

        return release

    return {
        "one process, 1 thread": lambda: in_one_process(1),
        "Spark, 1 worker": on_spark(1),
        "Spark, 2 workers": on_spark(2),
        "one process, 2 threads": lambda: in_one_process(2),
    }


def main() -> None:
    """Measure, and write the result."""
    from tests.support.spark_cluster import cluster, session

    parser = options_of(__doc__)
    parser.add_argument("--words", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    now, embedding = busy(), Embedding.open()
    size = f"{len(embedding):,} x {embedding.dimension}, {options.words:,} words"
    setting = f"{size}, {options.rounds} rounds in turns; {machine()}"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with cluster(folder, workers=2) as address, session(address, folder) as spark:
            measured = contestants(spark, options.words, folder)
            for work in measured.values():  # the first release prepares the embedding in every process
                work()
            rows = in_turns(measured, options.words, options.rounds, called="how")
    write_json(DATA / "spark.json", {"setting": setting, **now, "rows": rows})


if __name__ == "__main__":
    main()
