"""When a file that failed may be read again, and when its failure is news."""

from __future__ import annotations

import pytest

from deniable.records.watch import Failures

STATE = (10, 1)


class Clock:
    """Time that passes when it is told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr("deniable.records.watch.monotonic", clock)
    return clock


def pauses(failures: Failures, clock: Clock, *, took: float, times: int) -> list[float]:
    """Fail again as soon as the file is due, and return how long it rested each time, to half a second."""
    rests = []
    for _ in range(times):
        failures.postpone("a", STATE, took=took)
        begun = clock.now
        while not failures.is_due("a", STATE):
            clock.now += 0.5
        rests.append(clock.now - begun)
    return rests


def test_a_file_that_failed_rests_twice_as_long_each_time_up_to_a_minute(clock: Clock) -> None:
    assert pauses(Failures(), clock, took=0.01, times=9) == [1, 2, 4, 8, 16, 32, 60, 60, 60]


def test_what_is_long_to_try_rests_up_to_ten_times_as_long(clock: Clock) -> None:
    assert pauses(Failures(), clock, took=30, times=6) == [30, 60, 120, 240, 300, 300]
    assert pauses(Failures(), clock, took=7200, times=2) == [60, 120], (
        "a long release that a full disk ended is tried again soon"
    )


def test_a_file_that_changed_or_was_forgotten_is_due_at_once(clock: Clock) -> None:
    failures = Failures()
    failures.postpone("a", STATE, took=0)
    assert not failures.is_due("a", STATE)
    assert failures.is_due("a", (11, 2))
    assert failures.is_due("b", STATE)
    failures.forget("a")
    assert failures.is_due("a", STATE)
    assert len(failures) == 0


def test_a_failure_is_news_when_its_reason_or_the_file_is_another_one() -> None:
    failures = Failures()
    said = [
        failures.is_news("a", state, reason)
        for state, reason in [(STATE, "x"), (STATE, "x"), (STATE, "y"), ((11, 2), "y")]
    ]
    assert said == [True, False, True, True]
    assert len(failures) == 1
    failures.forget_all_but({"b"})
    assert len(failures) == 0
    assert failures.is_news("a", (11, 2), "y")
