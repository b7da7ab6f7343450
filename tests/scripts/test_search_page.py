"""The page about search shows what was measured, failures and missed targets too."""

from __future__ import annotations

from typing import Any

from benchmarks.search.page import gpu_points, gpu_tables, growth_table


def test_points_of_a_gpu_stand_beside_those_of_the_processor() -> None:
    ours: dict[str, Any] = {"words": 10_000, "dimension": 50, "words_per_second": 1234.0, "memory": 5_000_000}
    assert growth_table([ours], []).endswith("| 10,000 x 50 | 1,234 | 5 |")
    gpu = [{**ours, "words_per_second": 1e6}, {**ours, "words": 20_000, "memory": 1e9}]
    beside = growth_table([ours], gpu)
    assert "| 10,000 x 50 | 1,234 | 5 | 1,000,000 | 5 |\n" in beside
    assert beside.endswith("| 20,000 x 50 |  |  | 1,234 | 1,000 |")


def test_the_table_of_a_gpu_tells_what_was_measured_missed_and_failed() -> None:
    speed = {"origin": "real", "words_per_second": [3.0, 1.0, 2.0], "met": False, "share_of_cublas": 0.5}
    seconds = {"cuda, first": 0.9, "cuda, again": 0.2, "processor, again": 7.4}
    parts: dict[str, Any] = {
        "ceiling": {"tflops": 0.002, "400,000 x 300 padded": 5.0},
        "speed 400,000 x 300": speed | {"float32_form": 1.0},
        "speed 400,000 x 50": {"failed": "Traceback"},
        "torch 400,000 x 300": {"words_per_second": 6.0},
        "processor 400,000 x 300": {"words_per_second": 7.0},
        "columns": {"seconds": seconds, "columns": 240},
        "N_w": {"seconds": 1.25, "words": 60_000, "met": True},
        "checks": {"a": {"passed": True}, "b": {"passed": False}},
    }
    section = gpu_tables(parts)
    assert "| 400,000 x 300 | real | 2 | 1,500,000: MISSED | 24% | 50% | 40% | 1 | 6 | 7 |" in section
    assert "| 400,000 x 50 | failed |" in section
    assert "| 50,000 x 50 | failed |" in section
    assert "N_w and distinct words of 60,000 words x 1,000 draws: 1.2 s (target 120 s: met)" in section
    assert "columns of 240 released words of 50,000, the points drawn: 0.90 s, and 0.20 s again" in section
    assert "1 of 2 checks" in section
    assert gpu_points(parts) == [{"words": 400_000, "dimension": 300, "words_per_second": 2.0}]
    assert gpu_points({}) == []
