"""The figure of docs/research/attackers.md: what each attacker names behind every mechanism."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from deniable.audit.inversion.results import ALONE, BLIND, IN_CONTEXT, LANGUAGE_MODEL, LEARNT, NEAREST_WORD
from deniable.report.figure import apply_style, new_figure
from deniable.report.palette import MUTED, SERIES

LOOKS = {
    BLIND: ("|", MUTED, 0.0),
    NEAREST_WORD: ("x", SERIES[4], 0.0),
    ALONE: ("o", SERIES[0], -0.3),
    IN_CONTEXT: ("s", SERIES[1], -0.1),
    LEARNT: ("^", SERIES[2], 0.1),
    LANGUAGE_MODEL: ("D", SERIES[3], 0.3),
}
"""The mark and the colour of each attacker, and how far below the middle of its row it is drawn."""


@apply_style
def attackers_figure(settings: Sequence[tuple[str, list[dict[str, Any]]]], title: str) -> Figure:
    """Return what each attacker names: a row for each release, under the name of its setting."""
    releases = [release for _, some in settings for release in some]
    figure, axes = new_figure(width=7.2, height=1.2 + 0.3 * (len(settings) + len(releases)))
    row, ticks, present = 0, {}, set()
    for name, some in settings:
        axes.text(0.008, row, name, va="center", fontsize=8)
        for release in some:
            row += 1
            ticks[row] = f"ε = {release['epsilon']:g}"
            for attacker in release["attackers"]:
                (mark, colour, below), share = LOOKS[attacker["name"]], attacker["word"]["first"]
                present.add(attacker["name"])
                spread = [[share["value"] - share["low"]], [share["high"] - share["value"]]]
                look = {"marker": mark, "color": colour, "markersize": 4, "linestyle": "none"}
                axes.errorbar([share["value"]], [row + below], xerr=spread, elinewidth=0.8, **look)
        row += 1
    axes.set_yticks(list(ticks), list(ticks.values()), fontsize=7)
    axes.set_ylim(row - 0.4, -0.6)
    axes.set_xlim(0.0, 1.0)
    axes.set_xlabel("share of the words named at the first guess, with 95 % intervals")
    handles = [
        Line2D([], [], marker=mark, color=colour, linestyle="none", markersize=4, label=name)
        for name, (mark, colour, _) in LOOKS.items()
        if name in present
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=min(3, len(handles)))
    axes.set_title(title)
    return figure
