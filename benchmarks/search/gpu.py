"""The table of docs/search.md about a GPU, from what scripts/gpu/check.py measured."""

from __future__ import annotations

from statistics import median
from typing import Any

TARGETS = {"400,000 x 300": 1_500_000, "400,000 x 50": 4_000_000, "50,000 x 50": 10_000_000}
COLUMNS = (
    "vocabulary x dimension",
    "vectors",
    "words/s, ids to ids",
    "target",
    "of the arithmetic peak",
    "of cuBLAS alone",
    "of cuBLAS, padded",
    "float32 form",
    "PyTorch alone",
    "processor",
)


def gpu_tables(found: dict[str, Any]) -> str:
    """Write what one run on a GPU measured; a part that failed is said to have failed."""
    parts = found["parts"]
    lines = [f"| {' | '.join(COLUMNS)} |", "|---" * len(COLUMNS) + "|"]
    for size in TARGETS:
        row = parts.get(f"speed {size}", {"failed": "not run"})
        if "failed" in row:
            lines.append(f"| {size} | failed |" + " |" * (len(COLUMNS) - 2))
            continue
        speed, target = (
            median(row["words_per_second"]),
            f"{TARGETS[size]:,}: {'met' if row['met'] else 'MISSED'}",
        )
        beside = [_speed(parts.get(f"{name} {size}", {})) for name in ("torch", "processor")]
        lines.append(
            f"| {size} | {row['origin']} | {speed:,.0f} | {target} | "
            f"{_share_of_peak(size, speed, parts):.0%} "
            f"| {row['share_of_cublas']:.0%} | {_share_of_padded(size, speed, parts)} | "
            f"{row['float32_form']:,.0f} "
            f"| {' | '.join(beside)} |"
        )
    lines.append("")
    others = (
        ("channel", "The channel of 50,000 words x 2,000 draws, counted on the card", 20),
        ("N_w", "N_w and distinct words", 120),
    )
    for name, text, most in others:
        row = parts.get(name, {})
        if "seconds" in row:
            which = f" of {row['words']:,} words x 1,000 draws" if "words" in row else ""
            lines.append(
                f"- {text}{which}: {row['seconds']:.1f} s (target {most} s: "
                f"{'met' if row['met'] else 'MISSED'})"
            )
    if "columns" in (row := parts.get("columns", {})):
        first, again = (f"{row['seconds'][f'cuda, {turn}']:.2f} s" for turn in ("first", "again"))
        lines.append(
            f"- The columns of {row['columns']} released words of 50,000, the points drawn: {first}, and "
            f"{again} again "
            f"(the same machine's processor: {row['seconds']['processor, again']:.2f} s)"
        )
    checks = parts.get("checks", {})
    passed = sum(1 for check in checks.values() if check["passed"])
    lines.append(
        f"- {passed} of {len(checks)} checks of the kernels passed on the card, among them words equal to "
        "the float64 oracle's"
    )
    return "\n".join(lines) + "\n"


def gpu_points(found: dict[str, Any] | None) -> list[dict[str, Any]]:
    """Return the sizes that were measured and their words per second, for the figure of how cost grows."""
    parts = {} if found is None else found["parts"]
    return [
        {
            "words": _shape(size)[0],
            "dimension": _shape(size)[1],
            "words_per_second": median(row["words_per_second"]),
        }
        | {name: row[name] for name in ("memory",) if name in row}
        for size in TARGETS
        if "words_per_second" in (row := parts.get(f"speed {size}", {}))
    ]


def _shape(size: str) -> tuple[int, int]:
    words, dimension = size.replace(",", "").split(" x ")
    return int(words), int(dimension)


def _share_of_peak(size: str, speed: float, parts: dict[str, Any]) -> float:
    """Return the share of the arithmetic: two operations for each number of the vectors, against those of a
    square product."""
    words, dimension = _shape(size)
    return speed * 2 * words * dimension / (float(parts.get("ceiling", {}).get("tflops", "nan")) * 1e12)


def _share_of_padded(size: str, speed: float, parts: dict[str, Any]) -> str:
    limit = parts.get("ceiling", {}).get(f"{size} padded")
    return "not measured" if limit is None else f"{speed / limit:.0%}"


def _speed(row: dict[str, Any]) -> str:
    return f"{row['words_per_second']:,.0f}" if "words_per_second" in row else row.get("left_out", "not run")
