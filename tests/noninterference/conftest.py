from __future__ import annotations

import pytest

from deniable.records import job
from deniable.records.formats import parquet_partial as arrow_partial
from tests.noninterference.releasing_both import same_names


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything that is cut is cut often, so that small releases have many places to differ in."""
    monkeypatch.setattr(job, "SECONDS_BETWEEN_CHECKPOINTS", 0.0)
    monkeypatch.setattr(arrow_partial, "ROWS_PER_ROW_GROUP", 9)
    monkeypatch.setattr(arrow_partial, "BYTES_PER_ROW_GROUP", 4_000)
    monkeypatch.setattr("deniable.release.privatizer.WORDS_AT_ONCE", 20)
    monkeypatch.setattr("deniable.release.privatizer.TEXTS_AT_ONCE", 11)
    monkeypatch.setattr("deniable.records.files._BYTES_AT_ONCE", 100)
    monkeypatch.setattr("deniable.compression._BYTES_AT_ONCE", 200)
    same_names(monkeypatch)
