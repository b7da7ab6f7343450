from __future__ import annotations

from benchmarks.sizing import page as sizing


def test_figures_follow_from_the_measurements() -> None:
    row = {"name": "deniable", "words": 1000, "dimension": 10, "words_per_second": [100.0, 200.0, 600.0]}
    searches = [row, {**row, "name": "another"}]
    rates = sizing.speeds({"setting": "2 threads", "searches": searches, "shares": {"1,000 x 10": 0.5}})
    assert rates == {"1,000 x 10": [25.0, 50.0, 150.0]}
    # 2e12 bytes at 5 bytes a word and 50 words a second: 4e11 / 50 / 3600 core-hours.
    line = sizing.executors(rates, 5.0, terabytes=2, hours=10, cores=4, price=0.5).split("\n")[2]
    assert line == "| 1,000 x 10 | 50 [25–150] | 2,222,222 | 55,556 | 1,111,111 |"


def test_ratios_are_taken_round_by_round() -> None:
    # Both medians are 20, yet in every round but one the second was faster: a busy machine slows down whole
    # rounds.
    rows = [
        {"how": how, "words_per_second": rates, "processor_microseconds": [50.0] * 3}
        for how, rates in (("one", [10.0, 20.0, 40.0]), ("two", [20.0, 40.0, 10.0]))
    ]
    quiet = sizing.scaling({"load": 0.5, "threads": 2, "rows": rows}, "how")
    assert "| two | 20 [10–40] | 2.00 [0.25–2.00] | 50 [50–50] | 1.00 [1.00–1.00] |" in quiet
    overloaded = sizing.scaling({"load": 9.0, "threads": 2, "rows": rows}, "how")
    assert "words/s" not in overloaded
    assert "9 processes wanted to work on 2 hardware threads" in overloaded


def test_a_word_of_the_example_takes_a_plausible_number_of_bytes() -> None:
    assert 4 < sizing.bytes_per_word() < 8
