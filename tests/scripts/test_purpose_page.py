"""The page about purposes is that of its results, and says where what was wanted is missed."""

from __future__ import annotations

import copy
import importlib
import json
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "experiments"


@pytest.fixture(autouse=True)
def scripts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))


@pytest.mark.parametrize(("script", "page"), [("make_purpose_page", "purpose.md"), ("make_decoding_page", "decoding.md")])
def test_the_page_is_that_of_the_committed_results(script: str, page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = importlib.import_module(script)
    for path in FOLDER.glob("*.json"):
        (tmp_path / path.name).symlink_to(path)
    monkeypatch.setattr(module, "FOLDER", tmp_path)
    module.main()
    assert (tmp_path / page).read_text(encoding="utf-8") == (FOLDER / page).read_text(encoding="utf-8")


def _refined() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((FOLDER / "purpose-refined.json").read_text(encoding="utf-8"))
    return found


def _said(results: list[dict[str, Any]], start: str) -> str:
    from purpose_refined import read_rows, refined_findings

    return next(line for line in refined_findings(read_rows(results)).splitlines() if line.startswith(f"- {start}"))


@pytest.mark.parametrize(("reached", "said"), [(0.72, "reached"), (0.7195, "reached"), (0.7194, "missed by 0.1"), (0.70, "missed by 2.0")])
def test_what_is_missed_is_said_by_how_much(reached: float, said: str) -> None:
    results = copy.deepcopy(_refined())
    for result in results:
        if result["level"] == 0.08 and result["embedding"]["name"] == "sentiment-16-2":
            for release in result["releases"]:
                release["accuracy"]["decoded words"]["both"] = reached
    assert f"by words decoded ({said})" in _said(results, "SST-2 at 8 % of words named")


def test_what_was_not_measured_is_said() -> None:
    results = [result for result in _refined() if result["level"] != "kind"]
    said = _said(results, "Not measured")
    assert "SST-2 at 28 % of kinds named" in said
    assert "SST-2 at 8 %" not in said


def test_an_attacker_in_context_that_names_less_is_said_to() -> None:
    results = copy.deepcopy(_refined())
    contexts = [result["releases"][0] for result in results if result["level"] == "context"]
    contexts[0]["named_in_context"] = 0.5
    contexts[1]["named_in_context"] = 0.01
    said = _said(results, "This attacker in context names fewer")
    assert "1.0 against" in said
    assert "50.0" not in said
