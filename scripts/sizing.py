"""Write docs/sizing.md from the numbers of the benchmarks: words per second and core, executors for a terabyte, costs, memory.

    python -m benchmarks.search.run --json docs/data/search.json      # measure on your own machine
    python -m benchmarks.sizing.memory --gigabytes 0.1 1 10 --workers 1 2 --words 5 --letters 2000 --json docs/data/memory.json
    python -m benchmarks.sizing.workers --json docs/data/workers.json
    python -m benchmarks.sizing.spark --json docs/data/spark.json
    python -m scripts.sizing                                 # write the page
    python -m scripts.sizing --print --terabytes 3 --hours 12 --cores 8 --price 0.04

A price is yours to give, per core and hour. A core here is what the benchmark had: one hardware thread, mostly called a vCPU.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from statistics import median
from typing import Any

from deniable import Embedding, Multivariate, Privatizer

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "docs" / "data"
MEASURED = DATA / "search.json"
PAGE = ROOT / "docs" / "sizing.md"
EXAMPLE = ROOT / "examples" / "reviews.csv"
OURS = "deniable"

HEAD = """\
# Sizing

This page is written by `python -m scripts.sizing` from what the benchmarks measured (`docs/data/*.json`, by `--json` of
`benchmarks/search/run.py`, and `memory.py`, `workers.py` and `spark.py` of `benchmarks/sizing`); a test fails when they differ.

## Words per second, executors and cost

Measured with {setting}.

The search for the nearest word is most of the work, and its cost grows with the number of words in the vocabulary times their
dimension. So the embedding decides: one restricted to the words you need (`deniable embeddings restrict`), or of fewer dimensions,
costs that much less. A core below is a hardware thread, mostly sold as a vCPU. The figures are for the whole release, the search and
the {rest} of the time around it, with all threads of the machine at work, divided by their number.

"""

FOOT = """
A terabyte is 10¹² bytes of text in the private column; other columns cost next to nothing. A word with the space after it takes
{bytes_per_word:.2f} bytes in `examples/reviews.csv`. In square brackets: the slowest and the fastest round of the benchmark. The machine
was shared, so measure your own before you order one.

Cost is core-hours times your price of a core-hour. For your own amount, deadline, executors and price:

```text
python -m scripts.sizing --print --terabytes 3 --hours 12 --cores 8 --price 0.04
```

The vectors (four bytes a number) and the index of the search (about one) of an installed embedding are mapped from disk and shared by
all processes of a machine: {example}. Every process holds the words of its vocabulary besides.
"""


MEMORY = """
## Memory

Files are read, released and written in batches, so memory does not grow with them. The highest memory of `deniable privatize`, on
synthetic files with {setting}:

{table}
Resident memory counts pages that the processes share once for each of them; “all processes” divides these pages among those that share
them, and adds up all processes. Long words make fewer of them, so that a large file ends sooner on a busy machine: the seconds are no
speed to go by. A larger embedding adds its own size, once.
"""

WORKERS = """
## Several processes on one machine

`--workers`, one thread each, with {setting}:

{table}
Processor time tells what the sharing itself costs: two workers are twice as fast as one if they do not work longer for a word, and
are given two cores. Two hardware threads of one core share its arithmetic units and are less than that.
"""

SPARK = """
## Spark

A cluster on one machine, two workers with one core each, with {setting}.
A frame of one partition keeps one worker busy, one of two keeps both; processor time is that of the driver, the executors and their
Python processes together:

{table}"""

OVERLOADED = """
While this was measured {load:g} processes wanted to work on {threads} hardware threads, so words per second would tell who else was
there, and are left out. Measure on a machine that is free.
"""


@dataclass(frozen=True, kw_only=True)
class Order:
    """What is to be done, and with what."""

    terabytes: float = 1.0
    hours: float = 24.0
    cores: int = 4
    price: float | None = None


@dataclass(frozen=True, kw_only=True)
class Speed:
    """Words per second and core of a whole release with one embedding, in each round."""

    shape: str
    rounds: list[float]

    def core_hours(self, words: float) -> float:
        """Return how long one core takes for so many words."""
        return words / median(self.rounds) / 3600


_INPUTS, _DRAWS_WHOLE, _READING = 20_001, 200, 3e-5
"""Input words of a channel, draws for each output of a whole one, and seconds that a released word takes once the channel is there."""

READING = """
## Reading a release back

