"""The tables of docs/sizing.md: words per second and core, executors for a terabyte, costs, memory, and
reading a release back.

    python -m benchmarks.sizing.page --terabytes 3 --hours 12 --cores 8 --price 0.04

A price is yours to give, per core and hour. A core here is what the benchmark had: one hardware thread,
mostly called a vCPU.
"""

from __future__ import annotations

import csv
import re
from math import ceil
from statistics import median
from typing import Any

from scripts.pages import DATA, DOCS, ROOT, options_of, read_json, spread, table

from deniable import Embedding, Multivariate, Privatizer
from deniable.channel.making import MOST_ASKED
from deniable.channel.points import (
    FEWEST_POINTS_EACH,
    MOST_DRAWS_EACH,
    MOST_NUMBERS,
    MOST_POINTS_ASKED,
    MOST_POINTS_EACH,
    SPREAD_AN_OUTPUT,
    SPREAD_DRAWS,
    points_in_all,
)

PAGE = DOCS / "sizing.md"
OVERLOADED = """
While this was measured {load:g} processes wanted to work on {threads} hardware threads, so words per second would tell who else was
there, and are left out. Measure on a machine that is free.
"""  # noqa: E501
_INPUTS, _READING = 20_001, 3e-5
"""Input words of a channel, and seconds that a released word takes once the channel is there."""


def tables() -> dict[str, str]:
    """Return the tables of the page."""
    reading = read_json(DATA / "reading.json")
    rows = [
        (row["part"], row["processor"], f"{row['products']:,}", row.get("memory", "not measured"))
        for row in reading["rows"]
    ]
    return {
        "executors": executors(speeds(read_json(DATA / "search.json")), bytes_per_word()),
        "memory": memory(read_json(DATA / "memory.json")["rows"]),
        "workers": scaling(read_json(DATA / "workers.json"), "workers"),
        "spark": scaling(read_json(DATA / "spark.json"), "how"),
        "reading": table(["part", "processor seconds", "fixed matrix products", "memory at most, MB"], rows),
        "reading growth": reading_growth(reading["draw"], reading["pair"]),
    }


def speeds(measured: dict[str, Any]) -> dict[str, list[float]]:
    """Return words per second and core of whole releases in each round, by size, smallest first."""
    threads = int(re.search(r"(\d+) threads", measured["setting"])[1])  # type: ignore[index]
    rounds = {}
    for row in sorted(measured["searches"], key=lambda row: row["words"] * row["dimension"]):
        shape = f"{row['words']:,} x {row['dimension']}"
        if row["name"] == "deniable" and shape in measured["shares"]:
            share = measured["shares"][shape]
            rounds[shape] = [speed * share / threads for speed in row["words_per_second"]]
    return rounds


def bytes_per_word() -> float:
    """Return the bytes that a word takes in the example, the space after it included."""
    with (ROOT / "examples" / "reviews.csv").open(encoding="utf-8", newline="") as file:
        texts: list[str | None] = [row["review"] for row in csv.DictReader(file)]
    words = Privatizer(Multivariate(Embedding.open(), epsilon=1)).count(texts).words
    return sum(len((text or "").encode()) + 1 for text in texts) / words


def executors(
    rounds: dict[str, list[float]],
    per_word: float,
    *,
    terabytes: float = 1.0,
    hours: float = 24.0,
    cores: int = 4,
    price: float | None = None,
) -> str:
    """Return core-hours, executors and cost of an amount of text at each size."""
    amount = "a terabyte" if terabytes == 1 else f"{terabytes:g} terabytes"
    head = ["vocabulary x dimension", "words/s per core", f"core-hours for {amount}"]
    head += [f"executors of {cores} cores for {amount} in {hours:g} h"] + ["cost"] * (price is not None)
    rows = []
    for shape, rates in rounds.items():
        needed = terabytes * 1e12 / per_word / median(rates) / 3600
        cells = [shape, spread(rates, ",.0f"), f"{needed:,.0f}", f"{ceil(needed / hours / cores):,}"]
        rows.append(cells if price is None else [*cells, f"{needed * price:,.0f}"])
    return table(head, rows)


