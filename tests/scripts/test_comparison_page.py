"""Tables about mechanisms mark the rows that no other row beats."""

from __future__ import annotations

from scripts.comparison.page import AT_EQUAL_ATTACKERS, read_comparisons

from deniable.lab.comparison.words import met_and_missed


def test_a_marked_row_is_beaten_by_no_row_of_its_table_as_shown() -> None:
    result = read_comparisons()[AT_EQUAL_ATTACKERS]
    for target in result.targets:
        met, _ = met_and_missed(result, target)
        points = [(float(cells[3]), -float(cells[5].split(" %")[0]), cells[-1]) for cells in met]
        for reached, loss, mark in points:
            beaten = any(
                more <= reached and worse <= loss and (more, worse) != (reached, loss)
                for more, worse, _ in points
            )
            assert (mark == "◆") == (not beaten), (target, reached, loss)
