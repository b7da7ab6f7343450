"""The figure of the paper: score against ε, perturbed at training time and at test time, beside the unperturbed score."""

from __future__ import annotations

from matplotlib.figure import Figure

from deniable.learning.summary import PLACES, Point
from deniable.report import palette
from deniable.report.figure import apply_style, new_figure


@apply_style
def curve(points: list[Point], score: str, *, title: str, label: str, baselines: dict[str, float], unchanged: dict[float, float]) -> Figure:
    """Return the curve; bands reach from the lowest to the highest run, and the upper axis says how often an average word stays."""
    figure, axes = new_figure(height=3.6)
    clean = next((point for point in points if point.epsilon is None), None)
    if clean is not None:
        axes.axhline(clean.mean(score), color=palette.INK, linestyle="--", linewidth=1.2, label="unperturbed")
        axes.axhspan(*clean.spread(score), color=palette.INK, alpha=0.1, linewidth=0)
    for place, text in PLACES.items():
        chosen = [point for point in points if point.at == place and point.epsilon is not None]
        if not chosen:
            continue
        values = [point.epsilon for point in chosen]
        (line,) = axes.plot(values, [point.mean(score) for point in chosen], marker="o", markersize=4, label=f"perturbed {text}")
        low, high = zip(*(point.spread(score) for point in chosen), strict=True)
        axes.fill_between(values, low, high, color=line.get_color(), alpha=0.2, linewidth=0)
    for name, value in baselines.items():
        axes.axhline(value, color=palette.MUTED, linestyle=":", linewidth=1.2)
        axes.annotate(name, (1.0, value), xycoords=("axes fraction", "data"), ha="right", va="bottom", fontsize=8, color=palette.MUTED)
    axes.set_xlabel("ε per word (bands: lowest to highest run)")
    axes.set_ylabel(label)
    axes.set_title(title)
    axes.legend(loc="lower right" if not baselines else "best")
    _say_how_often_words_stay(axes, sorted({p.epsilon for p in points if p.epsilon in unchanged}), unchanged)
    return figure


def _say_how_often_words_stay(axes: object, epsilons: list[float], unchanged: dict[float, float]) -> None:
    upper = axes.secondary_xaxis("top")  # type: ignore[attr-defined]
    shown: list[float] = []
    for epsilon in epsilons:  # labels need room
        if not shown or epsilon - shown[-1] >= 0.09 * (epsilons[-1] - epsilons[0]):
            shown.append(epsilon)
    upper.set_xticks(shown, [f"{unchanged[e]:.{2 if unchanged[e] < 0.985 else 3}f}" for e in shown])
    upper.set_xlabel("average N_w: how often a word stays itself")
