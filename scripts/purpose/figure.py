"""The figure of accuracy against the share of words that the attacker names."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from deniable.report.figure import apply_style, new_figure
from scripts.purpose.names import DATA
from scripts.purpose.rows import Found, Row
from scripts.purpose.settings import AUTHORS, NOT_LINEAR, PURPOSES

_SERIES = {
    ("default", "multivariate"): ("built-in, 50d", "o"),
    ("glove-840b", "multivariate"): ("GloVe, 300d", "s"),
    ("reduced-16", "multivariate"): ("reduced to 16", "^"),
    ("{}-16-2", "multivariate"): ("shaped 16 × 2", "D"),
    ("{}-16-4", "multivariate"): ("shaped 16 × 4", "d"),
    ("default", "santext"): ("built-in, SanText", "v"),
    ("default", "randomized-response"): ("built-in, randomised response", "P"),
}
_DRAWN = [data for data in DATA if data not in (*AUTHORS, *NOT_LINEAR)]
_FURTHEST = 40


@apply_style
def frontier(rows: list[Row]) -> Figure:
    """Return the figure: what is reached by the reading that does best on validation texts, a panel for each
    purpose."""
    figure, axes = new_figure(2, 4, width=10.4, height=5.4)
    panels, found = axes.flatten(), Found(rows)
    for panel, data in zip(panels, _DRAWN, strict=False):
        _draw(panel, [row for row in rows if row.data == data])
        panel.axhline(found.unperturbed(data), linestyle=":", color="C7", label="unperturbed")
        panel.set_title(DATA[data])
        panel.set_xlim(0, _FURTHEST)
        panel.yaxis.set_major_locator(MaxNLocator(6, integer=True, steps=[1, 2, 5, 10]))
    for panel in panels[4:]:
        panel.set_xlabel("words the attacker names, %")
    for panel in (panels[0], panels[4]):
        panel.set_ylabel("accuracy, %")
    panels[-1].axis("off")
    panels[-1].legend(*panels[0].get_legend_handles_labels(), loc="center")
    return figure


def _draw(panel: Axes, rows: list[Row]) -> None:
    for number, ((space, mechanism), (label, marker)) in enumerate(_SERIES.items()):
        own = [
            row for row in rows if (row.space, row.mechanism) == (space.format(PURPOSES[row.data]), mechanism)
        ]
        if own:
            named, reached = zip(*sorted((row.named, row.best()) for row in own), strict=True)
            panel.plot(named, reached, marker=marker, markersize=4, label=label, color=f"C{number}")
