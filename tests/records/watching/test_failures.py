"""How long a file that failed rests before it is read again; that its failure is said once is tested with the
watch."""

from __future__ import annotations

from itertools import count

import pytest

from deniable.records import watch
from deniable.records.watch import Failure


def rests(monkeypatch: pytest.MonkeyPatch, *, took: float, times: int) -> list[float]:
    """Fail again as soon as the file is due, and return how long it rested each time."""
    failure, seconds = Failure((10, 1)), []
    now = 1000.0
    monkeypatch.setattr(watch, "monotonic", lambda: now)
    for _ in range(times):
        failure.postpone(took)
        seconds.append(failure.due - now)
        now = next(time for time in count(now, 0.5) if time >= failure.due)
    return seconds


def test_a_file_that_failed_rests_twice_as_long_each_time_up_to_a_minute(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert rests(monkeypatch, took=0.01, times=9) == [1, 2, 4, 8, 16, 32, 60, 60, 60]


def test_what_is_long_to_try_rests_up_to_ten_times_as_long(monkeypatch: pytest.MonkeyPatch) -> None:
    assert rests(monkeypatch, took=30, times=6) == [30, 60, 120, 240, 300, 300]
    assert rests(monkeypatch, took=7200, times=2) == [60, 120], (
        "a long release that a full disk ended is tried again soon"
    )
