from __future__ import annotations

import io
from typing import Self

import pytest

from deniable.progress import Progress, Stages


def told(monkeypatch: pytest.MonkeyPatch, method: str) -> str:
    """Return what is said after 500 of 1,000 words of an earlier run and, 20 seconds later, 100 more."""
    clock = [0.0]
    monkeypatch.setattr("deniable.progress.time.monotonic", lambda: clock[0])
    stream = io.StringIO()
    with Progress("calibrating", unit="words", stream=stream) as progress:
        getattr(progress, method)(500, 1000)
        clock[0] = 20.0
        getattr(progress, method)(600, 1000)
    return stream.getvalue()


def test_followed_work_is_timed_without_what_an_earlier_run_did(monkeypatch: pytest.MonkeyPatch) -> None:
    assert (
        told(monkeypatch, "follow") == "calibrating: 600 of 1,000 words (60%), 5 words/s, 1 min 20 s left\n"
    )
    assert "30 words/s" in told(monkeypatch, "report")


def test_each_pass_of_work_in_stages_has_a_bar_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    followed: list[tuple[str, int, int | None]] = []

    class Counted(Progress):
        def __enter__(self) -> Self:
            followed.append(("begun", 0, None))
            return super().__enter__()

        def follow(self, done: int, total: int | None = None) -> None:
            followed.append(("done", done, total))

    monkeypatch.setattr("deniable.progress.Progress", Counted)
    with Stages("measuring", unit="words", stream=io.StringIO()) as stages:
        for done, total in ((3, 9), (9, 9), (0, 5), (4, 5), (2, 5)):
            stages.report(done, total)
    passes = [number for number, (kind, _, _) in enumerate(followed) if kind == "begun"]
    assert [followed[number + 1][1] for number in passes] == [
        3,
        0,
        2,
    ]  # 9 of 9 ends a pass, and so does a step back


def test_a_stage_that_is_closed_goes_on_with_the_next_report(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr("deniable.progress.time.monotonic", lambda: clock[0])
    stream = io.StringIO()
    with Stages("comparing", unit="matches", stream=stream) as stages:
        stages.close()  # before anything was reported
        for done in (1, 2, 3):
            stages.report(done, 9)
            stages.close()
        clock[0] = 20.0
        stages.report(4, 9)
        clock[0] = 40.0
        stages.report(5, 9)
    assert stream.getvalue().startswith("comparing: 5 of 9 matches (56%)")
