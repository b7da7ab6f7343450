"""The averages of several embeddings against ε, as a figure."""

from __future__ import annotations

from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from deniable.calibration.compare import Averages
from deniable.calibration.report.figures import epsilon_axis
from deniable.report.figure import apply_style, drawable, new_figure
from deniable.report.palette import SERIES

_MARKERS = "os^Dv"


@apply_style
def averages_figure(compared: list[list[Averages]]) -> Figure:
    """Average N_w, and below it average S_w, against ε: one line per embedding."""
    figure, (above, below) = new_figure(2, 1, height=5.0, sharex=True)
    for place, rows in enumerate(compared):
        style = {"color": SERIES[place % len(SERIES)], "marker": _MARKERS[place % len(_MARKERS)], "markersize": 4}
        epsilons = [row.epsilon for row in rows]
        label = f"{drawable(rows[0].embedding, longest=28)} ({rows[0].dimension} dimensions)"
        above.errorbar(epsilons, [row.unchanged for row in rows], yerr=[row.error for row in rows], label=label, **style)
        below.plot(epsilons, [row.support for row in rows], **style)
    above.set_ylabel("average N_w")
    above.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    above.set_ylim(0, 1)
    below.set_ylabel("average S_w (words)")
    below.set_ylim(bottom=0)
    epsilon_axis(below, [row.epsilon for rows in compared for row in rows])
    figure.legend(loc="outside lower center", ncols=1)
    return figure
