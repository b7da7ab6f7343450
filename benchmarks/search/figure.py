"""The figures of docs/search.md: words per second against vocabulary size and dimension, beside recall, and
beside memory."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

Row = dict[str, Any]
PROCESSOR, CARD = "processor", "GPU"
COLOURS = {PROCESSOR: "tab:blue", CARD: "tab:green"}


def draw_search(rows: list[Row], path: Path, *, dimension: int, words: int) -> None:
    """Draw words per second at ``dimension`` against the vocabulary and at ``words`` against the dimension.

    Only GloVe is drawn: a line is to show what the size does, not what other vectors do.
    """
    rows = [row for row in rows if "GloVe" in row["set"] and "left_out" not in row]
    matplotlib = importlib.import_module("matplotlib")
    matplotlib.use("Agg")
    pyplot = importlib.import_module("matplotlib.pyplot")
    figure, panels = pyplot.subplots(
        2, 2, figsize=(11, 7), sharey="row", sharex="col", height_ratios=[3, 1], layout="constrained"
    )
    names = list(dict.fromkeys(row["name"] for row in rows))
    colours = {name: pyplot.get_cmap("tab10")(i) for i, name in enumerate(names)}
    views: list[tuple[str, str, Callable[[Row], bool]]] = [
        (
            f"words in the vocabulary, at {dimension} dimensions",
            "words",
            lambda row: row["dimension"] == dimension,
        ),
        (f"dimensions, at {words:,} words", "dimension", lambda row: row["words"] == words),
    ]
    for column, (label, axis, wanted) in enumerate(views):
        speed, recall = panels[0][column], panels[1][column]
        for name in names:
            points = sorted(
                (row[axis], row["median"], row["recall"])
                for row in rows
                if row["name"] == name and wanted(row)
            )
            if not points:
                continue
            at, speeds, recalls = zip(*points, strict=True)
            style = {
                "color": colours[name],
                "marker": "o",
                "linewidth": 3 if name == names[0] else 1.5,
                "label": name,
            }
            speed.plot(at, speeds, **style)
            recall.plot(at, recalls, **style)
        speed.set_yscale("log")
        for panel in (speed, recall):
            panel.grid(alpha=0.3)
        if axis == "words":
            recall.set_xscale("log")
        measured = sorted({row[axis] for row in rows if wanted(row)})
        recall.set_xticks(measured, [f"{value:,}" for value in measured])
        recall.minorticks_off()
        recall.set_xlabel(label)
        recall.set_ylim(-0.05, 1.05)
    panels[0][0].set_ylabel("words a second")
    panels[1][0].set_ylabel("right words")
    handles, labels = panels[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right upper", frameon=False)
    figure.savefig(path, dpi=130)


def _has_dimension(dimension: int, point: Row) -> bool:
    return bool(point["dimension"] == dimension)


def draw_growth(found: dict[str, Any], card: list[Row], path: Path) -> None:
    """Draw words per second above, memory below; against the vocabulary on the left, against the dimension on
    the right."""
    matplotlib = importlib.import_module("matplotlib")
    matplotlib.use("Agg")
    pyplot = importlib.import_module("matplotlib.pyplot")
    figure, panels = pyplot.subplots(2, 2, figsize=(11, 7), sharex="col", sharey="row", layout="constrained")
    at_words = 400_000
    views: list[tuple[str, str, dict[str, Callable[[Row], bool]]]] = [
        (
            "words in the vocabulary",
            "words",
            {f"{n} dimensions": partial(_has_dimension, n) for n in (50, 300)},
        ),
        ("dimensions", "dimension", {f"{at_words:,} words": lambda point: point["words"] == at_words}),
    ]
    for column, (label, axis, lines) in enumerate(views):
        for unit, points in ((PROCESSOR, found["points"]), (CARD, card)):
            for style, (name, wanted) in zip(("-", "--"), lines.items(), strict=False):
                chosen = sorted((point for point in points if wanted(point)), key=lambda point: point[axis])
                if not chosen:
                    continue
                at, how = (
                    [point[axis] for point in chosen],
                    {"color": COLOURS[unit], "linestyle": style, "marker": "o"},
                )
                panels[0][column].plot(
                    at, [point["words_per_second"] for point in chosen], label=f"{unit}, {name}", **how
                )
                if all("memory" in point for point in chosen):
                    panels[1][column].plot(at, [point["memory"] / 1e9 for point in chosen], **how)
        measured = sorted(
            {point[axis] for point in found["points"] for wanted in lines.values() if wanted(point)}
        )
        for panel in panels[:, column]:
            panel.set_xscale("log")
            panel.set_yscale("log")
            panel.grid(alpha=0.3)
            panel.set_xticks(measured, [_short(value) for value in measured])
            panel.minorticks_off()
        panels[0][column].legend(frameon=False)
        panels[1][column].set_xlabel(label)
    panels[0][0].set_ylabel("words a second")
    panels[1][0].set_ylabel("memory, GB")
    figure.savefig(path, dpi=130)


def _short(value: int) -> str:
    return (
        f"{value / 1e6:g} M" if value >= 1_000_000 else f"{value // 1000:,}k" if value >= 1000 else str(value)
    )
