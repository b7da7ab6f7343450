from __future__ import annotations

import io

import pytest

from deniable import progress as module
from deniable.progress import Progress


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [0.0]
    monkeypatch.setattr("deniable.progress.time.monotonic", lambda: now[0])
    return now


@pytest.mark.parametrize(("done", "pace"), [(None, "5 words/s, 1 min 20 s"), (0, "30 words/s, 13 s")])
def test_work_is_timed_without_what_an_earlier_run_did(
    done: int | None, pace: str, clock: list[float]
) -> None:
    stream = io.StringIO()
    with Progress("calibrating", done=done, unit="words", stream=stream) as progress:
        progress.report(500, 1000)
        clock[0] = 20.0
        progress.report(600, 1000)
    assert stream.getvalue() == f"calibrating: 600 of 1,000 words (60%), {pace} left\n"


def test_each_pass_of_work_has_a_bar_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    class Bar:
        def __init__(self, *_: object) -> None:
            seen.append("begun")

        def close(self) -> None:
            seen.append("ended")

    seen: list[str | int] = []
    monkeypatch.setattr(module, "_Bar", Bar)
    with Progress("measuring", unit="words", stream=Terminal()) as progress:
        assert seen == []
        for done, total in ((3, 9), (9, 9), (0, 5), (4, 5), (2, 5)):
            progress.report(done, total)
            seen.append(done)
    assert seen == ["begun", 3, "ended", 9, "begun", 0, 4, "ended", "begun", 2, "ended"]


def test_a_bar_that_is_closed_goes_on_with_the_next_report(clock: list[float]) -> None:
    stream = io.StringIO()
    with Progress("comparing", unit="matches", stream=stream) as progress:
        progress.close()  # before anything was reported
        for done in (1, 2, 3):
            progress.report(done, 9)
            progress.close()
        clock[0] = 20.0
        progress.report(4, 9)
        clock[0] = 40.0
        progress.report(5, 9)
    assert stream.getvalue().startswith("comparing: 5 of 9 matches (56%)")
