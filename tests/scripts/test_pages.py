"""The tables of the pages are those of the committed results, and stand between their marks."""

from __future__ import annotations

import pytest
from scripts.pages import PAGES, data_files, fill, page_of, points, table


@pytest.mark.parametrize("name", PAGES)
def test_the_tables_of_a_page_are_those_of_the_committed_results(name: str) -> None:
    page = page_of(name)
    written = page.PAGE.read_text(encoding="utf-8")
    assert fill(written, page.tables()) == written, f"run python -m scripts.pages {name}"
    for file, content in data_files(page).items():
        assert file.read_text(encoding="utf-8") == content, f"run python -m scripts.pages {name}"


def test_a_table_takes_the_place_of_the_one_between_its_marks_and_nothing_else_changes() -> None:
    page = (
        "# A\n\n<!-- table: a -->\n\nold\n\n<!-- /table -->\n\nWords.\n\n<!-- table: b -->\n<!-- /table -->\n"
    )
    filled = fill(page, {"a": "new", "b": "| b |\n"})
    assert filled == (
        "# A\n\n<!-- table: a -->\n\nnew\n\n<!-- /table -->\n\nWords.\n\n<!-- table: b -->\n\n| b |\n\n<!-- "
        "/table -->\n"
    )
    assert fill(filled, {"a": "new", "b": "| b |"}) == filled


@pytest.mark.parametrize("tables", [{}, {"b": "x"}, {"a": "x", "b": "x"}])
def test_a_page_without_the_marks_of_its_tables_is_refused(tables: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="marks"):
        fill("<!-- table: a -->\n<!-- /table -->\n", tables)


def test_columns_after_names_are_aligned_to_the_right() -> None:
    assert table(["a", "b"], [["x", 1]], align="lr") == "| a | b |\n|---|--:|\n| x | 1 |"
    assert table(["a", "b"], []) == "| a | b |\n|---|---|"


@pytest.mark.parametrize(
    ("difference", "shown"), [(0.012, "+1.2"), (-0.2, "−20.0"), (0.0, "0.0"), (-0.0001, "0.0")]
)
def test_points_have_a_sign_where_they_are_not_zero(difference: float, shown: str) -> None:
    assert points(difference) == shown
