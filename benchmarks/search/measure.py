"""The measurements of the search benchmark."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable
from statistics import median
from typing import Any, TypeVar

import numpy as np

from benchmarks.search.contestants import CONTESTANTS, ONE_BY_ONE, OURS, WITHOUT_AMX, LeftOut, embedding_of
from benchmarks.search.sets import VectorSet
from deniable import Multivariate, Privatizer
from deniable.arrays import Ids, Vectors

MOST_QUERIES = 8192
FEWEST_QUERIES = 1024
"""Searches that live on matrix products need a batch to show what they can do; a turn may take longer for
it."""
SINGLE_QUERIES = 15

Row = dict[str, Any]
Given = TypeVar("Given")
Found = TypeVar("Found")


def timed(function: Callable[[Given], Found], given: Given) -> tuple[float, Found]:
    """Return the seconds a call takes and what it returns."""
    begin = time.perf_counter()
    found = function(given)
    return time.perf_counter() - begin, found


def measure_set(
    vectors: VectorSet, *, epsilon: float, threads: int, rounds: int, seconds: float, only: str = ""
) -> list[Row]:
    """Return one row per contestant: its words per second in each round, its share of right words, its
    latency.

    A contestant that does not take part has a row with the reason under ``left_out`` and no measurements.
    """
    words, dimension = vectors.vectors.shape
    queries = vectors.queries(epsilon, MOST_QUERIES)
    rows: list[Row] = []
    left_out: list[Row] = []
    searches = []
    for name, make in CONTESTANTS.items():
        if not (name == OURS or re.search(only, name)):
            continue
        row = {"name": name, "set": vectors.name, "words": words, "dimension": dimension}
        try:
            build, search = timed(lambda given, make=make: make(given, threads), vectors.vectors)  # type: ignore[misc]
        except LeftOut as reason:
            left_out.append(row | {"left_out": str(reason)})
            print(f"{words:,} x {dimension} {name}: left out, {reason}", file=sys.stderr, flush=True)
            continue
        least = count = FEWEST_QUERIES // 64 if name in ONE_BY_ONE else FEWEST_QUERIES
        while (took := timed(search, queries[:count])[0]) < seconds / 4 and count < MOST_QUERIES:
            count *= 4
        count = int(min(MOST_QUERIES, max(least, count * seconds / took)))
        rows.append(row | {"queries": count, "build_seconds": build, "words_per_second": [], "peak": []})
        searches.append(search)
        print(
            f"{words:,} x {dimension} {name}: built in {build:.1f} s, {count:,} queries a turn",
            file=sys.stderr,
            flush=True,
        )
    found: dict[str, Ids] = {}
    for _ in range(rounds):
        for row, search in zip(rows, searches, strict=True):
            if row["name"] in (OURS, WITHOUT_AMX):
                row["peak"].append(multiply_peak(threads))
            took, found[row["name"]] = timed(search, queries[: row["queries"]])
            row["words_per_second"].append(row["queries"] / took)
    right = searches[0](queries)
    for row, search in zip(rows, searches, strict=True):
        row["recall"] = float(np.mean(found[row["name"]] == right[: row["queries"]]))
        row["median"] = median(row["words_per_second"])
        row["ratios"] = [
            a / b for a, b in zip(rows[0]["words_per_second"], row["words_per_second"], strict=True)
        ]
        row["single_ms"] = 1000 * median(timed(search, queries[i : i + 1])[0] for i in range(SINGLE_QUERIES))
    return rows + left_out


def multiply_peak(threads: int) -> float:
    """Return the multiply-adds per second of the vector instruction in use, on registers alone; 0 without the
    native module.

    Also where AMX is in use: its matrix instruction does eight times as many, and no search comes near that.
    """
    try:
        from deniable.neighbours import _native
        from deniable.neighbours.scan import usable_paths
    except ImportError:
        return 0.0
    return _native.multiply_peak(next(path for path in usable_paths() if path != "amx"), threads, 0.5)


def search_share(vectors: VectorSet, epsilon: float) -> float:
    """Return the share of the time of ``Privatizer.many`` that the search takes."""
    mechanism = Multivariate(embedding_of(vectors.vectors), epsilon=vectors.scale * epsilon)
    nearest = mechanism.neighbours.nearest
    inside: list[float] = []

    class Timed:
        def nearest(self, queries: Vectors) -> Ids:
            seconds, found = timed(nearest, queries)
            inside.append(seconds)
            return found

    mechanism.__dict__["neighbours"] = Timed()
    private = Privatizer(mechanism)
    texts: list[str | None] = [
        " ".join(str(i) for i in range(start, start + 40)) for start in range(0, 4000, 40)
    ]
    private.many(texts[:1])
    inside.clear()
    whole, _ = timed(private.many, texts)
    return sum(inside) / whole
