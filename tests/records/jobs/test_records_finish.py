"""The output appears complete or not at all, and nothing is replaced unasked."""

from __future__ import annotations

import errno
import gzip
import json
import os
import stat
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deniable import Embedding, InvalidParameter, Multivariate, Privatizer, RecordError, ResumeError
from deniable.arrays import Floats, Ids
from deniable.neighbours.oracle import OracleNeighbours
from deniable.randomness import RadialNoise
from deniable.records import privatize_file
from deniable.records.jobs.journal import Journal, Partial
from deniable.text.card import read_card


def source_in(folder: Path) -> Path:
    source = folder / "in.txt"
    source.write_text("".join(f"word{i}\n" for i in range(100)))
    return source


@pytest.fixture
def checkpoint_every_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deniable.records.jobs.releasing.SECONDS_BETWEEN_CHECKPOINTS", 0.0)
    monkeypatch.setattr("deniable.records.formats.reader._RECORDS_AT_ONCE", 7)


def test_an_existing_output_is_replaced_only_by_force(private: Privatizer, tmp_path: Path) -> None:
    source, target = source_in(tmp_path), tmp_path / "out.txt"
    target.write_text("mine")
    with pytest.raises(RecordError, match="--force"):
        privatize_file(private, source, target)
    assert target.read_text() == "mine"
    assert privatize_file(private, source, target, force=True) is not None
    assert target.read_text() == source.read_text()


def test_resuming_a_finished_output_draws_nothing(noisy: Privatizer, tmp_path: Path) -> None:
    source, target = source_in(tmp_path), tmp_path / "out.txt"
    assert privatize_file(noisy, source, target, resume=True) is not None
    before = target.read_bytes()
    assert privatize_file(noisy, source, target, resume=True) is None
    assert target.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.txt", "out.txt", "out.txt.card.json", "out.txt.receipt.json"]


@pytest.mark.parametrize("receipt", [None, "not a receipt", "[]", "{}"])
def test_resuming_never_takes_a_file_without_a_receipt_for_a_finished_output(
    private: Privatizer, tmp_path: Path, receipt: str | None
) -> None:
    source, target = source_in(tmp_path), tmp_path / "out.txt"
    target.write_text("raw secret text\n")
    if receipt is not None:
        (tmp_path / "out.txt.receipt.json").write_text(receipt)
    with pytest.raises(ResumeError, match=r"no receipt \(out.txt.receipt.json\) says that it was released"):
        privatize_file(private, source, target, resume=True)
    assert target.read_text() == "raw secret text\n"
    assert not (tmp_path / "out.txt.journal").exists()


def test_the_input_is_never_written_over(private: Privatizer, tmp_path: Path) -> None:
    source = source_in(tmp_path)
    content = source.read_bytes()
    (tmp_path / "link.txt").symlink_to(source)
    os.link(source, tmp_path / "hard.txt")
    for target in ("in.txt", "link.txt", "hard.txt"):
        with pytest.raises(RecordError, match="is the input itself"):
            privatize_file(private, source, tmp_path / target, force=True)
    source.rename(tmp_path / "x.txt.partial")
    with pytest.raises(RecordError, match="is the input itself"):
        privatize_file(private, tmp_path / "x.txt.partial", tmp_path / "x.txt", format="text", force=True)
    with pytest.raises(RecordError, match="is the input itself"):
        privatize_file(private, tmp_path / "hard.txt", tmp_path / "y.txt", receipt=tmp_path / "hard.txt", force=True)
    assert (tmp_path / "hard.txt").read_bytes() == content


