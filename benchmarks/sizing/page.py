"""The tables of docs/sizing.md: words per second and core, executors for a terabyte, costs, memory, and
reading a release back.

    python -m benchmarks.search.run --json docs/data/search.json      # measure on your own machine python -m
    benchmarks.sizing.memory --gigabytes 0.1 1 10 --workers 1 2 --words 5 --letters 2000 --json
    docs/data/memory.json python -m benchmarks.sizing.workers --json docs/data/workers.json python -m
    benchmarks.sizing.spark --json docs/data/spark.json python -m scripts.pages sizing
    # write the tables python -m benchmarks.sizing.page --terabytes 3 --hours 12 --cores 8 --price 0.04

A price is yours to give, per core and hour. A core here is what the benchmark had: one hardware thread,
mostly called a vCPU.
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

from scripts.pages import ROOT, table

from deniable import Embedding, Multivariate, Privatizer

DATA = ROOT / "docs" / "data"
PAGE = ROOT / "docs" / "sizing.md"
EXAMPLE = ROOT / "examples" / "reviews.csv"
OURS = "deniable"

OVERLOADED = """
While this was measured {load:g} processes wanted to work on {threads} hardware threads, so words per second would tell who else was
there, and are left out. Measure on a machine that is free.
"""  # noqa: E501
_INPUTS, _DRAWS_WHOLE, _READING = 20_001, 200, 3e-5
"""Input words of a channel, draws for each output of a whole one, and seconds that a released word takes once
the channel is there."""


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


def tables() -> dict[str, str]:
    """Return the tables of the page."""
    reading = read("reading")
    return {
        "executors": executors(speeds(read("search")), bytes_per_word(), Order()),
        "memory": memory(read("memory")),
        "workers": scaling(read("workers"), "workers"),
        "spark": scaling(read("spark"), "how"),
        "reading": table(
            ["part", "processor seconds", "fixed matrix products"],
            [(row["part"], row["processor"], f"{row['products']:,}") for row in reading["rows"]],
        ),
        "reading growth": reading_growth(reading),
    }


def draw() -> None:
    """Draw nothing: the page has no figure."""


def read(name: str) -> dict[str, Any]:
    """Return what a benchmark measured."""
    found: dict[str, Any] = json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))
    return found


def speeds(measured: dict[str, Any]) -> list[Speed]:
    """Return the speed at each size that was measured, smallest first."""
    threads = int(re.search(r"(\d+) threads", measured["setting"])[1])  # type: ignore[index]
    found = []
    for row in sorted(measured["searches"], key=lambda row: row["words"] * row["dimension"]):
        shape = f"{row['words']:,} x {row['dimension']}"
        if row["name"] == OURS and shape in measured["shares"]:
            share = measured["shares"][shape]
            found.append(
                Speed(shape=shape, rounds=[speed * share / threads for speed in row["words_per_second"]])
            )
    return found


def bytes_per_word() -> float:
    """Return the bytes that a word takes in the example, the space after it included."""
    with EXAMPLE.open(encoding="utf-8", newline="") as file:
        texts: list[str | None] = [row["review"] for row in csv.DictReader(file)]
    words = Privatizer(Multivariate(Embedding.open(), epsilon=1)).count(texts).words
    return sum(len((text or "").encode()) + 1 for text in texts) / words


def executors(found: list[Speed], per_word: float, order: Order) -> str:
    """Return core-hours, executors and cost of an order at each speed."""
    words = order.terabytes * 1e12 / per_word
    amount = "a terabyte" if order.terabytes == 1 else f"{order.terabytes:g} terabytes"
    head = ["vocabulary x dimension", "words/s per core", f"core-hours for {amount}"]
    head += [f"executors of {order.cores} cores for {amount} in {order.hours:g} h"] + ["cost"] * (
        order.price is not None
    )
    rows = []
    for speed in found:
        hours = speed.core_hours(words)
        cost = [] if order.price is None else [f"{hours * order.price:,.0f}"]
        rows.append(
            [
                speed.shape,
                spread(speed.rounds),
                f"{hours:,.0f}",
                f"{ceil(hours / order.hours / order.cores):,}",
                *cost,
            ]
        )
    return table(head, rows)


def spread(values: list[float], form: str = ",.0f") -> str:
    """Write the median with the range."""
    return f"{median(values):{form}} [{min(values):{form}}–{max(values):{form}}]"


def ratios(values: list[float], first: list[float]) -> str:
    """Write how much more than in the same round of the first."""
    return spread([value / one for value, one in zip(values, first, strict=True)], ".2f")


def memory(measured: dict[str, Any]) -> str:
    """Return what releasing files of growing size takes."""
    rows = [
        (
            f"{row['gigabytes']:g}",
            row["workers"],
            row["process_mib"],
            row["with_workers_mib"],
            f"{row['seconds']:,.0f}",
        )
        for row in sorted(measured["rows"], key=lambda row: (row["workers"], row["gigabytes"]))
    ]
    return table(["file, GB", "workers", "the process, MiB resident", "all processes, MiB", "seconds"], rows)


def scaling(measured: dict[str, Any], first_column: str) -> str:
    """Write words per second and processor time beside those of the first row, round by round.

    Where more processes than hardware threads wanted to work, a second process was given no second thread,
    and words per second say nothing about what it gains: they are left out then.
    """
    overloaded = measured["load"] > measured["threads"]
    parts = [("processor_microseconds", "processor time a word, µs")]
    parts = parts if overloaded else [("words_per_second", "words/s"), *parts]
    first = measured["rows"][0]
    rows = [
        (
            row[first_column],
            *(cell for name, _ in parts for cell in (spread(row[name]), ratios(row[name], first[name]))),
        )
        for row in measured["rows"]
    ]
    head = [first_column, *(cell for _, title in parts for cell in (title, "over the first"))]
    return table(head, rows) + (OVERLOADED.format(**measured) if overloaded else "")


def reading_growth(measured: dict[str, Any]) -> str:
    """Return how reading a release back grows, by the costs of a draw and of a pair."""
    rows = []
    for vocabulary in (50_000, 400_000, 2_500_000):
        draw = measured["draw"] * vocabulary / 50_000
        for words in (10**2, 10**4, 10**6, 10**8):
            outputs = min(words, vocabulary)
            whole = 2 * outputs > vocabulary
            draws = _DRAWS_WHOLE * vocabulary if whole else 2 * max(150_000, 40 * outputs)
            points = 14 * vocabulary if whole else min(max((1 << 29) // _INPUTS, 14 * outputs), 128 * outputs)
            seconds = draws * draw + 2 * points * _INPUTS * measured["pair"] + words * _READING
            rows.append((f"{vocabulary:,}", f"{words:,}", f"{seconds / 60:,.1f}"))
    return table(["vocabulary", "released words", "processor minutes, extrapolated"], rows)


def main() -> None:
    """Print the table of an order."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--measured",
        type=Path,
        default=DATA / "search.json",
        help="what benchmarks/search/run.py --json wrote",
    )
    parser.add_argument("--terabytes", type=float, default=Order.terabytes)
    parser.add_argument("--hours", type=float, default=Order.hours, help="when it has to be done")
    parser.add_argument("--cores", type=int, default=Order.cores, help="of one executor")
    parser.add_argument("--price", type=float, help="of a core for an hour, in any currency")
    options = parser.parse_args()
    order = Order(terabytes=options.terabytes, hours=options.hours, cores=options.cores, price=options.price)
    print(
        executors(speeds(json.loads(options.measured.read_text(encoding="utf-8"))), bytes_per_word(), order)
    )


if __name__ == "__main__":
    main()
