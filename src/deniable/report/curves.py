"""The one figure of measurements: each a line against ε or another setting, with its interval, beside levels
such as blind guessing.

>>> from deniable.report.wording import Point
>>> lines = {"in context": [Point(3.0, 0.10, 0.08, 0.12), Point(6.0, 0.31, 0.28, 0.34)]}
>>> figure = curves(lines, x="ε", y="words named", levels={"guessing blindly": 0.05})
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter, PercentFormatter

from deniable.report.figure import MUTED, SERIES, apply_style, drawable, new_figure
from deniable.report.wording import Lines

_BY_POWERS = 6.0
"""An axis goes by powers where its largest value is this many times the smallest."""

_LABEL_OF_AXIS = 0.057
"""How much of the horizontal axis a label takes, with the space that it needs."""

_LONG_NAME = 26
"""A longer name takes a line of the legend."""

_MARKERS, _DASHES = "os^DvP", ("-", (0, (4, 1.5)), (0, (1, 1.5)))


@apply_style
def curves(
    lines: Lines,
    *,
    x: str,
    y: str,
    levels: Mapping[str, float] | None = None,
    marks: Sequence[float] = (),
    shares: bool = True,
    title: str = "",
) -> Figure:
    """Return the figure. ``levels`` are values that do not depend on the setting, and ``marks`` settings to
    point out; ``shares`` shows values in per cent."""
    names = [*lines, *(levels or {})]
    columns = 1 if max(map(len, names)) > _LONG_NAME else 2
    figure, axes = new_figure(height=2.8 + 0.22 * -(-len(names) // columns))
    for place, (name, points) in enumerate(lines.items()):
        colour, settings = SERIES[place % len(SERIES)], [point.x for point in points]
        axes.plot(
            settings,
            [point.value for point in points],
            color=colour,
            marker=_MARKERS[place % len(_MARKERS)],
            linestyle=_DASHES[place // len(SERIES) % len(_DASHES)],
            markersize=3.5,
            label=drawable(name, longest=48),
        )
        ends = [(point.x, point.low, point.high) for point in points if point.low is not None]
        if ends:
            axes.fill_between(*zip(*ends, strict=True), color=colour, alpha=0.15, linewidth=0)
    for place, (name, value) in enumerate((levels or {}).items()):
        dashes = (0, (1 + 3 * place, 1.5))
        axes.axhline(value, color=MUTED, linewidth=1.2, linestyle=dashes, label=drawable(name, longest=48))
    for mark in marks:
        axes.axvline(mark, color=MUTED, linewidth=0.8, linestyle=(0, (1, 2)), zorder=0)
    show_axis(axes, [point.x for points in lines.values() for point in points])
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.set_title(title)
    if shares:
        axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=None))
    figure.legend(loc="outside lower center", ncols=columns)
    return figure


def show_axis(axes: Any, settings: Sequence[float]) -> None:
    """Let the horizontal axis show these settings, by powers where they are far apart, with plain numbers."""
    low, high = min(settings), max(settings)
    if low <= 0.0 or high < _BY_POWERS * low:
        return
    axes.set_xscale("log")
    axes.set_xlim(low, high)
    axes.set_xticks(_ticks(low, high))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.4g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.tick_params(axis="x", which="minor", length=0)


def _ticks(low: float, high: float) -> list[float]:
    """Return round numbers from low to high, as many as have room for their labels on an axis by powers."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    gap = _LABEL_OF_AXIS * math.log(high / low)
    for steps in ((1, 1.5, 2, 3, 4, 5, 7), (1, 2, 3, 5), (1, 2, 5), (1,)):
        if min(math.log(after / before) for before, after in pairwise((*steps, 10))) >= gap:
            break
    ticks = [step * 10.0**power for power in powers for step in steps]
    return [tick for tick in ticks if low * 0.999 <= tick <= high * 1.001] or [low, high]
