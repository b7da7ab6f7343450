"""The figure of the search benchmark: words per second against vocabulary size and dimension, recall beside it."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

Row = dict[str, Any]


def draw(rows: list[Row], path: Path, *, dimension: int, words: int) -> None:
    """Draw words per second at ``dimension`` against the vocabulary and at ``words`` against the dimension.

    Only GloVe is drawn: a line is to show what the size does, not what other vectors do.
    """
    rows = [row for row in rows if "GloVe" in row["set"] and "left_out" not in row]
    matplotlib = importlib.import_module("matplotlib")
    matplotlib.use("Agg")
    pyplot = importlib.import_module("matplotlib.pyplot")
    figure, panels = pyplot.subplots(2, 2, figsize=(11, 7), sharey="row", sharex="col", height_ratios=[3, 1], layout="constrained")
    names = list(dict.fromkeys(row["name"] for row in rows))
    colours = {name: pyplot.get_cmap("tab10")(i) for i, name in enumerate(names)}
    views: list[tuple[str, str, Callable[[Row], bool]]] = [
        (f"words in the vocabulary, at {dimension} dimensions", "words", lambda row: row["dimension"] == dimension),
        (f"dimensions, at {words:,} words", "dimension", lambda row: row["words"] == words),
    ]
    for column, (label, axis, wanted) in enumerate(views):
        speed, recall = panels[0][column], panels[1][column]
        for name in names:
            points = sorted((row[axis], row["median"], row["recall"]) for row in rows if row["name"] == name and wanted(row))
            if not points:
                continue
            at, speeds, recalls = zip(*points, strict=True)
            style = {"color": colours[name], "marker": "o", "linewidth": 3 if name == names[0] else 1.5, "label": name}
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
