"""The figures of docs/experiments/calibration.md, drawn from the numbers kept beside the page."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, PercentFormatter

from deniable.calibration.compare import PERCENTILES, Averages, Geometry
from deniable.report.figure import WIDTH, apply_style, new_figure
from deniable.report.palette import BLUE, INK, RUST, SERIES

SHOWN = 6
"""Histograms are drawn for this many values of ε."""


@apply_style
def histograms(found: dict[str, Any], epsilons: list[float]) -> Figure:
    """How many words have which N_w, distinct words and S_w: a row per ε. The heights are powers of ten, so
    that single words show."""
    rows = [row for row in found["table"] if row["epsilon"] in epsilons]
    figure, axes = new_figure(
        len(rows),
        3,
        width=1.5 * WIDTH,
        height=0.7 + 1.05 * len(rows),
        squeeze=False,
        sharex="col",
        sharey="col",
    )
    for row, panels in zip(rows, axes, strict=True):
        counts = row["histograms"]
        ends = (1.0, float(found["rays"]), float(counts["largest_support"]))
        for panel, name, end, colour in zip(
            panels, ("n_w", "distinct", "support"), ends, (BLUE, SERIES[2], SERIES[3]), strict=True
        ):
            edges = np.linspace(0.0, end, len(counts[name]) + 1)
            panel.stairs(counts[name], edges, fill=True, color=colour)
            panel.set_yscale("log")
            panel.set_ylim(bottom=0.7)
            panel.set_yticks([1, 100, 10_000], ["1", "100", "10,000"])
            panel.minorticks_off()
        panels[0].axvline(0.5, color=RUST, linewidth=1.0, linestyle=(0, (2, 2)))
        panels[1].axvline(0.3 * found["rays"], color=RUST, linewidth=1.0, linestyle=(0, (2, 2)))
        panels[0].set_title(f"ε = {row['epsilon']:g}")
    axes[-1][0].set_xlabel("N_w: released unchanged")
    axes[-1][0].xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    axes[-1][1].set_xlabel(f"distinct words in {found['rays']:,} draws")
    axes[-1][2].set_xlabel("S_w: words that hold 95 %")
    for panel in axes[-1][1:]:
        panel.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    figure.supylabel("words (powers of ten)", fontsize=9, color=INK)
    return figure


def averages(found: dict[str, Any]) -> list[Averages]:
    """Return the averages against ε as the figure of ``deniable embeddings compare`` takes them."""
    name = f"{found['title'].partition(',')[0]}, {found['words']:,} words"
    return [
        Averages(
            embedding=name,
            dimension=found["dimension"],
            epsilon=row["epsilon"],
            unchanged=row["average"],
            error=row["error_of_average"],
            support=row["average_support"],
            distinct=row["average_distinct"],
        )
        for row in found["table"]
    ]


def geometries(found: list[dict[str, Any]], titles: list[str]) -> list[Geometry]:
    """Return what ``deniable embeddings geometry --json`` printed, to be drawn again."""
    return [
        Geometry(
            embedding=title,
            words=each["words"],
            neighbours=tuple(row["neighbour"] for row in each["neighbours"]),
            percentiles=np.array([[row[f"{p}%"] for p in PERCENTILES] for row in each["neighbours"]]),
        )
        for each, title in zip(found, titles, strict=True)
    ]
