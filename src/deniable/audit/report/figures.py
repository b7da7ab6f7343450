"""Figures of audits: what an adversary reaches against ε."""

from __future__ import annotations

from typing import Any

from matplotlib.figure import Figure

from deniable.audit.inversion.results import BLIND, InversionResult
from deniable.audit.shares import Estimate
from deniable.report.figure import apply_style, new_figure
from deniable.report.palette import MUTED, SERIES


@apply_style
def inversion_figure(result: InversionResult) -> Figure:
    """Return the success of the adversaries against ε, with the success of guessing blindly."""
    figure, axes = new_figure()
    epsilons = [each.epsilon for each in result.results]
    for name, label in (("bayes", "Bayes adversary"), ("nearest_word", "nearest word")):
        found: list[Estimate] = [getattr(each, name) for each in result.results]
        values, errors = [each.value for each in found], [2 * each.standard_error for each in found]
        axes.errorbar(epsilons, values, yerr=errors, marker="o", markersize=4, label=label)
    axes.axhline(result.results[0].prior_guess, color=MUTED, linestyle=":", label="guessing blindly")
    finish_axes(axes, "share of words named")
    return figure


@apply_style
def attackers_figure(result: InversionResult) -> Figure:
    """Return what every attacker of running text reaches, on the word and on its kind: against ε, or side by
    side at a single ε."""
    figure, panels = new_figure(1, 2, width=6.4, height=3.0, sharey=True)
    found = [each for each in result.results if each.attackers]
    names = [attacker.name for attacker in found[0].attackers]
    several = len(found) > 1
    for panel, title, reading in zip(panels, ("the word", "its kind"), ("word", "kind"), strict=True):
        for place, name in enumerate(names):
            reached = [(each.epsilon, getattr(each.attacker(name), reading, None)) for each in found]
            drawn = [(epsilon, success.first) for epsilon, success in reached if success is not None]
            panel.errorbar(
                [epsilon if several else place for epsilon, _ in drawn],
                [share.value for _, share in drawn],
                yerr=[
                    [share.value - share.low for _, share in drawn],
                    [share.high - share.value for _, share in drawn],
                ],
                color=MUTED if name == BLIND else SERIES[(place - 1) % len(SERIES)],
                marker="o",
                markersize=4,
                linestyle=("" if not several else ":" if name == BLIND else "-"),
                label=name,
            )
        panel.set_title(title)
        panel.set_ylim(-0.03, 1.03)
        if several:
            panel.set_xlabel("ε")
        else:
            panel.set_xticks(range(len(names)), [name.replace(" ", "\n", 1) for name in names])
            panel.set_xlim(-0.5, len(names) - 0.5)
    panels[0].set_ylabel("share that is named")
    if several:
        panels[0].legend()
    return figure


@apply_style
def repeats_figure(result: InversionResult) -> Figure:
    """Return what the better attacker names of words that were released repeatedly, a line per ε."""
    figure, axes = new_figure()
    for each in result.results[:5]:
        counts = [found.releases for found in each.repeats]
        best = [repeat.best.value for repeat in each.repeats]
        axes.plot(counts, best, marker="o", markersize=4, label=f"ε = {each.epsilon:g}")
    axes.set_xscale("log")
    axes.set_xticks(counts, [str(count) for count in counts])
    axes.minorticks_off()
    axes.set_xlabel("releases of the same word")
    axes.set_ylabel("share of words named")
    axes.set_ylim(-0.03, 1.03)
    axes.legend()
    return figure


def finish_axes(axes: Any, label: str) -> None:
    """Label axes that show a share against ε."""
    axes.set_xlabel("ε")
    axes.set_ylabel(label)
    axes.set_ylim(-0.03, 1.03)
    axes.legend()
