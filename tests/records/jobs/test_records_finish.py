"""The output appears complete or not at all, and what is stopped while it is finished is finished by
resuming."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from deniable import Privatizer, RecordError
from deniable.records import privatize_file
from deniable.records.journal import Partial
from tests.records.jobs.conftest import Stopped
from tests.records.jobs.stopped_jobs import source_in


def test_partial_files_are_private_and_the_output_has_the_usual_permissions(
    private: Privatizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, checkpoint_every_batch: None
) -> None:
    seen: set[int] = set()

    def append(self: Partial, data: bytes, real: Callable[..., None] = Partial.append) -> None:
        real(self, data)
        seen.update(stat.S_IMODE(path.stat().st_mode) for path in tmp_path.glob("out.txt.*"))

    monkeypatch.setattr(Partial, "append", append)
    mask = os.umask(0o022)
    try:
        privatize_file(private, source_in(tmp_path), tmp_path / "out.txt")
    finally:
        os.umask(mask)
    assert seen == {0o600}
    assert stat.S_IMODE((tmp_path / "out.txt").stat().st_mode) == 0o644
    assert stat.S_IMODE((tmp_path / "out.txt.card.json").stat().st_mode) == 0o644, (
        "it is handed over with the output"
    )
    assert stat.S_IMODE((tmp_path / "out.txt.receipt.json").stat().st_mode) == 0o600


@pytest.mark.parametrize("full_after", [0, 1, 3])
def test_a_full_disk_leaves_nothing_under_the_name_and_can_be_resumed(
    private: Privatizer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    checkpoint_every_batch: None,
    full_after: int,
) -> None:
    source, target = source_in(tmp_path), tmp_path / "out.txt"
    room = [full_after]

    def write(descriptor: int, data: Any, real: Callable[[int, Any], int] = os.write) -> int:
        if "partial" in Path(f"/proc/self/fd/{descriptor}").readlink().name:
            if not room[0]:
                real(descriptor, bytes(data)[:3])
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            room[0] -= 1
        return real(descriptor, data)

    with monkeypatch.context() as patched:
        patched.setattr(os, "write", write)
        with pytest.raises(RecordError, match="No space left on device"):
            privatize_file(private, source, target)
    assert not target.exists()
    assert (tmp_path / "out.txt.journal").exists() == (full_after > 0)
    receipt = privatize_file(private, source, target, resume=True)
    assert target.read_bytes() == source.read_bytes()
    assert receipt is not None
    assert receipt.tally.records == receipt.tally.words == 100


def test_a_forced_job_that_was_stopped_may_replace_the_output_when_resumed(
    private: Privatizer, tmp_path: Path, stopped: Stopped
) -> None:
    (tmp_path / "out.txt").write_text("old")
    source, target = stopped(private, force=True)
    assert target.read_text() == "old"
    assert privatize_file(private, source, target, resume=True) is not None
    assert target.read_bytes() == source.read_bytes()


def test_an_output_that_appeared_meanwhile_is_not_replaced(
    private: Privatizer, tmp_path: Path, stopped: Stopped
) -> None:
    source, target = stopped(private)
    target.write_text("mine")
    with pytest.raises(RecordError, match="exists already"):
        privatize_file(private, source, target, resume=True)
    assert target.read_text() == "mine"
