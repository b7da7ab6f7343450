"""The page about search shows what was measured, failures too."""

from __future__ import annotations

from typing import Any

from benchmarks.search.page import gpu_points, gpu_table, growth_table


def test_points_of_a_gpu_stand_beside_those_of_the_processor() -> None:
    ours: dict[str, Any] = {"words": 10_000, "dimension": 50, "words_per_second": 1234.0, "memory": 5_000_000}
    gpu = {"words": 10_000, "dimension": 50, "words_per_second": 1e6, "gpu": True}
    wide = {**ours, "words": 20_000, "dimension": 300}
    assert growth_table([ours, gpu, wide]).splitlines()[2:] == [
        "| 10,000 | 1,234 | 5 | 1,000,000 |  |  |  |",
        "| 20,000 |  |  |  | 1,234 | 5 |  |",
    ]


def test_the_table_of_a_gpu_tells_what_was_measured_and_what_failed() -> None:
    seconds = {"cuda, first": 0.9, "cuda, again": 0.2, "processor, again": 7.4}
    parts: dict[str, Any] = {
        "ceiling": {"tflops": 0.002, "400,000 x 300 padded": 5.0},
        "speed 400,000 x 300": {"words_per_second": [3.0, 1.0, 2.0], "float32_form": 1.0},
        "speed 400,000 x 50": {"failed": "Traceback"},
        "torch 400,000 x 300": {"words_per_second": 6.0},
        "processor 400,000 x 300": {"words_per_second": 7.0},
        "columns": {"seconds": seconds, "columns": 240},
        "N_w": {"seconds": 1.25, "words": 60_000},
        "checks": {"a": {"passed": True}, "b": {"passed": False}},
    }
    shown = gpu_table(parts)
    assert "| 400,000 x 300 | 2 | 24% | 40% | 1 | 6 | 7 |" in shown
    assert "| 400,000 x 50 | failed |" in shown
    assert "| 50,000 x 50 | failed |" in shown
    assert "60,000 words x 1,000 draws: 1.2 s" in shown
    assert "0.90 s, again 0.20 s" in shown
    assert "1 of 2 checks" in shown
    assert gpu_points({}) == []
