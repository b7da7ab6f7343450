"""The figure of the paper: score against ε, perturbed at training time and at test time, beside the
unperturbed score."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from deniable.learning.summary import PLACES, Point
from deniable.report import palette
from deniable.report.figure import apply_style, new_figure

_DECODED = (0.0, (4.0, 2.0))


@apply_style
def curve(
    points: Sequence[Point],
    score: str,
    *,
    title: str,
    label: str,
    baselines: dict[str, float],
    unchanged: dict[float, float],
    decoded: Sequence[Point] = (),
) -> Figure:
    """Return the curve; bands reach from the lowest to the highest run, and the upper axis says how often an
    average word stays.

    ``decoded`` are the same points where released text was decoded first: dashed lines in the colours of the
    others.
    """
    figure, axes = new_figure(height=4.2 if decoded else 3.6)
    clean = next((point for point in points if point.epsilon is None), None)
    if clean is not None:
        style = "-." if decoded else "--"
        axes.axhline(
            clean.mean(score), color=palette.INK, linestyle=style, linewidth=1.2, label="unperturbed"
        )
        axes.axhspan(*clean.spread(score), color=palette.INK, alpha=0.1, linewidth=0)
    for place in dict.fromkeys(point.at for point in points if point.epsilon is not None):
        line = _draw(
            axes,
            [point for point in points if point.at == place],
            score,
            label=f"perturbed {PLACES[place]}",
            marker="o",
        )
        also = [point for point in decoded if point.at == place]
        if also:
            _draw(
                axes,
                also,
                score,
                color=line.get_color(),
                linestyle=_DECODED,
                marker="o",
                markerfacecolor=palette.PAPER,
            )
    for name, value in baselines.items():
        axes.axhline(value, color=palette.MUTED, linestyle=":", linewidth=1.2)
        axes.annotate(
            name,
            (1.0, value),
            xycoords=("axes fraction", "data"),
            ha="right",
            va="bottom",
            fontsize=8,
            color=palette.MUTED,
        )
    axes.set_xlabel("ε per word (bands: lowest to highest run)")
    axes.set_ylabel(label)
    axes.set_title(title)
    if decoded:
        # Below the plot: six lines leave no room among them.
        styles = [
            Line2D([], [], color=palette.MUTED, linestyle="-", label="words as released"),
            Line2D([], [], color=palette.MUTED, linestyle=_DECODED, label="decoded"),
        ]
        axes.legend(
            handles=[*axes.get_legend_handles_labels()[0], *styles],
            loc="upper center",
            bbox_to_anchor=(0.5, -0.17),
            ncols=2,
        )
    else:
        axes.legend(loc="lower right" if not baselines else "best")
    _say_how_often_words_stay(axes, sorted({p.epsilon for p in points if p.epsilon in unchanged}), unchanged)
    return figure


def _draw(axes: Axes, points: Sequence[Point], score: str, **style: Any) -> Line2D:
    values = [point.epsilon for point in points if point.epsilon is not None]
    (line,) = axes.plot(values, [point.mean(score) for point in points], markersize=4, **style)
    low, high = zip(*(point.spread(score) for point in points), strict=True)
    axes.fill_between(values, low, high, color=line.get_color(), alpha=0.15, linewidth=0)
    return line


def _say_how_often_words_stay(axes: object, epsilons: list[float], unchanged: dict[float, float]) -> None:
    upper = axes.secondary_xaxis("top")  # type: ignore[attr-defined]
    shown: list[float] = []
    for epsilon in epsilons:  # labels need room
        if not shown or epsilon - shown[-1] >= 0.09 * (epsilons[-1] - epsilons[0]):
            shown.append(epsilon)
    upper.set_xticks(shown, [f"{unchanged[e]:.{2 if unchanged[e] < 0.985 else 3}f}" for e in shown])
    upper.set_xlabel("average N_w: how often a word stays itself")