def test_a_receipt_that_could_not_be_written_is_reported_before_the_work(private: Privatizer, tmp_path: Path) -> None:
    source = source_in(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for name in ("pipe", "folder"):
        with pytest.raises(RecordError, match="not a regular file"):
            privatize_file(private, source, tmp_path / "out.txt", receipt=tmp_path / name, force=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "in.txt", "pipe"]


def test_a_card_that_could_not_be_written_is_reported_before_the_work(private: Privatizer, tmp_path: Path) -> None:
    source = source_in(tmp_path)
    (tmp_path / "out.txt.card.json").mkdir()
    with pytest.raises(RecordError, match="not a regular file; the card goes there"):
        privatize_file(private, source, tmp_path / "out.txt", force=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.txt", "out.txt.card.json"]


def test_a_card_that_is_there_is_replaced_only_by_force(private: Privatizer, tmp_path: Path) -> None:
    source, target, card = source_in(tmp_path), tmp_path / "out.txt", tmp_path / "out.txt.card.json"
    card.write_text("of another release")
    with pytest.raises(RecordError, match=r"out.txt.card.json: exists already; replace it with --force"):
        privatize_file(private, source, target)
    assert card.read_text() == "of another release"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.txt", "out.txt.card.json"]
    privatize_file(private, source, target, force=True)
    assert read_card(card) == private.card


def test_a_folder_that_is_not_there_is_reported_before_the_work(private: Privatizer, tmp_path: Path) -> None:
    source = source_in(tmp_path)
    with pytest.raises(RecordError, match="is not there"):
        privatize_file(private, source, tmp_path / "no" / "out.txt")
    with pytest.raises(RecordError, match="is not there"):
        privatize_file(private, source, tmp_path / "out.txt", receipt=tmp_path / "no" / "r.json")
    with pytest.raises(RecordError, match="is a folder"):
        privatize_file(private, source, tmp_path)
    with pytest.raises(RecordError, match="not a regular file"):
        privatize_file(private, source, "/dev/null")
    assert [path.name for path in tmp_path.iterdir()] == ["in.txt"]


def test_formats_are_not_converted(private: Privatizer, tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match="not converted"):
        privatize_file(private, source_in(tmp_path), tmp_path / "out.parquet")


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
    assert stat.S_IMODE((tmp_path / "out.txt.card.json").stat().st_mode) == 0o644, "it is handed over with the output"
    assert stat.S_IMODE((tmp_path / "out.txt.receipt.json").stat().st_mode) == 0o600


@pytest.mark.parametrize("full_after", [0, 1, 3])
def test_a_full_disk_leaves_nothing_under_the_name_and_can_be_resumed(
    private: Privatizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, checkpoint_every_batch: None, full_after: int
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


def stopped_job(private: Privatizer, folder: Path, monkeypatch: pytest.MonkeyPatch, *, after: int = 3, **options: Any) -> tuple[Path, Path]:
    """Start a job and stop it after some checkpoints, as a failure does."""
    source, target = folder / "in.txt", folder / "out.txt"
    if not source.exists():
        source_in(folder)
    left = [after]

    def append(self: Partial, data: bytes, real: Callable[..., None] = Partial.append) -> None:
        if not left[0]:
            raise KeyboardInterrupt
        left[0] -= 1
        real(self, data)

    with monkeypatch.context() as patched:
        patched.setattr(Partial, "append", append)
        with pytest.raises(KeyboardInterrupt):
            privatize_file(private, source, target, **options)
    return source, target


def test_a_resumed_job_keeps_what_was_released(
    noisy: Privatizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, checkpoint_every_batch: None
) -> None:
    source, target = stopped_job(noisy, tmp_path, monkeypatch)
    released = (tmp_path / "out.txt.partial").read_bytes()
    assert released.count(b"\n") == 21
    (tmp_path / "out.txt.partial").write_bytes(released + b"written, and not on record\n" * 1_000)
    receipt = privatize_file(noisy, source, target, resume=True)
    assert target.read_bytes().startswith(released)
    assert target.read_bytes().count(b"\n") == 100
    assert receipt is not None
    assert receipt.tally.records == 100


class DrawsItself(OracleNeighbours):
    """A search on a card, as far as receipts know: it makes the noise itself."""

    def nearest_to_noisy(self, ids: Ids, noise: RadialNoise, epsilons: Floats) -> Ids:
        return ids


@pytest.fixture
def on_card(embedding: Embedding) -> Privatizer:
    mechanism = Multivariate(embedding, epsilon=0.5)
    mechanism.__dict__["neighbours"] = DrawsItself(embedding)
    return Privatizer(mechanism)


PROCESSOR, CARD = "AES-128 counter mode, keyed by the operating system", "ChaCha20 on a GPU, keyed by the operating system"


def test_the_receipt_of_a_job_continued_on_another_device_names_every_generator_that_drew(
    noisy: Privatizer, on_card: Privatizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, checkpoint_every_batch: None
) -> None:
    stopped_job(noisy, tmp_path, monkeypatch)
    stopped_job(on_card, tmp_path, monkeypatch, after=2, resume=True)
    source, target = stopped_job(on_card, tmp_path, monkeypatch, after=1, resume=True)
    receipt = privatize_file(noisy, source, target, resume=True)
    assert receipt is not None
    assert receipt.randomness["generator"] == f"{PROCESSOR}; then {CARD}"
    assert json.loads((tmp_path / "out.txt.receipt.json").read_text())["randomness"] == receipt.randomness


def test_a_generator_whose_words_never_came_on_record_is_not_named(
    noisy: Privatizer, on_card: Privatizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, checkpoint_every_batch: None
) -> None:
    stopped_job(noisy, tmp_path, monkeypatch)
    stopped_job(on_card, tmp_path, monkeypatch, after=0, resume=True)

    def stop(*paths: Path) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("deniable.records.jobs.job.publish", stop)
        with pytest.raises(KeyboardInterrupt):  # when every record is released
            privatize_file(noisy, tmp_path / "in.txt", tmp_path / "out.txt", resume=True)
    receipt = privatize_file(on_card, tmp_path / "in.txt", tmp_path / "out.txt", resume=True)
    assert receipt is not None
    assert receipt.randomness["generator"] == PROCESSOR


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


def test_a_partial_output_is_neither_continued_nor_dropped_unasked(
    private: Privatizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, checkpoint_every_batch: None
) -> None:
    source, target = stopped_job(private, tmp_path, monkeypatch)
    with pytest.raises(ResumeError, match="--resume, or start over with --force"):
        privatize_file(private, source, target)
    assert (tmp_path / "out.txt.partial").stat().st_size > 0
    privatize_file(private, source, target, force=True)
    assert target.read_bytes() == source.read_bytes()


def test_another_job_cannot_continue_a_partial_output(
    private: Privatizer, noisy: Privatizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, checkpoint_every_batch: None
) -> None:
    source, target = stopped_job(private, tmp_path, monkeypatch)
    with pytest.raises(ResumeError, match=r"epsilon was 1000000.0 and is 0.5"):
        privatize_file(noisy, source, target, resume=True)
    with pytest.raises(ResumeError, match="case was 'drop' and is 'keep'"):
        privatize_file(Privatizer(private.mechanism, case="keep"), source, target, resume=True)
    with pytest.raises(ResumeError, match="keep_words was"):
        privatize_file(Privatizer(private.mechanism, keep_words=["the"]), source, target, resume=True)
    with pytest.raises(ResumeError, match="encoding was 'utf-8' and is 'latin-1'"):
        privatize_file(private, source, target, resume=True, encoding="latin-1")
    source.write_text(source.read_text() + "fox\n")
    with pytest.raises(ResumeError, match="input size was"):
        privatize_file(private, source, target, resume=True)
    assert not target.exists()


def test_a_partial_output_that_was_changed_is_not_continued(
    private: Privatizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, checkpoint_every_batch: None
) -> None:
    source, target = stopped_job(private, tmp_path, monkeypatch)
    partial = tmp_path / "out.txt.partial"
    content = partial.read_bytes()
    for changed in (content.replace(b"word1\n", b"word9\n"), content[:-1]):
        partial.write_bytes(changed)
        with pytest.raises(ResumeError, match="not what the earlier run wrote"):
            privatize_file(private, source, target, resume=True)
    partial.unlink()
    with pytest.raises(ResumeError, match="is gone"):
        privatize_file(private, source, target, resume=True)


def test_a_journal_cut_short_counts_up_to_its_last_whole_line(
    private: Privatizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, checkpoint_every_batch: None
) -> None:
    source, target = stopped_job(private, tmp_path, monkeypatch)
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
    noisy: Privatizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, checkpoint_every_batch: None
) -> None:
    stopped_job(noisy, tmp_path, monkeypatch)
    journal = tmp_path / "out.txt.journal"
    journal.write_bytes(journal.read_bytes()[:-9])
    source, target = stopped_job(noisy, tmp_path, monkeypatch, resume=True)
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
    "content", ["Dear diary,\n", "deadbeef", "\n", "deadbeef {}\n", f"{zlib.crc32(b'{}'):08x} {{}}\n", f"{zlib.crc32(b'1'):08x} 1\n"]
)
def test_a_foreign_file_under_the_journals_name_is_left_alone(private: Privatizer, tmp_path: Path, content: str) -> None:
    (tmp_path / "out.txt.journal").write_text(content)
    cases: list[dict[str, Any]] = [{}, {"resume": True}, {"force": True}]
    for options in cases:
        with pytest.raises(ResumeError, match="not a journal of deniable"):
            privatize_file(private, source_in(tmp_path), tmp_path / "out.txt", **options)
    assert (tmp_path / "out.txt.journal").read_text() == content


@pytest.mark.parametrize("there", [False, True])
def test_the_journal_is_never_written_through_a_link(private: Privatizer, tmp_path: Path, there: bool) -> None:
    if there:
        (tmp_path / "mine").write_text("")
    (tmp_path / "out.txt.journal").symlink_to(tmp_path / "mine")
    with pytest.raises(ResumeError, match="is a link"):
        privatize_file(private, source_in(tmp_path), tmp_path / "out.txt", force=True)
    assert (tmp_path / "mine").exists() == there


def test_a_pipe_under_the_journals_name_is_refused(private: Privatizer, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "out.txt.journal")
    with pytest.raises(ResumeError, match="not a journal of deniable"):
        privatize_file(private, source_in(tmp_path), tmp_path / "out.txt")


@pytest.mark.parametrize("ending", ["", ".partial", ".journal", ".finishing", ".receipt.json", ".card.json"])
def test_an_input_under_any_name_that_is_written_is_refused(private: Privatizer, tmp_path: Path, ending: str) -> None:
    source = source_in(tmp_path).rename(tmp_path / f"o.txt{ending}")
    content = source.read_bytes()
    with pytest.raises(RecordError, match="is the input itself"):
        privatize_file(private, source, tmp_path / "o.txt", format="text", force=True)
    assert source.read_bytes() == content
    assert [path.name for path in tmp_path.iterdir()] == [source.name]


@pytest.mark.parametrize("stop_at", ["streams_to_parquet", "repack", "seal", "replace", "write_whole", "card", "publish", "remove"])
@pytest.mark.parametrize("format_", ["txt", "parquet", "txt.gz"])
def test_a_job_stopped_anywhere_in_its_finish_is_finished_by_resuming(
    noisy: Privatizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stop_at: str, format_: str
) -> None:
    source, target = tmp_path / f"in.{format_}", tmp_path / f"out.{format_}"
    if format_ == "txt":
        source.write_text("the quick\n" * 50)
    elif format_ == "txt.gz":
        source.write_bytes(gzip.compress(b"the quick\n" * 50))
    else:
        pq.write_table(pa.table({"t": ["the quick"] * 50}), source)
    options: dict[str, Any] = {"columns": ["t"] if format_ == "parquet" else []}

    def stop(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    where = {
        "repack": "deniable.records.jobs.job.repack",
        "streams_to_parquet": "deniable.records.formats.parquet_files.reader.streams_to_parquet",
        "seal": "deniable.records.jobs.journal.Journal.seal",
        "replace": "pathlib.Path.replace",
        "write_whole": "deniable.records.jobs.job.write_whole",
        "card": "deniable.text.card.Card.write",
        "publish": "deniable.records.jobs.job.publish",
        "remove": "deniable.records.jobs.journal.Journal.remove",
    }[stop_at]
    stopped = True
    with monkeypatch.context() as patched:
        patched.setattr(where, stop)
        try:
            privatize_file(noisy, source, target, **options)
            stopped = False
        except KeyboardInterrupt:
            assert target.exists() == (stop_at == "remove")
    monkeypatch.setattr(noisy, "many", stop)  # nothing may be drawn again
    receipt = privatize_file(noisy, source, target, resume=True, **options)
    assert (receipt is None) == (not stopped)
    assert receipt is None or receipt.tally.records == 50
    if format_ == "parquet":
        rows = pq.read_table(target)["t"].to_pylist()
    else:
        rows = (gzip.decompress(target.read_bytes()) if format_ == "txt.gz" else target.read_bytes()).splitlines()
    assert len(rows) == 50
    beside = [target.name + ".receipt.json", target.name + ".card.json"]
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([source.name, target.name, *beside])


def test_a_forced_job_that_was_stopped_may_replace_the_output_when_resumed(
    private: Privatizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, checkpoint_every_batch: None
) -> None:
    (tmp_path / "out.txt").write_text("old")
    source, target = stopped_job(private, tmp_path, monkeypatch, force=True)
    assert target.read_text() == "old"
    assert privatize_file(private, source, target, resume=True) is not None
    assert target.read_bytes() == source.read_bytes()


def test_an_output_that_appeared_meanwhile_is_not_replaced(
    private: Privatizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, checkpoint_every_batch: None
) -> None:
    source, target = stopped_job(private, tmp_path, monkeypatch)
    target.write_text("mine")
    with pytest.raises(RecordError, match="exists already"):
        privatize_file(private, source, target, resume=True)
    assert target.read_text() == "mine"
