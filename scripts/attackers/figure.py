"""The figure of docs/experiments/attackers.md: what each attacker names behind every mechanism."""

from __future__ import annotations

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from deniable.audit.inversion.results import ALONE, BLIND, IN_CONTEXT, LANGUAGE_MODEL, LEARNT, NEAREST_WORD
from deniable.report.figure import apply_style, new_figure
from deniable.report.palette import MUTED, SERIES
from scripts.attackers.results import DATA, Result, channel_of, findings, setting_of

LOOKS = {
    BLIND: ("|", MUTED),
    NEAREST_WORD: ("x", SERIES[4]),
    ALONE: ("o", SERIES[0]),
    IN_CONTEXT: ("s", SERIES[1]),
    LEARNT: ("^", SERIES[2]),
    LANGUAGE_MODEL: ("D", SERIES[3]),
}
PLACES = {BLIND: 0.0, NEAREST_WORD: 0.0, ALONE: -0.3, IN_CONTEXT: -0.1, LEARNT: 0.1, LANGUAGE_MODEL: 0.3}
"""How far below the middle of its row each attacker is drawn."""


@apply_style
def attackers_figure(results: list[Result]) -> Figure:
    """Return what each attacker names: a row for each release, under the name of its setting."""
    figure, axes = new_figure(width=7.2, height=1.2 + 0.3 * (len(results) + len(findings(results))))
    labels: list[str] = []
    for result in results:
        axes.text(
            0.008,
            len(labels),
            f"{setting_of(result)} (channel: {channel_of(result)})",
            va="center",
            fontsize=8,
        )
        labels.append("")
        for found in result["result"]["results"]:
            for attacker in found["attackers"]:
                (mark, colour), share = LOOKS[attacker["name"]], attacker["word"]["first"]
                spread = [[share["value"] - share["low"]], [share["high"] - share["value"]]]
                row = len(labels) + PLACES[attacker["name"]]
                axes.errorbar(
                    [share["value"]],
                    [row],
                    xerr=spread,
                    marker=mark,
                    color=colour,
                    markersize=4,
                    linestyle="none",
                    elinewidth=0.8,
                )
            labels.append(f"ε = {found['epsilon']:g}")
    axes.set_yticks(
        [row for row, label in enumerate(labels) if label], [label for label in labels if label], fontsize=7
    )
    axes.set_ylim(len(labels) - 0.4, -0.6)
    axes.set_xlim(0.0, 1.0)
    axes.set_xlabel("share of the words named at the first guess, with 95 % intervals")
    present = {attacker["name"] for _, found in findings(results) for attacker in found["attackers"]}
    handles = [
        Line2D([], [], marker=mark, color=colour, linestyle="none", markersize=4, label=name)
        for name, (mark, colour) in LOOKS.items()
        if name in present
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=min(3, len(handles)))
    names = [str(DATA.get(result["name"], result["name"])) for result in results]
    axes.set_title(", ".join(dict.fromkeys(names)))
    return figure
