"""Whoever may write into a watched folder or beside the released files cannot make a watch read or write
elsewhere."""

from __future__ import annotations

import json
import os
import signal
import stat
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deniable import Privatizer, RecordError, ResumeError
from deniable.compression import ENDINGS, compress
from deniable.records import privatize_file
from deniable.records.formats.opening import open_source
from deniable.records.journal import Journal, Partial
from deniable.records.ledger import Ledger, LedgerEntry
from deniable.records.watch import LEDGER_NAME, Watch
from tests.records.watched_folders import Folders

SECRET = "id,text\n7,outside secret\n"


@pytest.fixture(autouse=True)
def _nothing_waits() -> Iterator[None]:
    """A pipe that is opened without care would be waited for without end."""

    def too_late(*_: object) -> None:
        pytest.fail(
            "waited for the other end of a pipe"
        )  # which is no Exception: a watch takes an OSError for one file's failure

    before = signal.signal(signal.SIGALRM, too_late)
    signal.alarm(600)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    path = tmp_path / "outside.csv"
    path.write_text(SECRET)
    return path


def after_listing(monkeypatch: pytest.MonkeyPatch, swap: Callable[[], None]) -> None:
    """Do something in the moment between the listing of the folder and the opening of a file."""

    def settled(*_: object) -> bool:
        swap()
        return True

    monkeypatch.setattr(Watch, "_settled", settled)


def as_link(path: Path, outside: Path) -> None:
    path.unlink()
    path.symlink_to(outside)


def as_pipe(path: Path, outside: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def as_other(path: Path, outside: Path) -> None:
    """Another file of the same size and time: only its number tells."""
    about = path.stat()
    (path.parent / ".other").write_text(SECRET[: about.st_size].ljust(about.st_size))
    os.utime(path.parent / ".other", ns=(about.st_atime_ns, about.st_mtime_ns))
    (path.parent / ".other").replace(path)


def as_grown(path: Path, outside: Path) -> None:
    with path.open("a") as file:
        file.write("2,more\n")


@pytest.mark.parametrize("swap", [as_link, as_pipe, as_other, as_grown])
def test_what_was_swapped_after_the_listing_is_not_read(
    folders: Folders, outside: Path, monkeypatch: pytest.MonkeyPatch, swap: Callable[[Path, Path], None]
) -> None:
    path = folders.inbox / "a.csv"
    path.write_text("id,text\n1,the fox\n")
    with monkeypatch.context() as patched:
        after_listing(patched, lambda: swap(path, outside))
        assert folders.look() == 0
    assert [name.name for name in folders.out.iterdir()] == [LEDGER_NAME]
    assert folders.failed == 1
    assert "is not the file any more" in folders.lines[0] or "changed while" in folders.lines[0]
    assert folders.look() == (swap in (as_other, as_grown)), (
        "what is a file is read at the next look, as what it is then"
    )


def as_nothing(path: Path, outside: Path) -> None:
    path.unlink()


def write_records(path: Path, *, note: str) -> None:
    """Write two records in the format that the name says; the texts in the lists of Parquet are long, and
    read in a way of their own."""
    if path.suffix == ".parquet":
        lists = [[note, "x" * 5_000, note], [note * 30] * 9]
        pq.write_table(
            pa.table({"note": [note, note], "text": ["the fox", "the"], "list": lists}),
            path,
            row_group_size=1,
        )
        return
    rows = (
        [json.dumps({"note": note, "text": "the fox"})] * 2
        if ".jsonl" in path.name
        else ["note,text", f"{note},the fox", f"{note},the"]
    )
    path.write_bytes(compress("\n".join([*rows, ""]).encode(), ENDINGS.get(path.suffix)))


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "a.jsonl", "a.jsonl.zst", "a.parquet"])
@pytest.mark.parametrize("swap", [as_link, as_pipe, as_nothing])
def test_a_file_is_read_from_what_was_opened_and_never_by_its_name_again(
    folders: Folders,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    swap: Callable[[Path, Path], None],
    name: str,
) -> None:
    path, elsewhere = folders.inbox / name, tmp_path / f"elsewhere{Path(name).suffix}"
    write_records(path, note="inside")
    write_records(elsewhere, note="o-u-t-s-i-d-e")
    monkeypatch.setattr("deniable.records.formats.parquet.BYTES_AT_ONCE", 2_000)

    def digest_of(*arguments: Any) -> str:
        swap(path, elsewhere)
        return "0" * 32

    monkeypatch.setattr("deniable.records.watch.settings_digest", digest_of)
    assert folders.look() == 1, folders.lines
    made = folders.out / name
    if made.suffix == ".parquet":
        assert pq.read_table(made)["list"].to_pylist() == [
            ["inside", "x" * 5_000, "inside"],
            ["inside" * 30] * 9,
        ]
    with open_source(made) as source:
        content = b"".join(source.chunks())
    assert b"inside" in content
    assert b"o-u-t" not in content


@pytest.mark.parametrize("ending", ["", ".partial", ".journal", ".finishing", ".receipt.json", ".card.json"])
@pytest.mark.parametrize("there", [True, False])
def test_nothing_is_written_through_a_link_beside_the_released_files(
    folders: Folders, outside: Path, ending: str, there: bool, tmp_path: Path
) -> None:
    (folders.inbox / "a.csv").write_text("id,text\n1,the fox\n")
    link, linked = folders.out / f"a.csv{ending}", outside if there else tmp_path / "not there"
    link.symlink_to(linked)
    assert folders.look() == 0
    assert folders.failed == 1
    assert "is a link, and nothing is written through links" in folders.lines[0]
    assert outside.read_text() == SECRET
    assert not (tmp_path / "not there").exists()
    assert link.is_symlink()
    link.unlink()
    assert folders.look() == 1


