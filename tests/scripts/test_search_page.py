"""The page about the speed of the search is what its scripts write from the committed measurements."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "docs" / "data"


@pytest.fixture
def searches(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return importlib.import_module


def read(name: str) -> Any:
    return json.loads((DATA / name).read_text(encoding="utf-8"))


def test_the_page_is_that_of_the_measurements(searches: Any) -> None:
    written = searches("searches.page").page(read("search.json"), read("growth.json"), read("gpu.json"))
    assert (ROOT / "docs" / "search.md").read_text(encoding="utf-8") == written, (
        "run benchmarks/search.py --from-json … --page docs/search.md"
    )


def test_points_of_a_gpu_stand_beside_those_of_the_processor(searches: Any) -> None:
    growth = searches("searches.growth")
    ours = {"words": 10_000, "dimension": 50, "words_per_second": 1234.0, "memory": 5_000_000}
    found = {"machine": "one", "threads": 2, "points": [ours]}
    assert "| 10,000 x 50 | 1,234 | 5 |\n" in growth.section(found, [])
    beside = growth.section(found, [{**ours, "words_per_second": 1e6}, {**ours, "words": 20_000, "memory": 1e9}])
    assert "| 10,000 x 50 | 1,234 | 5 | 1,000,000 | 5 |\n" in beside
    assert "| 20,000 x 50 |  |  | 1,234 | 1,000 |\n" in beside
