from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from deniable import Privatizer
from deniable.records import privatize_file
from deniable.records.journal import Partial
from tests.records.jobs.stopped_jobs import source_in

Stopped = Callable[..., tuple[Path, Path]]


@pytest.fixture
def checkpoint_every_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deniable.records.job.SECONDS_BETWEEN_CHECKPOINTS", 0.0)
    monkeypatch.setattr("deniable.records.formats.reader._RECORDS_AT_ONCE", 7)


@pytest.fixture
def stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, checkpoint_every_batch: None) -> Stopped:
    """Start a job over a hundred records and stop it after some checkpoints, as a failure does."""

    def stop(private: Privatizer, *, after: int = 3, **options: Any) -> tuple[Path, Path]:
        source, target = source_in(tmp_path), tmp_path / "out.txt"
        append, left = Partial.append, iter(range(after))

        def append_or_stop(partial: Partial, data: bytes) -> None:
            if next(left, None) is None:
                raise KeyboardInterrupt
            append(partial, data)

        with monkeypatch.context() as patched:
            patched.setattr(Partial, "append", append_or_stop)
            with pytest.raises(KeyboardInterrupt):
                privatize_file(private, source, target, **options)
        return source, target

    return stop
