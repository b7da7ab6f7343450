from __future__ import annotations

import io

import pytest

from deniable.progress import Progress


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
    assert told(monkeypatch, "follow") == "calibrating: 600 of 1,000 words (60%), 5 words/s, 1 min 20 s left\n"
    assert "30 words/s" in told(monkeypatch, "report")
