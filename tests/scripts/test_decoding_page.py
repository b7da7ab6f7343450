"""The page about decoding says what was reached of what was asked for, by how much it was missed, and what was not measured."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from decoding_results import Row

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "experiments"


@pytest.fixture(autouse=True)
def scripts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))


def rows() -> list[Row]:
    from decoding_results import read_rows

    return read_rows(FOLDER)


def said(found: list[Row], start: str) -> str:
    from decoding_prose import findings

    return next(line for line in findings(found).splitlines() if line.startswith(f"- {start}"))


@pytest.mark.parametrize(("decoded", "met"), [(83.0, "reached"), (82.9, "missed by 0.1"), (80.0, "missed by 3")])
def test_a_target_is_reached_or_missed_by_so_much(decoded: float, met: str) -> None:
    found = [
        replace(row, accuracy={**row.accuracy, "released words": 80.0, "decoded words": decoded}, frequencies=(0.4, 0.3))
        for row in rows()
        if row.data == "agnews"
    ]
    line = said(found, "AG News (topic), the attacker names 33 %")
    assert f"{decoded - 80.0:+.1f} points above words as released (3 asked: {met})" in line
    assert f"they reach {decoded:.1f} % (83 asked: {met})" in line
    assert "25 % nearer to the true ones (35 asked: missed by 10)" in line
    assert ("What stands in the way" in str(_all(found))) == (met != "reached")


def _all(found: list[Row]) -> str:
    from decoding_prose import findings

    return findings(found)


def test_what_has_no_row_is_listed(tmp_path: Path) -> None:
    from decoding_prose import not_measured
    from decoding_results import read_rows

    assert not_measured(rows()) == "All that was planned is measured."
    results = json.loads((FOLDER / "purpose.json").read_text(encoding="utf-8"))
    kept = [each for each in results if (each["name"], each["mechanism"]) != ("mr", "santext") or each["level"] != 0.17]
    (tmp_path / "purpose.json").write_text(json.dumps(kept), encoding="utf-8")
    assert "- MR (sentiment), SanText, 50d, at 17 %." in not_measured(read_rows(tmp_path)).splitlines()


def test_alone_and_in_context_are_of_the_same_runs() -> None:
    from make_decoding_page import in_context

    result: dict[str, Any] = next(
        each
        for each in json.loads((FOLDER / "purpose.json").read_text(encoding="utf-8"))
        if (each["name"], each["embedding"]["name"], each["mechanism"], each["level"]) == ("agnews", "default", "multivariate", 0.08)
    )
    (read,) = [each for each in result["releases"] if "context words" in each["accuracy"]]
    assert len(result["releases"]) > 1
    (row,) = [row for row in rows() if row.context and (row.data, row.measured, row.level) == ("agnews", "GPU", 0.08)]
    alone, context = (100 * read["accuracy"][f"{version} words"]["both"] for version in ("decoded", "context"))
    assert (row.context["words alone"], row.context["words in context"]) == pytest.approx((alone, context))
    assert row.context["attacker"] == pytest.approx(100 * read["named"])
    assert f"| {alone:.1f} | {context:.1f} |" in in_context([row])
    change = f"{context - alone:+.1f}".replace("-", "−")
    assert f"models of words change by {change} to {change} points (1 settings)" in _all([row])


def test_every_row_counts_for_what_decoding_changes() -> None:
    ours = next(row for row in rows() if row.mechanism == "multivariate")
    first = replace(ours, accuracy={"released words": 60.0, "decoded words": 70.0, "released vectors": 80.0, "decoded vectors": 65.0})
    second = replace(first, accuracy={**first.accuracy, "decoded words": 61.0, "decoded vectors": 81.0})
    line = said([first, second], "With the paper's mechanism")
    assert "by +1.0 to +10.0 points (+5.5 on average over 2 rows)" in line
    assert "it adds −7.0 points on average (−15.0 to +1.0)" in line
    assert "as released they are the best of the four readings in 1 of 2 rows" in line


def test_targets_are_said_to_be_set_before_once_and_only_where_there_are_some() -> None:
    assert _all(rows()).count("were set before anything was measured") == 1
    assert "asked" not in _all([row for row in rows() if row.data == "mr"])


def test_who_is_ahead_is_counted_on_the_same_texts() -> None:
    from decoding_prose import ahead_of_randomised_response

    ours = next(row for row in rows() if row.mechanism == "multivariate")
    theirs = replace(ours, mechanism="randomized-response", accuracy={**ours.accuracy, "decoded words": 10.0})
    by = ours.accuracy["decoded words"] - 10.0
    assert f"at 1 of 1 attackers, by {by:+.1f} to {by:+.1f} points" in ahead_of_randomised_response([ours, theirs])
    assert ahead_of_randomised_response([ours, replace(theirs, texts=1)]) == ""


def test_no_row_is_compared_twice_and_the_one_measured_in_the_same_way_comes_first() -> None:
    from decoding_prose import ahead_of_randomised_response

    ours = next(row for row in rows() if row.mechanism == "multivariate" and row.measured == "GPU")
    same, nearer = (
        replace(ours, mechanism="randomized-response", measured=measured, named=ours.named + more, accuracy={"decoded words": reached})
        for measured, more, reached in (("GPU", 1.5, 10.0), ("CPU", 0.5, 20.0))
    )
    by = ours.accuracy["decoded words"] - 10.0
    once = f"at 1 of 1 attackers, by {by:+.1f} to {by:+.1f} points, the two attackers at most 1.5 points apart"
    assert ahead_of_randomised_response([nearer, ours, same]).endswith(once)
    assert "at 1 of 1" in ahead_of_randomised_response([ours, replace(ours, measured="CPU"), same]), "nor is one of randomised response"
    assert "in 1 of 1 one on CPU and one on GPU" in said([ours, nearer], "**Decoded")
    assert "one on CPU" not in said([ours, same], "**Decoded")


def test_attackers_too_far_apart_are_not_compared() -> None:
    from decoding_prose import ahead_of_randomised_response

    ours = next(row for row in rows() if row.mechanism == "multivariate")
    assert ahead_of_randomised_response([ours, replace(ours, mechanism="randomized-response", named=ours.named + 1.9)])
    assert ahead_of_randomised_response([ours, replace(ours, mechanism="randomized-response", named=ours.named + 2.1)]) == ""
