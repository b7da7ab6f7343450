"""The figures of a calibration and of embeddings side by side, as the paper has them and in our style."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter, PercentFormatter

from deniable.arrays import Floats
from deniable.calibration.calibration import Calibration
from deniable.calibration.compare import PERCENTILES, Averages, Geometry
from deniable.calibration.report.findings import Findings
from deniable.report.figure import WIDTH, apply_style, drawable, new_figure, save
from deniable.report.palette import BLUE, INK, MUTED, RUST, SERIES, SHADES

LABELS = ("average word", "median word", "95 % of words", "99 % of words", "worst word")
_MARKERS = "os^Dv"
_HISTOGRAM_BINS = 25
_FAR_APART = 20
_LABEL_OF_AXIS = 0.057
"""How much of the horizontal axis a label takes, with the space that it needs."""


def write_figures(found: Findings, folder: Path) -> tuple[Path, ...]:
    """Write every figure of the page into a folder, as PNG and SVG; return the files."""
    drawings = {
        "unchanged": unchanged_curves(found),
        "support": support_curves(found),
        "histograms": histogram_figure(found),
    }
    if found.geometry.neighbours:
        drawings["geometry"] = geometry_figure(found.geometry)
    return tuple(path for name, figure in drawings.items() for path in save(figure, folder, name))


@apply_style
def unchanged_curves(found: Findings) -> Figure:
    """How often words stay unchanged, against ε: the average, the median, 95 %, 99 % and the worst word."""
    figure, axes = new_figure(height=3.9)
    epsilons = [curve.epsilon for curve in found.curves]
    lines = [
        [curve.average for curve in found.curves],
        *zip(*(curve.quantiles for curve in found.curves), strict=True),
    ]
    styles: list[dict[str, Any]] = [
        {"color": INK, "linewidth": 2.4},
        {"color": SHADES[0]},
        {"color": SHADES[1]},
        {"color": SHADES[2]},
        {"color": RUST, "linestyle": (0, (4, 1.5))},
    ]
    for label, values, style in zip(LABELS, lines, styles, strict=True):
        axes.plot(epsilons, values, label=label, **style)
    for curve in found.shown:
        axes.axvline(curve.epsilon, color=MUTED, linewidth=0.8, linestyle=(0, (1, 2)), zorder=0)
        axes.annotate(
            f"{curve.epsilon:g}",
            (curve.epsilon, 1.0),
            xytext=(0, 4),
            textcoords="offset points",
            ha="center",
            fontsize=8,
            color=MUTED,
        )
    _epsilon_axis(axes, epsilons)
    axes.set_ylabel("released unchanged (N_w)")
    axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    axes.set_ylim(-0.01, 1.01)
    figure.legend(loc="outside lower center", ncols=3, title=_whose(found.calibration), title_fontsize=8)
    return figure


@apply_style
def support_curves(found: Findings) -> Figure:
    """How many words a word may become, against ε: S_w and the distinct words among one draw per ray."""
    figure, axes = new_figure(height=3.8)
    epsilons = [epsilon for epsilon, _ in found.support("support")]
    for values, colour, label in (
        ("distinct", BLUE, "distinct words in all draws"),
        ("support", SERIES[2], "S_w: words that hold 95 %"),
    ):
        rows = [np.quantile(each, (0.5, 0.05, 0.0)) for _, each in found.support(values)]
        middle, low, least = zip(*rows, strict=True)
        axes.plot(epsilons, middle, color=colour, label=f"{label}; median word")
        axes.plot(
            epsilons,
            low,
            color=colour,
            linestyle=(0, (4, 1.5)),
            linewidth=1.2,
            label="95 % of words have more",
        )
        axes.plot(epsilons, least, color=colour, linestyle=(0, (1, 1.5)), linewidth=1.2, label="worst word")
    _epsilon_axis(axes, epsilons)
    axes.set_ylabel("words")
    largest = [
        max(float(each.max()) for _, each in found.support(values)) for values in ("distinct", "support")
    ]
    if max(largest) > _FAR_APART * min(
        largest
    ):  # a softmax spreads over the whole vocabulary: one scale would hide the other curve
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)
    figure.legend(
        loc="outside lower center", ncols=2, fontsize=7.5, title=_whose(found.sample), title_fontsize=8
    )
    return figure


def histograms(found: Findings) -> list[tuple[float, tuple[Floats, Floats], tuple[Floats, Floats]]]:
    """Return for up to four ε the histograms of N_w and of distinct words: share of the words and edges of
    the bins."""
    known = found.support("distinct")
    picked = (
        [known[i] for i in sorted({round(i) for i in np.linspace(1, len(known) - 2, 4)})]
        if len(known) > 4
        else known
    )
    made = []
    for epsilon, distinct in picked:
        means, _ = found.calibration.unchanged(epsilon)
        bins = np.linspace(0.0, float(found.sample.draws), _HISTOGRAM_BINS + 1)
        made.append(
            (epsilon, _shares(means, np.linspace(0.0, 1.0, _HISTOGRAM_BINS + 1)), _shares(distinct, bins))
        )
    return made


@apply_style
def histogram_figure(found: Findings) -> Figure:
    """Histograms over the words, a row per ε: N_w on the left, distinct words on the right."""
    rows = histograms(found)
    figure, axes = new_figure(len(rows), 2, height=0.6 + 1.15 * len(rows), squeeze=False, sharex="col")
    for (epsilon, left, right), (first, second) in zip(rows, axes, strict=True):
        for each, (shares, edges), colour in ((first, left, BLUE), (second, right, SERIES[2])):
            each.stairs(shares, edges, fill=True, color=colour)
            each.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
            each.set_ylim(bottom=0)
            each.locator_params(axis="y", nbins=3)
        first.set_title(f"ε = {epsilon:g}")
    axes[-1][0].set_xlabel("N_w: released unchanged")
    axes[-1][0].xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    axes[-1][1].set_xlabel(f"distinct words in {found.sample.draws:,} draws")
    figure.supylabel(
        f"share of the words{'' if found.calibration.looked_at.all else ' looked at'}", fontsize=9, color=INK
    )
    return figure


@apply_style
def geometry_figure(*found: Geometry) -> Figure:
    """How far the k-th neighbour of a word is, in percentiles over the words: one panel per embedding, one
    scale."""
    figure, axes = new_figure(
        1, len(found), width=WIDTH if len(found) == 1 else 1.35 * WIDTH, squeeze=False, sharey=True
    )
    for each, panel in zip(found, axes[0], strict=True):
        places = np.arange(len(each.neighbours))
        for p, percentile in reversed(list(enumerate(PERCENTILES))):
            panel.plot(
                places,
                each.percentiles[:, p],
                "o-",
                markersize=3.5,
                color=(*SHADES[:4], INK)[p],
                label=f"{percentile} % of words",
            )
        panel.set_xticks(places, [f"{k:,}" for k in each.neighbours], rotation=45)
        panel.set_title(f"{drawable(each.embedding, longest=28)}, {each.words:,} words")
        panel.set_xlabel("k")
    axes[0][0].set_ylim(
        bottom=0
    )  # once all is drawn: the panels share the axis, and a limit ends its growing
    axes[0][0].set_ylabel("distance to the k-th neighbour")
    axes[0][0].legend(fontsize=7.5)
    return figure


@apply_style
def averages_figure(compared: list[list[Averages]]) -> Figure:
    """Average N_w, and below it average S_w, against ε: one line per embedding."""
    figure, (above, below) = new_figure(2, 1, height=5.0, sharex=True)
    for place, rows in enumerate(compared):
        style = {
            "color": SERIES[place % len(SERIES)],
            "marker": _MARKERS[place % len(_MARKERS)],
            "markersize": 4,
        }
        epsilons = [row.epsilon for row in rows]
        label = f"{drawable(rows[0].embedding, longest=28)} ({rows[0].dimension} dimensions)"
        above.errorbar(
            epsilons, [row.unchanged for row in rows], yerr=[row.error for row in rows], label=label, **style
        )
        below.plot(epsilons, [row.support for row in rows], **style)
    above.set_ylabel("average N_w")
    above.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    above.set_ylim(0, 1)
    below.set_ylabel("average S_w (words)")
    below.set_ylim(bottom=0)
    _epsilon_axis(below, [row.epsilon for rows in compared for row in rows])
    figure.legend(loc="outside lower center", ncols=1)
    return figure


def _whose(calibration: Calibration) -> str | None:
    """Return which words a figure shows, where it does not show all: a figure may be passed on without its
    page."""
    looked_at = calibration.looked_at
    return None if looked_at.all else f"{looked_at.count:,} of {looked_at.vocabulary:,} words"


def _epsilon_axis(axes: Any, epsilons: list[float]) -> None:
    """Let the horizontal axis show ε by powers, with plain numbers."""
    low, high = min(epsilons), max(epsilons)
    if low == high:  # one value of ε: an axis needs two
        low, high = low / 1.5, high * 1.5
    axes.set_xscale("log")
    axes.set_xlim(low, high)
    axes.set_xticks(_epsilon_ticks(low, high))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.4g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.tick_params(axis="x", which="minor", length=0)
    axes.set_xlabel("ε  (small: much noise, more privacy)")


def _epsilon_ticks(low: float, high: float) -> list[float]:
    """Return round numbers from low to high, as many as have room for their labels on an axis by powers."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    gap = _LABEL_OF_AXIS * math.log(high / low)
    for steps in ((1, 1.5, 2, 3, 4, 5, 7), (1, 2, 3, 5), (1, 2, 5), (1,)):
        if min(math.log(after / before) for before, after in pairwise((*steps, 10))) >= gap:
            break
    found = [
        step * 10.0**power
        for power in powers
        for step in steps
        if low * 0.999 <= step * 10.0**power <= high * 1.001
    ]
    return found if len(found) > 1 else [low, high]


def _shares(values: Floats, edges: Floats) -> tuple[Floats, Floats]:
    counts, _ = np.histogram(np.clip(values, edges[0], edges[-1]), bins=edges)
    return counts / max(len(values), 1), edges
