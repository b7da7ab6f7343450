"""Tables about purposes show the reading that validation texts choose, and other pages say what was
measured."""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path
from typing import Any

from deniable.purposes.directions import PENALTY

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "research"


def _results() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((FOLDER / "purpose.json").read_text(encoding="utf-8"))
    return copy.deepcopy(found)


def test_spaces_were_shaped_as_the_product_shapes_them() -> None:
    shaped = [each["embedding"] for each in _results() if each["embedding"]["name"].count("-") == 2]
    assert {each["penalty"] for each in shaped} == {PENALTY}


def _at(results: list[dict[str, Any]], data: str, space: str, level: float | str) -> dict[str, Any]:
    keys = (
        (each, (each["name"], each["embedding"]["name"], each["level"], each["mechanism"]))
        for each in results
    )
    return next(each for each, key in keys if key == (data, space, level, "multivariate"))


def test_validation_texts_choose_the_reading_and_judged_texts_do_not() -> None:
    from scripts.purpose.rows import read_rows

    results = _results()
    found = _at(results, "sst2", "sentiment-16-2", 0.08)
    for release in found["releases"]:
        release["accuracy"]["released words"]["chosen"] = 1.0
        release["accuracy"]["decoded source vectors"]["validation"] = 0.99
    assert read_rows([found])[0].chosen() == "decoded source vectors"
    for release in found["releases"]:
        release["accuracy"]["released words"]["validation"] = 1.0
    assert read_rows([found])[0].chosen() == "released words"
    assert read_rows([found])[0].best() == 100.0


def test_short_tables_show_the_reading_that_validation_texts_choose_and_mark_the_largest() -> None:
    from scripts.purpose.page import mechanisms_table, public_texts_table, shapes_table, spaces_table
    from scripts.purpose.rows import read_rows

    results = _results()
    for space, reached in (
        ("default", 0.111),
        ("reduced-16", 0.222),
        ("sentiment-16-2", 0.444),
        ("sentiment-16-4", 0.333),
    ):
        for release in _at(results, "sst2", space, 0.08)["releases"]:
            for name, each in release["accuracy"].items():
                each["chosen"] = reached if name == "decoded vectors" else 0.9
                each["validation"] = 1.0 if name == "decoded vectors" else 0.0
    rows = read_rows(results)
    shown = next(
        line for line in spaces_table(rows).splitlines() if line.startswith("| SST-2 | 8 % of words |")
    )
    assert re.fullmatch(r".*\| 11\.1 \| [\d.*]+ \| 22\.2 \| (\*\*)?44\.4(\*\*)? \| 33\.3 \| [\d.]+ \|", shown)
    assert shown.count("**") == 2
    assert "| 44.4 | 33.3 |" in next(
        line for line in shapes_table(rows).splitlines() if line.startswith("| SST-2 | 8 % of words |")
    )
    assert "| SST-2 | for its own purpose | 44.4 |" in public_texts_table(rows)
    assert "| SST-2 | 8 % of words | **shaped** 16 × 2 | 44.4 |" in mechanisms_table(rows)


def test_the_readme_says_what_was_measured() -> None:
    from scripts.purpose.rows import read_rows

    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "an attacker names\n  8 % of the words" in readme
    for label, data, space in (
        ("film reviews: good or bad", "sst2", "sentiment-16-4"),
        ("news: topic", "agnews", "topic-16-4"),
    ):
        rows = {
            row.space: row
            for row in read_rows(_results())
            if (row.data, row.level, row.mechanism) == (data, 0.08, "multivariate")
        }
        plain, shaped = rows["default"], rows[space]
        original = max(*plain.original.values(), *shaped.original.values())
        told = (
            plain.majority,
            plain.accuracy["released words"],
            plain.best("decoded"),
            shaped.best("decoded"),
            original,
        )
        found = re.search(rf"\| {label} \|(.*)\|", readme)
        assert found is not None
        assert [int(each) for each in found[1].split("|")] == [round(each) for each in told]


def test_the_guide_says_what_was_measured() -> None:
    from scripts.purpose.rows import read_rows

    best = {
        row.key[:2] + row.key[3:]: row.best()
        for row in read_rows(_results())
        if row.mechanism == "multivariate"
    }
    news = [best["agnews", "topic-16-4", level] - best["agnews", "default", level] for level in (0.08, 0.33)]
    products = [
        best["cr", "sentiment-16-4", level] - best["cr", "default", level] for level in (0.08, 0.17, 0.33)
    ]
    guide = " ".join((ROOT / "docs/guide/purpose.md").read_text(encoding="utf-8").split())
    said = re.search(
        r"topics of news gain (\d+) points where it names 8 % of the words, and (\d+) where it names a third",
        guide,
    )
    assert said is not None
    assert [int(each) for each in said.groups()] == [round(each) for each in news]
    said = re.search(r"reviews of products gain (\d+) to (\d+)\.", guide)
    assert said is not None
    assert [int(each) for each in said.groups()] == [round(min(products)), round(max(products))]
