"""The privacy–utility plot."""

from __future__ import annotations

from typing import Any

from matplotlib.figure import Figure

from deniable.comparison.report.words import front, matched
from deniable.report.figure import apply_style, drawable, new_figure
from deniable.report.palette import INK, MUTED, SERIES

_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*")


@apply_style
def privacy_utility_figure(answer: dict[str, Any]) -> Figure:
    """Return accuracy against the adversary's success, a colour and shape per mechanism, the Pareto front as a line."""
    figure, axes = new_figure(width=6.4, height=4.0)
    rows = matched(answer)
    best = front(answer)
    axes.plot(
        [row["reached"]["adversary"] for row in best],
        [row["accuracy"]["mean"] for row in best],
        color=INK,
        linewidth=1.0,
        linestyle="--",
        label="Pareto front",
        zorder=1,
    )
    for place, name in enumerate(answer["mechanisms"]):
        own = sorted((row for row in rows if row["mechanism"] == name), key=lambda row: row["reached"]["adversary"])
        if own:
            axes.errorbar(
                [row["reached"]["adversary"] for row in own],
                [row["accuracy"]["mean"] for row in own],
                yerr=[row["accuracy"]["spread"] or 0.0 for row in own],
                marker=_MARKERS[place % len(_MARKERS)],
                color=SERIES[place % len(SERIES)],
                markerfacecolor=SERIES[place % len(SERIES)] if place < len(SERIES) else "none",
                markersize=5,
                linestyle="none",
                elinewidth=0.8,
                label=drawable(name),
            )
    axes.axhline(answer["original"], color=MUTED, linewidth=1.0, linestyle=":", label="original text")
    axes.axhline(answer["guess"], color=MUTED, linewidth=1.0, linestyle="-.", label="most frequent label")
    axes.set_xlabel("success of the Bayes adversary (further left: more private)")
    axes.set_ylabel("accuracy on the task")
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5))
    return figure
