from __future__ import annotations

import pytest


@pytest.fixture
def checkpoint_every_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deniable.records.job.SECONDS_BETWEEN_CHECKPOINTS", 0.0)
    monkeypatch.setattr("deniable.records.formats.reader._RECORDS_AT_ONCE", 7)
