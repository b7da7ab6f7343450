"""How much faster several processes release a file than one: ``--workers`` 1, 2, … in turns in one run, one
thread each.

    python -m benchmarks.sizing.workers --workers 1 2 --rounds 3 --json docs/data/workers.json

Processor time tells what the sharing itself costs: it hardly depends on who else uses the machine, where
words per second do.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path
from statistics import median

import numpy as np

from benchmarks.machine import busy, machine, processor_seconds
from deniable import Embedding, Multivariate, Privatizer
from deniable.neighbours.threads import set_threads
from deniable.records import privatize_file

_WORDS_PER_LINE = 15


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--vocabulary", type=int, default=34_000)
    parser.add_argument("--dimension", type=int, default=300)
    parser.add_argument("--lines", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    now = busy()
    setting = f"{options.vocabulary:,} x {options.dimension}, {options.rounds} rounds in turns; {machine()}"
    rng = np.random.default_rng(0)
    vectors = rng.standard_normal((options.vocabulary, options.dimension), dtype=np.float32)
    private = Privatizer(
        Multivariate(Embedding([f"w{i}" for i in range(options.vocabulary)], vectors), epsilon=20.0)
    )
    private("w1")
    set_threads(1)
    words = options.lines * _WORDS_PER_LINE
    rates: dict[int, list[float]] = {workers: [] for workers in options.workers}
    costs: dict[int, list[float]] = {workers: [] for workers in options.workers}
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "in.txt"), Path(folder, "out.txt")
        lines = rng.integers(0, options.vocabulary, (options.lines, _WORDS_PER_LINE)).tolist()
        source.write_text("".join(" ".join(f"w{i}" for i in line) + "\n" for line in lines))
        for _ in range(options.rounds):
            for workers in options.workers:
                started, spent = time.perf_counter(), processor_seconds()
                privatize_file(private, source, target, workers=workers, force=True)
                rates[workers].append(words / (time.perf_counter() - started))
                costs[workers].append((processor_seconds() - spent) / words * 1e6)
    first = options.workers[0]
    print(
        "| workers | words/s, median [range] | over the first [range] | processor time a word, µs "
        "|\n|---|---|---|---|"
    )
    for workers, found in rates.items():
        ratios = [rate / one for rate, one in zip(found, rates[first], strict=True)]
        spread = f"{median(ratios):.2f} [{min(ratios):.2f}–{max(ratios):.2f}]"
        print(
            f"| {workers} | {median(found):,.0f} [{min(found):,.0f}–{max(found):,.0f}] | {spread} | "
            f"{median(costs[workers]):.0f} |"
        )
    if options.json is not None:
        rows = [
            {"workers": workers, "words_per_second": rates[workers], "processor_microseconds": costs[workers]}
            for workers in rates
        ]
        options.json.write_text(json.dumps({"setting": setting, **now, "rows": rows}, indent=2) + "\n")


if __name__ == "__main__":
    main()
