"""The journal of a job counts up to its last whole line, belongs to one process, and is never another's
file."""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from deniable import Privatizer, ResumeError
from deniable.records import privatize_file
from deniable.records.journal import Journal
from tests.records.jobs.conftest import Stopped
from tests.records.jobs.stopped_jobs import source_in


def test_an_interrupt_while_the_journal_goes_to_disk_loses_nothing_on_record(
    noisy: Privatizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, target = source_in(tmp_path), tmp_path / "out.txt"

    def fsync(descriptor: int, real: Callable[[int], None] = os.fsync) -> None:
        real(descriptor)
        if (tmp_path / "out.txt.journal").read_bytes().count(b"\n") == 2:
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", fsync)
        with pytest.raises(KeyboardInterrupt):
            privatize_file(noisy, source, target)
    released = (tmp_path / "out.txt.partial").read_bytes()
    privatize_file(noisy, source, target, resume=True)
    assert target.read_bytes() == released


def test_a_journal_cut_short_counts_up_to_its_last_whole_line(
    private: Privatizer, tmp_path: Path, stopped: Stopped
) -> None:
    source, target = stopped(private)
    journal = tmp_path / "out.txt.journal"
    whole = journal.read_bytes()
    (tmp_path / "kept").write_bytes((tmp_path / "out.txt.partial").read_bytes())
    for length in range(0, len(whole) + 1, 53):
        journal.write_bytes(whole[:length])
        (tmp_path / "out.txt.partial").write_bytes((tmp_path / "kept").read_bytes())
        (tmp_path / "out.txt.partial").touch()
        if length == 0:
            with pytest.raises(ResumeError, match="journal is gone"):
                privatize_file(private, source, target, resume=True)
            continue
        if b"\n" not in whole[:length]:
            journal.write_bytes(b"")
            (tmp_path / "out.txt.partial").unlink()
        receipt = privatize_file(private, source, target, resume=True)
        assert receipt is not None
        assert receipt.tally.records == 100
        assert target.read_bytes() == source.read_bytes()
        target.unlink()
        (tmp_path / "out.txt.receipt.json").unlink()
        (tmp_path / "out.txt.card.json").unlink()


def test_what_follows_a_journal_line_cut_short_is_on_record_too(
    noisy: Privatizer, tmp_path: Path, stopped: Stopped
) -> None:
    stopped(noisy)
    journal = tmp_path / "out.txt.journal"
    journal.write_bytes(journal.read_bytes()[:-9])
    source, target = stopped(noisy, resume=True)
    released = (tmp_path / "out.txt.partial").read_bytes()
    assert released.count(b"\n") == 35
    privatize_file(noisy, source, target, resume=True)
    assert target.read_bytes().startswith(released)
    assert target.read_bytes().count(b"\n") == 100


def test_two_jobs_cannot_write_one_output(private: Privatizer, tmp_path: Path) -> None:
    holder = Journal(tmp_path / "out.txt.journal")
    cases: list[dict[str, Any]] = [{}, {"resume": True}, {"force": True}]
    for options in cases:
        with pytest.raises(ResumeError, match="another process"):
            privatize_file(private, source_in(tmp_path), tmp_path / "out.txt", **options)
    holder.remove()
    privatize_file(private, source_in(tmp_path), tmp_path / "out.txt")


@pytest.mark.parametrize(
    "content",
    [
        "Dear diary,\n",
        "deadbeef",
        "\n",
        "deadbeef {}\n",
        f"{zlib.crc32(b'{}'):08x} {{}}\n",
        f"{zlib.crc32(b'1'):08x} 1\n",
    ],
)
def test_a_foreign_file_under_the_journals_name_is_left_alone(
    private: Privatizer, tmp_path: Path, content: str
) -> None:
    (tmp_path / "out.txt.journal").write_text(content)
    cases: list[dict[str, Any]] = [{}, {"resume": True}, {"force": True}]
    for options in cases:
        with pytest.raises(ResumeError, match="not a journal of deniable"):
            privatize_file(private, source_in(tmp_path), tmp_path / "out.txt", **options)
    assert (tmp_path / "out.txt.journal").read_text() == content


@pytest.mark.parametrize("there", [False, True])
def test_the_journal_is_never_written_through_a_link(
    private: Privatizer, tmp_path: Path, there: bool
) -> None:
    if there:
        (tmp_path / "mine").write_text("")
    (tmp_path / "out.txt.journal").symlink_to(tmp_path / "mine")
    with pytest.raises(ResumeError, match="is a link"):
        privatize_file(private, source_in(tmp_path), tmp_path / "out.txt", force=True)
    assert (tmp_path / "mine").exists() == there


def test_a_pipe_under_the_journals_name_is_refused(private: Privatizer, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "out.txt.journal")
    with pytest.raises(ResumeError, match="is a link or a pipe"):
        privatize_file(private, source_in(tmp_path), tmp_path / "out.txt")