def memory(measured: list[dict[str, Any]]) -> str:
    """Return what releasing files of growing size takes."""
    names = ("workers", "process_mib", "with_workers_mib")
    rows = [
        [f"{row['gigabytes']:g}", *(row[name] for name in names), f"{row['seconds']:,.0f}"]
        for row in sorted(measured, key=lambda row: (row["workers"], row["gigabytes"]))
    ]
    return table(["file, GB", "workers", "the process, MiB resident", "all processes, MiB", "seconds"], rows)


def scaling(measured: dict[str, Any], first_column: str) -> str:
    """Return words per second and processor time beside those of the first row, round by round.

    Where more processes than hardware threads wanted to work, a second process was given no second thread,
    and words per second say nothing about what it gains: they are left out then.
    """
    overloaded = measured["load"] > measured["threads"]
    parts = {"words_per_second": "words/s", "processor_microseconds": "processor time a word, µs"}
    if overloaded:
        del parts["words_per_second"]
    rows = []
    for row in measured["rows"]:
        cells = [row[first_column]]
        for name in parts:
            ratios = [one / first for one, first in zip(row[name], measured["rows"][0][name], strict=True)]
            cells += [spread(row[name], ",.0f"), spread(ratios, ".2f")]
        rows.append(cells)
    head = [first_column, *(cell for title in parts.values() for cell in (title, "over the first"))]
    return table(head, rows) + (OVERLOADED.format(**measured) if overloaded else "")


def reading_growth(draw: float, pair: float) -> str:
    """Return how reading a release back grows, by the seconds that a draw in 50,000 words and a pair take."""
    rows = []

    def held(outputs: int, most: int) -> int:
        return outputs * max(FEWEST_POINTS_EACH, min(most, MOST_NUMBERS // (outputs * 50)))

    for vocabulary in (50_000, 400_000, 2_500_000):

        def minutes(draws: float, points: float, words: int, vocabulary: int = vocabulary) -> str:
            seconds = draws * draw * vocabulary / 50_000 + 2 * points * _INPUTS * pair + words * _READING
            return f"{seconds / 60:,.1f}"

        for words in (10**2, 10**4, 10**6, 10**8):
            outputs = min(words, vocabulary)
            around = _INPUTS * (12 if words < 1_000 else 100 if words < 10_000 else 1_000)
            around = min(around, MOST_DRAWS_EACH * vocabulary)
            whole = (
                around,
                min(points_in_all(vocabulary, _INPUTS, around), held(vocabulary, MOST_POINTS_EACH)),
            )
            spread = 2 * max(SPREAD_DRAWS, SPREAD_AN_OUTPUT * outputs)
            asked = spread, min(points_in_all(outputs, _INPUTS, spread), held(outputs, MOST_POINTS_ASKED))
            decode = asked if outputs <= min(vocabulary // 2, MOST_ASKED) else whole
            rehearsed = min(max(100_000, 4 * words), 1_000_000)
            cells = minutes(*decode, words), minutes(around + rehearsed, whole[1], words)
            rows.append((f"{vocabulary:,}", f"{words:,}", *cells))
    head = ["vocabulary", "released words", "decode, processor minutes", "frequencies, processor minutes"]
    return table(head, rows)


def main() -> None:
    """Print the table of an order."""
    parser = options_of(__doc__)
    parser.add_argument("--terabytes", type=float, default=1.0)
    parser.add_argument("--hours", type=float, default=24.0, help="when it has to be done")
    parser.add_argument("--cores", type=int, default=4, help="of one executor")
    parser.add_argument("--price", type=float, help="of a core for an hour, in any currency")
    order = vars(parser.parse_args())
    print(executors(speeds(read_json(DATA / "search.json")), bytes_per_word(), **order))


if __name__ == "__main__":
    main()
