"""Reading alone and in context are compared on the same runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from scripts.decoding.page import in_context
from scripts.decoding.rows import read_rows

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "experiments"


def test_alone_and_in_context_are_of_the_same_runs() -> None:
    result: dict[str, Any] = next(
        each
        for each in json.loads((FOLDER / "purpose.json").read_text(encoding="utf-8"))
        if (each["name"], each["embedding"]["name"], each["mechanism"], each["level"])
        == ("agnews", "default", "multivariate", 0.08)
    )
    (read,) = [each for each in result["releases"] if "context words" in each["accuracy"]]
    assert len(result["releases"]) > 1
    (row,) = [
        row
        for row in read_rows(FOLDER)
        if row.context and (row.data, row.measured, row.level) == ("agnews", "GPU", 0.08)
    ]
    alone, context = (
        100 * read["accuracy"][f"{version} words"]["both"] for version in ("decoded", "context")
    )
    assert (row.context["words alone"], row.context["words in context"]) == pytest.approx((alone, context))
    assert row.context["attacker"] == pytest.approx(100 * read["named"])
    assert f"| {alone:.1f} | {context:.1f} |" in in_context([row])
