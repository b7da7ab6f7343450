"""The results of the search benchmark as Markdown."""

from __future__ import annotations

from statistics import median
from typing import Any

from searches.contestants import FLAT, NUMPY, OURS, WITHOUT_AMX

Row = dict[str, Any]

TARGETS = {FLAT: 15.0, NUMPY: 4.0, "mldp-text": 100.0, "pypantera": 1000.0}
PEAK_TARGET, PEAK_TARGETS = 0.4, {(400_000, 50): 0.5, (400_000, 300): 0.65}
SHARE_TARGET = 0.8


def spread(values: list[float], digits: int = 1) -> str:
    """Write a median and its range."""
    return f"{median(values):,.{digits}f} [{min(values):,.{digits}f}–{max(values):,.{digits}f}]"


def table(rows: list[Row]) -> str:
    """Write all searches as one table."""
    lines = [
        "| search | vocabulary x dimension | words/s, median [range] | deniable is faster by | right words | one word, ms |",
        "|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {row['name']} | {row['words']:,} x {row['dimension']} | {spread(row['words_per_second'])} | {spread(row['ratios'])} "
        f"| {row['recall']:.2%} | {row['single_ms']:.2f} |"
        for row in rows
        if "left_out" not in row
    ]
    return "\n".join(lines)


def verdicts(rows: list[Row], shares: dict[str, float]) -> str:
    """Write how the targets stand at the largest size, and what was left out."""
    left_out = [
        f"- {row['name']} at {row['words']:,} x {row['dimension']}: left out, {row['left_out']}" for row in rows if "left_out" in row
    ]
    rows = [row for row in rows if "left_out" not in row]
    largest = max(row["words"] * row["dimension"] for row in rows)
    at_largest = {row["name"]: row for row in rows if row["words"] * row["dimension"] == largest}
    ours = at_largest[OURS]
    shape = f"{ours['words']:,} x {ours['dimension']}"
    lines = [
        f"- {name} at {shape}: deniable is {_met(median(at_largest[name]['ratios']), TARGETS[name])} times as fast"
        for name in (FLAT, NUMPY)
        if name in at_largest
    ]
    lines += [
        f"- {row['name']} at {row['words']:,} x {row['dimension']}: faster, deniable is {median(row['ratios']):.1f} times as fast; "
        f"it finds {row['recall']:.0%} of the right words"
        for row in rows
        if median(row["ratios"]) < 1.0
    ]
    for row in rows:
        if row["name"] in (OURS, WITHOUT_AMX) and row["peak"] and all(row["peak"]):
            work = row["words"] * row["dimension"]
            target = PEAK_TARGETS.get((row["words"], row["dimension"]), PEAK_TARGET)
            reached = [speed * work / peak for speed, peak in zip(row["words_per_second"], row["peak"], strict=True)]
            lines.append(
                f"- roofline of {row['name']} at {row['words']:,} x {row['dimension']}: {row['median'] * work / 1e9:.0f} of "
                f"{median(row['peak']) / 1e9:.0f} billion multiply-adds a second, {_met(median(reached), target, '.0%')}"
            )
    lines += [f"- share of the search in Privatizer.many at {size}: {_met(share, SHARE_TARGET, '.1%')}" for size, share in shares.items()]
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
            lines.append(f"- {shape}: {spread(row['words_per_second'])} words/s, {row['peak_mb'] / 1000:.1f} GB at most")
        else:
            factor = _met(median(row["ratios"]), TARGETS[row["name"]])
            memory = f"{row['peak_mb'] / 1000:.1f} GB at most"
            lines.append(f"- {shape}: {spread(row['words_per_second'], 2)} words/s, {memory}; deniable is {factor} times as fast")
    return "\n".join(lines)
