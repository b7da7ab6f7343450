"""The tables and figures of docs/search.md, from docs/data/search.json, growth.json and gpu.json."""

from __future__ import annotations

import json
from collections.abc import Iterable
from statistics import median
from typing import Any

from scripts.pages import ROOT, table

from benchmarks.search.contestants import FLAT, NUMPY, OURS, WITHOUT_AMX
from benchmarks.search.figure import draw_growth, draw_search
from benchmarks.search.gpu import gpu_points, gpu_tables

Row = dict[str, Any]

PAGE = ROOT / "docs" / "search.md"
LATENCY = (OURS, "deniable without compiler", FLAT, NUMPY, "FAISS HNSW")
HEADS = {"words_per_second": "words/s", "memory": "memory, MB"}
TARGETS = {FLAT: 15.0, NUMPY: 4.0, "mldp-text": 100.0, "pypantera": 1000.0}
PEAK_TARGET, PEAK_TARGETS = 0.4, {(400_000, 50): 0.5, (400_000, 300): 0.65}
SHARE_TARGET = 0.8


def tables() -> dict[str, str]:
    """Return the tables of the page."""
    found, gpu = read("search"), read("gpu")
    return {
        "latency": latency(found["searches"]),
        "batches": searches_table(found["searches"]),
        "growth": growth_table(read("growth"), gpu_points(gpu)),
        "targets": verdicts(found["searches"], found["shares"]),
        "gpu": gpu_tables(gpu),
        "earlier": searches_table(found["earlier"]["searches"]),
        "peers": peer_lines(found["peers"]),
    }


def draw() -> None:
    """Draw the figures."""
    figures, rows = ROOT / "docs" / "figures", read("search")["searches"]
    draw_search(rows, figures / "search.png", dimension=300, words=max(row["words"] for row in rows))
    draw_growth(read("growth"), gpu_points(read("gpu")), figures / "growth.png")


def read(name: str) -> dict[str, Any]:
    """Return what was measured."""
    found: dict[str, Any] = json.loads((ROOT / "docs" / "data" / f"{name}.json").read_text(encoding="utf-8"))
    return found


def spread(values: list[float], digits: int = 1) -> str:
    """Write a median and its range."""
    return f"{median(values):,.{digits}f} [{min(values):,.{digits}f}–{max(values):,.{digits}f}]"


def searches_table(rows: list[Row]) -> str:
    """Write all searches as one table."""
    cells = [
        [
            row["name"],
            f"{row['words']:,} x {row['dimension']}",
            spread(row["words_per_second"]),
            spread(row["ratios"]),
            f"{row['recall']:.2%}",
            f"{row['single_ms']:.2f}",
        ]
        for row in rows
        if "left_out" not in row
    ]
    head = [
        "search",
        "vocabulary x dimension",
        "words/s, median [range]",
        "deniable is faster by",
        "right words",
        "one word, ms",
    ]
    return table(head, cells)


def latency(rows: list[Row]) -> str:
    """Write how long a single query takes, in milliseconds, sizes in rows and searches in columns."""
    took = {
        (row["words"], row["dimension"], row["name"]): row["single_ms"]
        for row in rows
        if "left_out" not in row
    }
    shapes = list(dict.fromkeys((words, dimension) for words, dimension, _ in took))
    names = [name for name in LATENCY if any(name == here for _, _, here in took)]
    cells = [
        [
            f"{words:,} x {dimension}",
            *(
                f"{took[words, dimension, name]:.2f}" if (words, dimension, name) in took else ""
                for name in names
            ),
        ]
        for words, dimension in shapes
    ]
    return table(["vocabulary x dimension", *names], cells)


def growth_table(found: dict[str, Any], card: list[Row]) -> str:
    """Write words per second and memory of all points, one row a shape, with what a GPU reached beside
    them."""
    by_card = {(point["words"], point["dimension"]): point for point in card}
    ours = {(point["words"], point["dimension"]): point for point in found["points"]}
    of_card = [name for name in HEADS if any(name in point for point in card)]
    rows = [
        [
            f"{shape[0]:,} x {shape[1]}",
            *_cells(ours.get(shape, {}), HEADS),
            *_cells(by_card.get(shape, {}), of_card),
        ]
        for shape in sorted(ours | by_card)
    ]
    return table(
        ["vocabulary x dimension", *HEADS.values(), *(f"GPU, {HEADS[name]}" for name in of_card)], rows
    )


def _cells(point: Row, names: Iterable[str]) -> list[str]:
    return [
        f"{point[name] / (1e6 if name == 'memory' else 1.0):,.0f}" if name in point else "" for name in names
    ]


def verdicts(rows: list[Row], shares: dict[str, float]) -> str:
    """Write how the targets stand at the largest size, and what was left out."""
    left_out = [
        f"- {row['name']} at {row['words']:,} x {row['dimension']}: left out, {row['left_out']}"
        for row in rows
        if "left_out" in row
    ]
    rows = [row for row in rows if "left_out" not in row]
    largest = max(row["words"] * row["dimension"] for row in rows)
    at_largest = {row["name"]: row for row in rows if row["words"] * row["dimension"] == largest}
    ours = at_largest[OURS]
    shape = f"{ours['words']:,} x {ours['dimension']}"
    lines = [
        f"- {name} at {shape}: deniable is {_met(median(at_largest[name]['ratios']), TARGETS[name])} times "
        "as fast"
        for name in (FLAT, NUMPY)
        if name in at_largest
    ]
    lines += [
        f"- {row['name']} at {row['words']:,} x {row['dimension']}: faster, deniable is "
        f"{median(row['ratios']):.1f} times as fast; "
        f"it finds {row['recall']:.0%} of the right words"
        for row in rows
        if median(row["ratios"]) < 1.0
    ]
    for row in rows:
        if row["name"] in (OURS, WITHOUT_AMX) and row["peak"] and all(row["peak"]):
            work = row["words"] * row["dimension"]
            target = PEAK_TARGETS.get((row["words"], row["dimension"]), PEAK_TARGET)
            reached = [
                speed * work / peak for speed, peak in zip(row["words_per_second"], row["peak"], strict=True)
            ]
            lines.append(
                f"- roofline of {row['name']} at {row['words']:,} x {row['dimension']}: "
                f"{row['median'] * work / 1e9:.0f} of "
                f"{median(row['peak']) / 1e9:.0f} billion multiply-adds a second, "
                f"{_met(median(reached), target, '.0%')}"
            )
    lines += [
        f"- share of the search in Privatizer.many at {size}: {_met(share, SHARE_TARGET, '.1%')}"
        for size, share in shares.items()
    ]
    return "\n".join(lines + left_out)


def _met(value: float, target: float, form: str = ",.1f") -> str:
    return f"{value:{form}} (target {target:{form}}: {'met' if value >= target else 'MISSED'})"


def peer_lines(rows: list[Row]) -> str:
    """Write whole releases of the peers beside ours."""
    lines = []
    for row in rows:
        shape = f"{row['name']} at {row['words']:,} x 300"
        if row["failure"]:
            lines.append(f"- {shape}: failed, {row['failure']}")
        elif row["name"] == OURS:
            lines.append(
                f"- {shape}: {spread(row['words_per_second'])} words/s, {row['peak_mb'] / 1000:.1f} GB at "
                "most"
            )
        else:
            factor = _met(median(row["ratios"]), TARGETS[row["name"]])
            memory = f"{row['peak_mb'] / 1000:.1f} GB at most"
            lines.append(
                f"- {shape}: {spread(row['words_per_second'], 2)} words/s, {memory}; deniable is {factor} "
                "times as fast"
            )
    return "\n".join(lines)
