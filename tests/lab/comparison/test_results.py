"""What a comparison found, in words, tables, figures and JSON."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.lab.comparison.compared import made_result, made_row, share

from deniable.errors import RecordError
from deniable.lab.comparison import ComparisonResult, Target, read_comparison
from deniable.lab.comparison.page import comparison_page
from deniable.lab.comparison.results import Row, pareto_front
from deniable.lab.comparison.words import (
    columns_of,
    decoded,
    finding,
    legend_of,
    met_and_missed,
    places_table,
    received,
)
from deniable.utility.accuracy import DecodingEffort


def table(result: ComparisonResult) -> list[list[str]]:
    return [cells for target in result.targets for cells in met_and_missed(result, target)[0]]


MISSED = Row(mechanism="<c>", reading="average", target=0.3, problem="never below 0.60")
RESULT = made_result(made_row("a", 0.4, 0.7), MISSED, made_row("b", 0.5, 0.6))


def received_result() -> ComparisonResult:
    """Mechanism a is ahead with words as released, b once both are decoded."""

    def row(mechanism: str, both: float, after: float) -> Row:
        released = {"train": share(0.75), "test": share(0.5), "both": share(both)}
        expected = {"train": share(0.76), "test": share(0.55), "both": share(after)}
        return replace(made_row(mechanism, 0.4, 0.75), as_released=released, decoded=expected)

    result = made_result(row("a", 0.7, 0.71), row("b", 0.6, 0.8))
    return replace(result, decoding=DecodingEffort(support=10_000, directions=300))


def test_the_words_say_who_is_ahead_and_whether_clearly() -> None:
    ahead = "a is the most accurate (70.0 %), clearly ahead of the others (clear: more than 3.0 points)."
    assert ahead in finding(RESULT)
    close = made_result(made_row("a", 0.4, 0.7), made_row("b", 0.5, 0.69))
    assert "not clearly ahead of b (clear: more than 3.0 points)." in finding(close)
    assert "no other mechanism" in finding(made_result(made_row("a", 0.4, 0.7)))
    assert "one run" in finding(made_result(made_row("a", 0.4, 0.7, None)))


def test_the_headline_is_judged_on_released_text_and_says_so() -> None:
    result = made_result(
        replace(made_row("a", 0.4, 0.906), on_released=share(0.545)),
        replace(made_row("b", 0.4, 0.8), on_released=share(0.7)),
    )
    assert "judged on released text, b is the most accurate (70.0 %)" in finding(result)
    place = columns_of(result).index("received")
    assert [(cells[0], *cells[place - 1 : place + 1]) for cells in table(result)] == [
        ("b", "80.0 % ± 1.0", "70.0 % ± 1.0"),
        ("a", "90.6 % ± 1.0", "54.5 % ± 1.0"),
    ]
    assert "judged on original text, a is" in finding(RESULT), "older results were judged on nothing else"


def test_the_table_has_the_front_marked_and_misses_said() -> None:
    assert [(cells[0], cells[-1]) for cells in table(RESULT)] == [("a", "◆"), ("b", "")]
    assert [row.mechanism for row in RESULT.front(received)] == ["a"]
    assert met_and_missed(RESULT, RESULT.targets[0])[1] == ["<c>: never below 0.60."]


def test_rows_are_marked_within_their_table_by_the_attacker_that_was_matched() -> None:
    def at(reading: Any, mechanism: str, reached: float, adversary: float, accuracy: float) -> Row:
        row = made_row(mechanism, adversary, accuracy)
        assert row.reached is not None
        readings: dict[str, Any] = {reading: reached}
        return replace(row, reading=reading, target=0.2, reached=replace(row.reached, **readings))

    rows = (
        at("named", "a", 0.2, 0.5, 0.7),
        at("named", "b", 0.21, 0.1, 0.6),  # beaten by what was reached, whatever the adversary names
        at("context", "a", 0.2, 0.5, 0.65),  # beaten by a row of the other table only
        at("context", "b", 0.1999, 0.1, 0.6),  # shown as 0.200, so not better
    )
    targets = (Target(reading="named", value=0.2), Target(reading="context", value=0.2))
    result = replace(made_result(*rows), targets=targets)
    assert result.attacker == "adversary"
    marks = [(cells[0], cells[-1]) for cells in table(result)]
    assert marks == [("a", "◆"), ("b", ""), ("a", "◆"), ("b", "")]
    assert "in place of the adversary" in legend_of(result)
    assert "in place of the adversary" not in legend_of(RESULT)


def test_rows_matched_by_words_unchanged_are_marked_by_the_adversary_beside_them() -> None:
    """At equal N_w what was reached differs by chance only."""
    result = made_result(made_row("a", 0.5, 0.7), made_row("b", 0.4, 0.6), made_row("c", 0.5, 0.6))
    assert [(cells[0], cells[-1]) for cells in table(result)] == [("a", "◆"), ("b", "◆"), ("c", "")]


def test_the_front_changes_once_all_are_decoded_and_both_are_marked() -> None:
    result = received_result()
    assert [[row.mechanism for row in result.front(each)] for each in (received, decoded)] == [["a"], ["b"]]
    marks = [(cells[0], cells[-1]) for cells in table(result)]
    assert marks == [("b", "◇"), ("a", "◆")], "in the order of decoded text"


def test_tables_and_page_show_both_readings_side_by_side() -> None:
    result = received_result()
    columns = columns_of(result)
    cells = dict(zip(columns, table(result)[0], strict=True))
    shown = (cells["accuracy"], cells["received"], cells["decoded"])
    assert shown == ("75.0 % ± 1.0", "60.0 % ± 1.0", "80.0 % ± 1.0")
    missed = replace(result, rows=(*result.rows, MISSED))
    assert {len(row) for row in table(missed)} == {len(columns)}
    names, rows = places_table(result, result.targets[0])
    assert names == ["mechanism", "training", "decoded", "test", "decoded", "both", "decoded"]
    shares = ("75.0", "76.0", "50.0", "55.0", "60.0", "80.0")
    assert rows[0] == ["b", *(f"{each} ± 1.0" for each in shares)]
    html = comparison_page(result).html()
    for words in ("As released and decoded", "10,000 words of the embedding", "◇", "55.0 ±"):
        assert words in html, words


def test_the_page_is_whole_and_escaped() -> None:
    html = comparison_page(RESULT).html()
    assert "&lt;tiny&gt;" in html
    assert "<tiny>" not in html
    assert "<c>" not in html
    for words in (
        "Mechanisms at equal privacy",
        "<svg",
        "never below 0.60",
        "Left out: d",
        "lower bound",
        "◆",
    ):
        assert words in html, words
    assert "<svg" not in comparison_page(replace(RESULT, rows=())).html()


@pytest.mark.parametrize("result", [RESULT, received_result()])
def test_a_result_is_read_again(result: ComparisonResult, tmp_path: Path) -> None:
    saved = tmp_path / "found.json"
    saved.write_text(json.dumps(result.to_dict()))
    assert read_comparison(saved) == result


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"rows": [3]}', '{"rows": []}'])
def test_files_that_are_no_results_are_refused(content: str, tmp_path: Path) -> None:
    saved = tmp_path / "found.json"
    saved.write_text(content)
    with pytest.raises(RecordError) as raised:
        read_comparison(saved)
    assert raised.value.source == str(saved)


@pytest.mark.parametrize("name", ["sst2-default", "imdb-glove-840b", "sst2-attackers"])
def test_a_result_of_an_earlier_version_is_read(name: str) -> None:
    saved = Path(__file__).parents[3] / "docs" / "research" / f"comparison-{name}.json"
    assert read_comparison(saved).to_dict() == json.loads(saved.read_text(encoding="utf-8"))


def test_the_front_holds_what_nothing_beats() -> None:
    # (risk, utility): b beats c (same risk, more utility) and e (less risk, more utility); a and d are
    # extremes; b and f are equal.
    points = [(0.1, 0.5), (0.3, 0.7), (0.3, 0.6), (0.9, 0.8), (0.5, 0.65), (0.3, 0.7)]
    assert pareto_front(points) == [0, 1, 5, 3]
    assert pareto_front([]) == []
