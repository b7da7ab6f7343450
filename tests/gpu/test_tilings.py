"""The kernels are cut as was fastest in the run on a GPU that the page reports."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("triton")

MEASURED = json.loads((Path(__file__).parents[2] / "docs/data/gpu.json").read_text(encoding="utf-8"))["parts"]


@pytest.mark.parametrize(
    ("size", "width", "words"), [("400,000 x 300", 320, 400_000), ("400,000 x 50", 64, 400_000), ("50,000 x 50", 64, 50_000)]
)
def test_the_fastest_tiling_that_was_measured_is_used(size: str, width: int, words: int) -> None:
    from deniable.neighbours.fused import Tiling, tiling_for

    rows = [row for row in MEASURED[f"tilings {size}"]["rows"] if "words_per_second" in row]
    fastest = max(rows, key=lambda row: float(row["words_per_second"]))["tiling"]
    assert tiling_for(width, words) == Tiling(**fastest)
