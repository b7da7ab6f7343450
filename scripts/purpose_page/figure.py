"""The figure of accuracy against the share of words that the attacker names."""

from __future__ import annotations

from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from deniable.report.figure import apply_style, new_figure
from purpose_page.names import DATA
from purpose_page.older import Cell
from purpose_page.refined import Row
from purpose_settings import AUTHORS, NOT_LINEAR, PURPOSES

_SHAPED, _STRONGER = "shaped", "shaped 4"
_SERIES = {
    ("default", "multivariate"): ("built-in, 50d", "o"),
    ("glove-840b", "multivariate"): ("GloVe, 300d", "s"),
    ("reduced-16", "multivariate"): ("reduced to 16", "^"),
    (_SHAPED, "multivariate"): ("shaped 16 × 2", "D"),
    (_STRONGER, "multivariate"): ("shaped 16 × 4", "d"),
    ("default", "santext"): ("built-in, SanText", "v"),
    ("default", "randomized-response"): ("built-in, randomised response", "P"),
}
_DRAWN = [data for data in DATA if data not in (*AUTHORS, *NOT_LINEAR)]
_FURTHEST = 40


class Point(NamedTuple):
    """What an attacker names in a space by a mechanism, and what a receiver reaches there, in %."""

    space: str
    mechanism: str
    named: float
    reached: float


def drawn_refined(rows: list[Row]) -> list[str]:
    """Return the data sets that are drawn from refined rows: without one of a shaped space they would say nothing of shaping."""
    return [data for data in _DRAWN if any(row.data == data and row.space.startswith(PURPOSES[data]) for row in rows)]


@apply_style
def frontier(cells: list[Cell], rows: list[Row]) -> Figure:
    """Return the figure: of refined rows where a data set has one of a shaped space, or else of older results."""
    figure, axes = new_figure(2, 4, width=10.4, height=5.4)
    panels, by_refined = axes.flatten(), drawn_refined(rows)
    for panel, data in zip(panels, _DRAWN, strict=False):
        refined = [row for row in rows if row.data == data and data in by_refined]
        older = [cell for cell in cells if cell.data == data]
        _draw(panel, _points(data, older, refined))
        clean = [value for row in refined for value in row.original.values()] or [cell.original for cell in older]
        panel.axhline(max(clean), linestyle=":", color="C7", label="unperturbed")
        panel.set_title(DATA[data] + ("" if refined else " (older)"))
        panel.set_xlim(0, _FURTHEST)
    for panel in panels[4:]:
        panel.set_xlabel("words the attacker names, %")
    for panel in (panels[0], panels[4]):
        panel.set_ylabel("accuracy, %")
    panels[-1].axis("off")
    panels[-1].legend(*panels[0].get_legend_handles_labels(), loc="center")
    return figure


def _draw(panel: Axes, points: list[Point]) -> None:
    for number, (series, (label, marker)) in enumerate(_SERIES.items()):
        own = sorted((each.named, each.reached) for each in points if (each.space, each.mechanism) == series)
        if own:
            panel.plot(*zip(*own, strict=True), marker=marker, markersize=4, label=label, color=f"C{number}")


def _points(data: str, cells: list[Cell], rows: list[Row]) -> list[Point]:
    """Return the points of one data set."""
    found = [Point(row.space, row.mechanism, row.named, row.best()) for row in rows]
    found = found or [Point(cell.space, cell.mechanism, 100.0 * cell.named, max(cell.values)) for cell in cells]
    series = {f"{PURPOSES[data]}-16-2": _SHAPED, f"{PURPOSES[data]}-16-4": _STRONGER}
    return [each._replace(space=series.get(each.space, each.space)) for each in found]