`benchmarks/sizing/reading.py` measures it from an empty cache, with the built-in embedding at ε = 6 (`utility`: 4 to 10);
{setting}. A fixed product of two
2,000 x 2,000 matrices took {product} processor seconds there:

{parts}
How `decode` grows is extrapolated, not measured: from the measured costs of a draw and of a pair of an input word and a point, for 20,000
input words in 50 dimensions, and 30 µs to read a word (an earlier benchmark, on an Intel Xeon), if every released word is another one as
long as there are more. Half of the vocabulary and more asks for the whole channel, which is made once and stays on the disk. Columns on
demand hold some hundred MiB, and a whole channel up to 650 MB:

{growth}"""


def speeds(measured: dict[str, Any]) -> list[Speed]:
    """Return the speed at each size that was measured, smallest first."""
    threads = int(re.search(r"(\d+) threads", measured["setting"])[1])  # type: ignore[index]
    found = []
    for row in sorted(measured["searches"], key=lambda row: row["words"] * row["dimension"]):
        shape = f"{row['words']:,} x {row['dimension']}"
        if row["name"] == OURS and shape in measured["shares"]:
            share = measured["shares"][shape]
            found.append(Speed(shape=shape, rounds=[speed * share / threads for speed in row["words_per_second"]]))
    return found


def bytes_per_word() -> float:
    """Return the bytes that a word takes in the example, the space after it included."""
    with EXAMPLE.open(encoding="utf-8", newline="") as file:
        texts: list[str | None] = [row["review"] for row in csv.DictReader(file)]
    words = Privatizer(Multivariate(Embedding.open(), epsilon=1)).count(texts).words
    return sum(len((text or "").encode()) + 1 for text in texts) / words


def table(found: list[Speed], per_word: float, order: Order) -> str:
    """Write the table for an order."""
    words = order.terabytes * 1e12 / per_word
    amount = "a terabyte" if order.terabytes == 1 else f"{order.terabytes:g} terabytes"
    lines = [
        f"| vocabulary x dimension | words/s per core | core-hours for {amount} "
        f"| executors of {order.cores} cores for {amount} in {order.hours:g} h |" + (" cost |" if order.price is not None else ""),
        "|---|---|---|---|" + ("---|" if order.price is not None else ""),
    ]
    for speed in found:
        hours = speed.core_hours(words)
        rates = spread(speed.rounds)
        cost = f" {hours * order.price:,.0f} |" if order.price is not None else ""
        lines.append(f"| {speed.shape} | {rates} | {hours:,.0f} | {ceil(hours / order.hours / order.cores):,} |{cost}")
    return "\n".join(lines) + "\n"


def spread(values: list[float], form: str = ",.0f") -> str:
    """Write the median with the range."""
    return f"{median(values):{form}} [{min(values):{form}}–{max(values):{form}}]"


def ratios(values: list[float], first: list[float]) -> str:
    """Write how much more than in the same round of the first."""
    return spread([value / one for value, one in zip(values, first, strict=True)], ".2f")


def written(head: str, rows: list[tuple[object, ...]]) -> str:
    """Write a table."""
    columns = head.count("|") - 1
    return "\n".join([head, "|" + "---|" * columns, *("| " + " | ".join(map(str, row)) + " |" for row in rows)]) + "\n"


def memory_section(measured: dict[str, Any]) -> str:
    """Return what releasing files of growing size takes."""
    rows: list[tuple[object, ...]] = [
        (f"{row['gigabytes']:g}", row["workers"], row["process_mib"], row["with_workers_mib"], f"{row['seconds']:,.0f}")
        for row in sorted(measured["rows"], key=lambda row: (row["workers"], row["gigabytes"]))
    ]
    head = "| file, GB | workers | the process, MiB resident | all processes, MiB | seconds |"
    return MEMORY.format(setting=measured["setting"], table=written(head, rows))


def scaling(measured: dict[str, Any], first_column: str) -> str:
    """Write words per second and processor time beside those of the first row, round by round.

    Where more processes than hardware threads wanted to work, a second process was given no second thread, and words per second say
    nothing about what it gains: they are left out then.
    """
    overloaded = measured["load"] > measured["threads"]
    parts = [("processor_microseconds", "processor time a word, µs")]
    parts = parts if overloaded else [("words_per_second", "words/s"), *parts]
    first = measured["rows"][0]
    rows: list[tuple[object, ...]] = [
        (row[first_column], *(cell for name, _ in parts for cell in (spread(row[name]), ratios(row[name], first[name]))))
        for row in measured["rows"]
    ]
    head = f"| {first_column} |" + "".join(f" {title} | over the first |" for _, title in parts)
    return written(head, rows) + (OVERLOADED.format(**measured) if overloaded else "")


def reading_section(measured: dict[str, Any]) -> str:
    """Return what reading a release back takes: as measured, and how it grows, by the costs of a draw and of a pair."""
    parts = written(
        "| part | processor seconds | fixed matrix products |",
        [(r["part"], r["processor"], f"{r['products']:,}") for r in measured["rows"]],
    )
    rows: list[tuple[object, ...]] = []
    for vocabulary in (50_000, 400_000, 2_500_000):
        draw = measured["draw"] * vocabulary / 50_000
        for words in (10**2, 10**4, 10**6, 10**8):
            outputs = min(words, vocabulary)
            whole = 2 * outputs > vocabulary
            draws = _DRAWS_WHOLE * vocabulary if whole else 2 * max(150_000, 40 * outputs)
            points = 14 * vocabulary if whole else min(max((1 << 29) // _INPUTS, 14 * outputs), 128 * outputs)
            seconds = draws * draw + 2 * points * _INPUTS * measured["pair"] + words * _READING
            rows.append((f"{vocabulary:,}", f"{words:,}", f"{seconds / 60:,.1f}"))
    growth = written("| vocabulary | released words | processor minutes, extrapolated |", rows)
    return READING.format(setting=measured["setting"], product=measured["product"], parts=parts, growth=growth)


def page(measured: dict[str, Any], others: dict[str, dict[str, Any]]) -> str:
    """Return the page, from the search benchmark and the others by name."""
    found = speeds(measured)
    words, dimension = max(((row["words"], row["dimension"]) for row in measured["searches"]), key=lambda shape: shape[0] * shape[1])
    example = f"{words * dimension * (4 + 1) / 1e6:,.0f} MB for {words:,} x {dimension}"
    rest = f"{1 - max(measured['shares'].values()):.0%} to {1 - min(measured['shares'].values()):.0%}"
    foot = FOOT.format(bytes_per_word=bytes_per_word(), example=example)
    head = HEAD.format(setting=measured["setting"], rest=rest)
    workers = WORKERS.format(setting=others["workers"]["setting"], table=scaling(others["workers"], "workers"))
    spark = SPARK.format(setting=others["spark"]["setting"], table=scaling(others["spark"], "how"))
    reading = reading_section(others["reading"])
    return head + table(found, bytes_per_word(), Order()) + foot + memory_section(others["memory"]) + workers + spark + reading


def other_measurements() -> dict[str, dict[str, Any]]:
    """Return what the other benchmarks measured, by name."""
    return {name: json.loads((DATA / f"{name}.json").read_text(encoding="utf-8")) for name in ("memory", "workers", "spark", "reading")}


def main() -> None:
    """Write the page, or print the table of an order."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--measured", type=Path, default=MEASURED, help="what benchmarks/search/run.py --json wrote")
    parser.add_argument("--print", action="store_true", dest="shown", help="print the table and leave the page as it is")
    parser.add_argument("--terabytes", type=float, default=Order.terabytes)
    parser.add_argument("--hours", type=float, default=Order.hours, help="when it has to be done")
    parser.add_argument("--cores", type=int, default=Order.cores, help="of one executor")
    parser.add_argument("--price", type=float, help="of a core for an hour, in any currency")
    options = parser.parse_args()
    measured = json.loads(options.measured.read_text(encoding="utf-8"))
    if options.shown:
        order = Order(terabytes=options.terabytes, hours=options.hours, cores=options.cores, price=options.price)
        print(table(speeds(measured), bytes_per_word(), order), end="")
    else:
        PAGE.write_text(page(measured, other_measurements()), encoding="utf-8")


if __name__ == "__main__":
    main()
