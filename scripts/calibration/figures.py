"""The histograms of docs/research/calibration.md."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, PercentFormatter

from deniable.report.figure import WIDTH, apply_style, new_figure
from deniable.report.palette import BLUE, INK, RUST, SERIES


@apply_style
def histograms(rows: list[dict[str, Any]], rays: int) -> Figure:
    """Return how many words have which N_w, distinct words and S_w: a row per ε. The heights are powers of
    ten, so that single words show."""
    height = 0.7 + 1.05 * len(rows)
    shape: dict[str, Any] = {"width": 1.5 * WIDTH, "height": height, "squeeze": False}
    figure, axes = new_figure(len(rows), 3, **shape, sharex="col", sharey="col")
    for row, panels in zip(rows, axes, strict=True):
        counts = row["histograms"]
        looks = (
            ("n_w", 1.0, BLUE),
            ("distinct", float(rays), SERIES[2]),
            ("support", float(counts["largest_support"]), SERIES[3]),
        )
        for panel, (name, end, colour) in zip(panels, looks, strict=True):
            panel.stairs(counts[name], np.linspace(0.0, end, len(counts[name]) + 1), fill=True, color=colour)
            panel.set_yscale("log")
            panel.set_ylim(bottom=0.7)
            panel.set_yticks([1, 100, 10_000], ["1", "100", "10,000"])
            panel.minorticks_off()
        for panel, target in ((panels[0], 0.5), (panels[1], 0.3 * rays)):
            panel.axvline(target, color=RUST, linewidth=1.0, linestyle=(0, (2, 2)))
        panels[0].set_title(f"ε = {row['epsilon']:g}")
    labels = ("N_w: released unchanged", f"distinct words in {rays:,} draws", "S_w: words that hold 95 %")
    for panel, label in zip(axes[-1], labels, strict=True):
        panel.set_xlabel(label)
        panel.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axes[-1][0].xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    figure.supylabel("words (powers of ten)", fontsize=9, color=INK)
    return figure
