from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from deniable.report.curves import curves
from deniable.report.page import Page
from deniable.report.wording import Point
from tests.report.html_check import outline

LINES = {
    "alone": [Point(1.0, 0.1), Point(3.0, 0.4)],
    "日本": [Point(1.0, 0.2, 0.1, 0.3), Point(3.0, 0.5, 0.4, 0.6)],
}


def test_lines_intervals_levels_and_marks_are_drawn() -> None:
    figure = curves(LINES, x="ε", y="named", levels={"guessing": 0.05, "original": 0.9}, marks=[2.0])
    (axes,) = figure.axes
    assert [np.asarray(line.get_ydata()).tolist() for line in axes.lines[:4]] == [
        [0.1, 0.4],
        [0.2, 0.5],
        [0.05] * 2,
        [0.9] * 2,
    ]
    assert len(axes.collections) == 1  # one line has an interval
    assert np.asarray(axes.lines[4].get_xdata()).tolist() == [2.0, 2.0]
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels == ["alone", "\\u{65e5}\\u{672c}", "guessing", "original"]


@pytest.mark.parametrize(("low", "high"), [(2.2, 2.9), (3.0, 12.0), (0.1, 40.0), (0.01, 100.0), (1e-3, 1e4)])
def test_labels_of_settings_do_not_overlap(low: float, high: float) -> None:
    figure = curves({"line": [Point(low, 0.5), Point(high, 0.6)]}, x="ε", y="y")
    figure.draw_without_rendering()
    boxes = [label.get_window_extent() for label in figure.axes[0].get_xticklabels() if label.get_text()]
    assert len(boxes) > 1
    assert all(before.x1 < after.x0 for before, after in pairwise(boxes))


@pytest.mark.parametrize(
    ("settings", "figures", "said"), [((2.0,), 0, "Only ε = 2"), ((2.0, 3.0), 1, "5 %"), ((), 0, "")]
)
def test_one_setting_is_a_sentence_and_several_are_a_figure(
    settings: tuple[float, ...], figures: int, said: str
) -> None:
    page = Page("A title", lead="An answer.")
    page.add_curves({"line": [Point(x, 0.05) for x in settings]}, x="ε", y="y", caption="A caption.")
    html = page.html()
    assert outline(html).problems == []
    assert html.count("<svg") == figures
    assert said in html
