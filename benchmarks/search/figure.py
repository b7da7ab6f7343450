"""The figure of docs/research/search.md: words per second by vocabulary size and dimension, with recall."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure

Row = dict[str, Any]
AT_WORDS = 400_000


def search_figure(rows: list[Row]) -> Figure:
    """Return words per second at 300 dimensions against the vocabulary and at 400,000 words against the
    dimension.

    Only GloVe is drawn: a line is to show what the size does, not what other vectors do.
    """
    rows = [row for row in rows if "GloVe" in row["set"] and "left_out" not in row]
    figure = Figure(figsize=(11, 7), layout="constrained")
    panels = figure.subplots(2, 2, sharey="row", sharex="col", height_ratios=[3, 1])
    names = list(dict.fromkeys(row["name"] for row in rows))
    views: list[tuple[str, str, Callable[[Row], bool]]] = [
        ("words in the vocabulary, at 300 dimensions", "words", lambda row: row["dimension"] == 300),
        (f"dimensions, at {AT_WORDS:,} words", "dimension", lambda row: row["words"] == AT_WORDS),
    ]
    for (speed, recall), (label, axis, wanted) in zip(panels.T, views, strict=True):
        shown = sorted((row for row in rows if wanted(row)), key=lambda row: row[axis])
        for number, name in enumerate(names):
            own = [row for row in shown if row["name"] == name]
            look: Row = {
                "color": colormaps["tab10"](number),
                "marker": "o",
                "linewidth": 1.5 if number else 3,
            }
            for panel, value in ((speed, "median"), (recall, "recall")):
                panel.plot([row[axis] for row in own], [row[value] for row in own], label=name, **look)
        speed.set_yscale("log")
        recall.set_ylim(-0.05, 1.05)
        _finish((speed, recall), {row[axis] for row in shown}, label, log=axis == "words")
    panels[0][0].set_ylabel("words a second")
    panels[1][0].set_ylabel("right words")
    figure.legend(*panels[0][0].get_legend_handles_labels(), loc="outside right upper", frameon=False)
    return figure


def _finish(panels: tuple[Axes, Axes], values: set[int], label: str, *, log: bool) -> None:
    for panel in panels:
        if log:
            panel.set_xscale("log")
        panel.grid(alpha=0.3)
        ticks = sorted(values)
        panel.set_xticks(ticks, [f"{each:,}" for each in ticks])
        panel.minorticks_off()
    panels[-1].set_xlabel(label)
