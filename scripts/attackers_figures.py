"""The figures of docs/experiments/attackers.md."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from attackers_channels import channel_of
from attackers_prose import DATA, findings, release_of, setting_of
from deniable.audit.inversion.results import ALONE, BLIND, IN_CONTEXT, LANGUAGE_MODEL, LEARNT, NEAREST_WORD
from deniable.report.figure import apply_style, new_figure
from deniable.report.palette import MUTED, SERIES
from earlier_attackers import Compared

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
def attackers_figure(results: list[dict[str, Any]]) -> Figure:
    """Return what each attacker names: a row for each release, under the name of its setting."""
    figure, axes = new_figure(width=7.2, height=1.2 + 0.3 * (len(results) + len(findings(results))))
    labels: list[str] = []
    for result in results:
        axes.text(0.008, len(labels), f"{setting_of(result)} (channel: {channel_of(result).way})", va="center", fontsize=8)
        labels.append("")
        for found in result["result"]["results"]:
            for attacker in found["attackers"]:
                mark, colour = LOOKS[attacker["name"]]
                _draw(axes, attacker["word"]["first"], len(labels) + PLACES[attacker["name"]], mark, colour)
            labels.append(f"ε = {found['epsilon']:g}")
    _name_rows(axes, labels)
    axes.set_xlim(0.0, 1.0)
    axes.set_xlabel("share of the words named at the first guess, with 95 % intervals")
    present = {attacker["name"] for _, found in findings(results) for attacker in found["attackers"]}
    handles = [
        Line2D([], [], marker=mark, color=colour, linestyle="none", markersize=4, label=name)
        for name, (mark, colour) in LOOKS.items()
        if name in present
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=min(3, len(handles)))
    names = dict.fromkeys(DATA.get(result["name"], result["name"]) for result in results)
    axes.set_title(", ".join(names))
    return figure


@apply_style
def stronger_figure(compared: list[Compared]) -> Figure:
    """Return what the best attacker named before and names now: a row for each release, under the name of its setting."""
    settings = list(dict.fromkeys(release_of(each.now) for each in compared))
    figure, axes = new_figure(width=7.2, height=1.2 + 0.24 * (len(settings) + len(compared)))
    looks = {"by draws or rays, before": ("o", MUTED, 0), f"by {channel_of(compared[0].now).way}": ("s", SERIES[1], 1)}
    labels: list[str] = []
    for setting in settings:
        axes.text(0.004, len(labels), setting, va="center", fontsize=8)
        labels.append("")
        for each in (each for each in compared if release_of(each.now) == setting):
            for mark, colour, when in looks.values():
                first = each.best()[when]
                _draw(axes, first, len(labels) + 0.24 * when - 0.12, mark, colour)
            labels.append(f"ε = {each.epsilon:g}")
    _name_rows(axes, labels)
    axes.set_xlim(left=0.0)
    axes.set_xlabel("share of the words that the best attacker names at the first guess, with 95 % intervals")
    handles = [
        Line2D([], [], marker=mark, color=colour, linestyle="none", markersize=4, label=name) for name, (mark, colour, _) in looks.items()
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=len(handles))
    return figure


def _draw(axes: Axes, share: dict[str, Any], row: float, mark: str, colour: str) -> None:
    """Draw a share with its interval."""
    spread = [[share["value"] - share["low"]], [share["high"] - share["value"]]]
    axes.errorbar([share["value"]], [row], xerr=spread, marker=mark, color=colour, markersize=4, linestyle="none", elinewidth=0.8)


def _name_rows(axes: Axes, labels: list[str]) -> None:
    """Write what stands in each row beside it, the first row on top."""
    axes.set_yticks([row for row, label in enumerate(labels) if label], [label for label in labels if label], fontsize=7)
    axes.set_ylim(len(labels) - 0.4, -0.6)
