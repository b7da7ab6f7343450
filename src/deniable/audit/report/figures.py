"""Figures of audits: what an adversary reaches against ε."""

from __future__ import annotations

from typing import Any

from matplotlib.figure import Figure

from deniable.report.figure import apply_style, new_figure
from deniable.report.palette import MUTED

Answer = dict[str, Any]


@apply_style
def inversion_figure(answer: Answer) -> Figure:
    """Return the success of the adversaries against ε, with the success of guessing blindly."""
    figure, axes = new_figure()
    rows = answer["results"]
    epsilons = [row["epsilon"] for row in rows]
    for name, label in (("bayes", "Bayes adversary"), ("nearest_word", "nearest word")):
        values = [row[name]["value"] for row in rows]
        errors = [2 * row[name]["standard_error"] for row in rows]
        axes.errorbar(epsilons, values, yerr=errors, marker="o", markersize=4, label=label)
    axes.axhline(rows[0]["prior_guess"], color=MUTED, linestyle=":", label="guessing blindly")
    _finish(axes, "share of words named")
    return figure


@apply_style
def repeats_figure(answer: Answer) -> Figure:
    """Return what majority votes over repeated releases of one word reach, a line per ε."""
    figure, axes = new_figure()
    for row in answer["results"][:5]:
        counts = [found["releases"] for found in row["repeats"]]
        axes.plot(
            counts, [found["majority"]["value"] for found in row["repeats"]], marker="o", markersize=4, label=f"ε = {row['epsilon']:g}"
        )
    axes.set_xscale("log")
    axes.set_xticks(counts, [str(count) for count in counts])
    axes.minorticks_off()
    axes.set_xlabel("releases of the same word")
    axes.set_ylabel("share of words named")
    axes.set_ylim(-0.03, 1.03)
    axes.legend()
    return figure


@apply_style
def membership_figure(answer: Answer) -> Figure:
    """Return the auditor's AUC against ε for every question and adversary."""
    figure, axes = new_figure()
    by_epsilon = sorted((facts["epsilon"], name) for name, facts in answer["facts"].items())
    for question, adversary in (
        ("original text", "plain"),
        ("original text", "adaptive"),
        ("released text", "plain"),
        ("released text", "adaptive"),
    ):
        values = [answer["protocol"][name][question][adversary]["mean"]["auc"] for _, name in by_epsilon]
        axes.plot([e for e, _ in by_epsilon], values, marker="o", markersize=4, label=f"{question}, {adversary}")
    axes.axhline(0.5, color=MUTED, linestyle=":")
    _finish(axes, "AUC of the auditor")
    return figure


@apply_style
def authorship_figure(answer: Answer) -> Figure:
    """Return how often the author is named against ε."""
    figure, axes = new_figure()
    rows = answer["released"]
    for name, label in (("learnt_from_original", "learnt from original text"), ("learnt_from_released", "learnt from released text")):
        axes.plot([row["epsilon"] for row in rows], [row[name]["value"] for row in rows], marker="o", markersize=4, label=label)
    axes.axhline(answer["original"]["value"], color=MUTED, linestyle="--", label="original text")
    axes.axhline(answer["guess"], color=MUTED, linestyle=":", label="guessing blindly")
    _finish(axes, "share of authors named")
    return figure


def _finish(axes: Any, label: str) -> None:
    axes.set_xlabel("ε")
    axes.set_ylabel(label)
    axes.set_ylim(-0.03, 1.03)
    axes.legend()