def test_a_link_that_comes_while_a_file_is_released_is_replaced_and_not_followed(
    folders: Folders, outside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folders.inbox / "a.csv").write_text("id,text\n1,the fox\n")
    append = Partial.append

    def append_and_link(partial: Partial, data: bytes) -> None:
        (folders.out / "a.csv").symlink_to(outside)
        append(partial, data)

    monkeypatch.setattr(Partial, "append", append_and_link)
    folders.look()
    assert outside.read_text() == SECRET
    assert folders.released("a.csv") == "id,text\n1,the fox\n"
    assert not (folders.out / "a.csv").is_symlink()


def test_a_partial_file_that_was_swapped_for_a_link_is_neither_published_nor_made_readable(
    private: Privatizer, tmp_path: Path, outside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside.chmod(0o600)
    (tmp_path / "in.csv").write_text("id,text\n1,the fox\n")
    add = Journal.add

    def add_and_swap(opened: Journal, /, **entry: Any) -> None:
        add(opened, **entry)
        if "complete" in entry:
            as_link(tmp_path / "out.csv.partial", outside)

    monkeypatch.setattr(Journal, "add", add_and_swap)
    with pytest.raises(OSError, match="symbolic link"):
        privatize_file(private, tmp_path / "in.csv", tmp_path / "out.csv", columns=["text"])
    assert not (tmp_path / "out.csv").exists()
    assert stat.S_IMODE(outside.stat().st_mode) == 0o600


def test_a_pipe_under_the_name_of_the_partial_file_is_not_waited_for(
    private: Privatizer, tmp_path: Path
) -> None:
    (tmp_path / "in.csv").write_text("id,text\n1,the fox\n")
    os.mkfifo(tmp_path / "out.csv.partial")
    with pytest.raises(ResumeError, match="is there from an earlier run"):
        privatize_file(private, tmp_path / "in.csv", tmp_path / "out.csv", columns=["text"])
    assert (
        privatize_file(private, tmp_path / "in.csv", tmp_path / "out.csv", columns=["text"], force=True)
        is not None
    )


@pytest.mark.parametrize("swap", [as_link, as_pipe])
def test_a_ledger_is_a_file_and_nothing_else(
    folders: Folders, outside: Path, swap: Callable[[Path, Path], None]
) -> None:
    (folders.out / LEDGER_NAME).write_text("")
    swap(folders.out / LEDGER_NAME, outside)
    with pytest.raises(RecordError, match="is a link or a pipe"):
        folders.look()


def test_a_ledger_that_everybody_can_read_is_made_private(folders: Folders) -> None:
    (folders.out / LEDGER_NAME).touch()
    (folders.out / LEDGER_NAME).chmod(0o644)
    folders.look()
    assert stat.S_IMODE((folders.out / LEDGER_NAME).stat().st_mode) == 0o600


def test_a_journal_and_a_partial_file_that_everybody_can_read_are_made_private(
    private: Privatizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("deniable.records.job.SECONDS_BETWEEN_CHECKPOINTS", 0.0)
    monkeypatch.setattr("deniable.records.formats.reader._RECORDS_AT_ONCE", 1)
    (tmp_path / "in.txt").write_text("the\nfox\nfox\n")
    modes: list[set[int]] = []
    append = Partial.append

    def stop_at_third(partial: Partial, data: bytes) -> None:
        modes.append({stat.S_IMODE(path.stat().st_mode) for path in tmp_path.glob("out.txt.*")})
        if len(modes) == 2:
            raise KeyboardInterrupt
        append(partial, data)

    monkeypatch.setattr(Partial, "append", stop_at_third)
    (tmp_path / "out.txt.journal").touch()
    (tmp_path / "out.txt.journal").chmod(0o644)
    with pytest.raises(KeyboardInterrupt):
        privatize_file(private, tmp_path / "in.txt", tmp_path / "out.txt")
    for path in tmp_path.glob("out.txt.*"):
        path.chmod(0o644)
    privatize_file(private, tmp_path / "in.txt", tmp_path / "out.txt", resume=True)
    assert len(modes) > 2
    assert set().union(*modes) == {0o600}


@pytest.mark.parametrize(
    "name", ["a\x1b[2J.csv", "a\u202ecsv.exe.csv", "a\nreleased b.csv", "a\u2028.csv", "a.\x1b"]
)
def test_names_of_files_are_shown_escaped(folders: Folders, name: str) -> None:
    (folders.inbox / name).write_text("id,text\n1,the fox\n")
    (folders.inbox / f"bad {name}").write_text("id,other\n1,the fox\n")
    folders.look()
    assert len(folders.lines) == 2
    for line in folders.lines:
        assert line.isprintable(), ascii(line)
    assert ascii(name)[1:-1] in "".join(folders.lines)


def test_the_ledger_does_not_tell_the_size_of_a_file_by_its_own(tmp_path: Path) -> None:
    lengths = set()
    for size in (0, 7, 10**6, 2**63):
        with closing(Ledger(tmp_path / f"ledger{size}")) as ledger:
            ledger.record(
                LedgerEntry(name="a.csv", size=size, time=1_700_000_000_000_000_000, digest="0" * 32)
            )
        lengths.add((tmp_path / f"ledger{size}").stat().st_size)
        with closing(Ledger(tmp_path / f"ledger{size}")) as ledger:
            entry = ledger.find("a.csv")
        assert entry is not None
        assert entry.size == size
    assert len(lengths) == 1
