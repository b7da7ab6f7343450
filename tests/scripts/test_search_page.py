"""Words per second of a GPU stand beside those of the processor."""

from __future__ import annotations

from benchmarks.search.page import growth_table


def test_points_of_a_gpu_stand_beside_those_of_the_processor() -> None:
    ours = {"words": 10_000, "dimension": 50, "words_per_second": 1234.0, "memory": 5_000_000}
    found = {"points": [ours]}
    assert growth_table(found, []).endswith("| 10,000 x 50 | 1,234 | 5 |")
    beside = growth_table(
        found, [{**ours, "words_per_second": 1e6}, {**ours, "words": 20_000, "memory": 1e9}]
    )
    assert "| 10,000 x 50 | 1,234 | 5 | 1,000,000 | 5 |\n" in beside
    assert beside.endswith("| 20,000 x 50 |  |  | 1,234 | 1,000 |")
