"""The page about decoding says what was reached of what was asked for, by how much it was missed, and what was not measured."""

from __future__ import annotations

import copy
import json
import math
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


def test_rows_of_newer_measurements_replace_earlier_ones_and_missing_ones_are_listed(tmp_path: Path) -> None:
    from decoding_prose import not_measured
    from decoding_results import GPU, GPU_EARLIER, read_rows

    refined = json.loads((FOLDER / "purpose-refined.json").read_text(encoding="utf-8"))
    (tmp_path / "purpose.json").write_bytes((FOLDER / "purpose.json").read_bytes())
    one: dict[str, Any] = copy.deepcopy(next(each for each in refined if each["embedding"]["name"] == "default" and each["level"] == 0.08))
    one |= {"name": "mr"}
    (tmp_path / "purpose-refined.json").write_text(json.dumps([one]), encoding="utf-8")
    found = {row.level: row.measured for row in read_rows(tmp_path) if (row.data, row.dimension) == ("mr", 50)}
    assert found == {0.08: GPU, 0.17: GPU_EARLIER, 0.33: GPU_EARLIER}
    missing = not_measured(read_rows(tmp_path))
    assert "- MR (sentiment), SanText, 50d, at 8, 17, 33 %." in missing
    assert "MR (sentiment), paper's mechanism, 50d" not in missing


def test_a_model_that_learnt_nothing_has_no_number() -> None:
    earlier = next(row for row in rows() if row.data == "mr" and row.measured == "GPU, earlier")
    assert math.isnan(earlier.accuracy["released words"]), "50.0 % in every run: the fit ended before it began"
    assert not math.isnan(earlier.accuracy["decoded words"])


def test_who_is_ahead_is_counted_on_the_same_texts() -> None:
    from decoding_prose import ahead_of_randomised_response

    ours = next(row for row in rows() if row.mechanism == "multivariate")
    theirs = replace(ours, mechanism="randomized-response", accuracy={**ours.accuracy, "decoded words": 10.0})
    by = ours.accuracy["decoded words"] - 10.0
    assert f"at 1 of 1 attackers, by {by:+.1f} to {by:+.1f} points" in ahead_of_randomised_response([ours, theirs])
    assert ahead_of_randomised_response([ours, replace(theirs, texts=1)]) == ""
    assert ahead_of_randomised_response([replace(ours, measured="GPU, earlier"), theirs]) == "", "its attacker named less than it could"
