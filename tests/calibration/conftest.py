"""Fixtures of several rooms, and a home and working folder of each test's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.made_tasks import installed, questions, reviews, two_kinds

__all__ = ["installed", "questions", "reviews", "two_kinds"]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DENIABLE_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path
