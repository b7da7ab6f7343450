"""The journal speaks of nothing that is not on the disk yet: a machine that loses power would be told of
records that are not there."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from deniable import Privatizer
from deniable.records import privatize_file
from tests.records.jobs.stopped_jobs import source_in


def test_the_partial_file_is_on_the_disk_before_its_journal_line(
    private: Privatizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, checkpoint_every_batch: None
) -> None:
    source, target = source_in(tmp_path), tmp_path / "out.txt"
    partial, journal = tmp_path / "out.txt.partial", tmp_path / "out.txt.journal"
    synced = {partial: 0}
    on_record: list[int] = []
    fsync, write = os.fsync, os.write

    def is_open_as(descriptor: int, path: Path) -> bool:
        return path.exists() and os.path.samestat(os.fstat(descriptor), path.stat())

    def synced_now(descriptor: int) -> None:
        fsync(descriptor)
        if is_open_as(descriptor, partial):
            synced[partial] = os.fstat(descriptor).st_size

    def written(descriptor: int, data: bytes) -> int:
        if is_open_as(descriptor, journal):
            for line in bytes(data).splitlines():
                entry = json.loads(line.partition(b" ")[2])
                if "length" in entry:
                    on_record.append(entry["length"])
                    assert entry["length"] <= synced[partial], "the journal speaks of what a crash may lose"
        return write(descriptor, data)

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", synced_now)
        patched.setattr(os, "write", written)
        privatize_file(private, source, target)
    assert len(on_record) > 1
    assert on_record[-1] == target.stat().st_size
