from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deniable import Privatizer
from deniable.progress import Progress
from deniable.records import privatize_file
from deniable.records.journal import Partial


class Watched(Progress):
    """A progress that remembers what it was told."""

    begun: list[dict[str, Any]]
    told: list[tuple[int, int | None]]

    def __init__(self, label: str, **settings: Any) -> None:
        super().__init__(label, **settings)
        type(self).begun.append(settings)

    def report(self, done: int, total: int | None = None) -> None:
        type(self).told.append((done, total))


@pytest.fixture(autouse=True)
def watched(monkeypatch: pytest.MonkeyPatch) -> type[Watched]:
    monkeypatch.setattr("deniable.records.formats.reader._RECORDS_AT_ONCE", 7)
    monkeypatch.setattr("deniable.records.job.SECONDS_BETWEEN_CHECKPOINTS", 0.0)
    Watched.begun, Watched.told = [], []
    return Watched


def test_compressed_files_are_counted_by_the_bytes_that_are_stored(
    private: Privatizer, tmp_path: Path, watched: type[Watched]
) -> None:
    source = tmp_path / "in.txt.gz"
    source.write_bytes(gzip.compress(b"the fox\n" * 100))
    privatize_file(private, source, tmp_path / "out.txt", progress=watched)
    size = source.stat().st_size
    assert watched.begun == [{"total": size, "done": 0, "unit": "bytes"}]
    assert watched.told[-1] == (size, size)


def test_parquet_is_counted_by_rows_and_resumed_work_counts_from_where_it_was(
    private: Privatizer, tmp_path: Path, watched: type[Watched], monkeypatch: pytest.MonkeyPatch
) -> None:
    source, target = tmp_path / "in.parquet", tmp_path / "out.parquet"
    pq.write_table(pa.table({"t": ["fox"] * 70}), source, row_group_size=25)
    left = iter(range(3))

    def append(self: Partial, data: bytes, real: Any = Partial.append) -> None:
        if next(left, None) is None:
            raise KeyboardInterrupt
        real(self, data)

    with monkeypatch.context() as patched:
        patched.setattr(Partial, "append", append)
        with pytest.raises(KeyboardInterrupt):
            privatize_file(private, source, target, columns=["t"], progress=watched)
    watched.told.clear()
    privatize_file(private, source, target, columns=["t"], progress=watched, resume=True)
    assert watched.begun[1] == {"total": 70, "done": 21, "unit": "rows"}
    assert [done for done, _ in watched.told] == sorted({done for done, _ in watched.told})
    assert watched.told[-1][1] == 70
    assert pq.read_table(target)["t"].to_pylist() == ["fox"] * 70
