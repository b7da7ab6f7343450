"""A watched folder: every file is released once, whole, and when it has stopped changing."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path

import pytest

from deniable import InvalidParameter, Privatizer, RecordError, ResumeError
from deniable.atomic import beside, publish
from deniable.records.formats.layout import Layout
from deniable.records.ledger import Ledger, LedgerEntry
from deniable.records.watch import LEDGER_NAME, Watch
from deniable.release.card import read_card
from tests.records.watched_folders import Folders
from tests.records.watching.conftest import DieAt


def test_new_files_of_every_kind_are_released_once(folders: Folders) -> None:
    (folders.inbox / "a.csv").write_text("id,text\n1,the fox\n")
    (folders.inbox / "b.txt").write_text("the quick fox\n")
    (folders.inbox / "c.jsonl").write_text('{"text": "the fox"}\n')
    assert folders.look() == 3
    assert folders.released("a.csv") == "id,text\n1,the fox\n"
    assert "released a.csv: 1 records, 2 words" in folders.lines
    (folders.inbox / "d.txt").write_text("fox\n")
    assert folders.look() == 1
    assert folders.look() == 0
    assert {path.name for path in folders.out.iterdir() if path.suffix != ".json"} == {
        "a.csv",
        "b.txt",
        "c.jsonl",
        "d.txt",
        LEDGER_NAME,
    }
    assert (folders.out / LEDGER_NAME).stat().st_mode & 0o777 == 0o600


def test_every_released_file_has_its_own_card_which_is_there_when_the_output_is(
    folders: Folders, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folders.inbox / "a.csv").write_text("id,text\n1,the fox\n")
    (folders.inbox / "b.txt").write_text("the quick fox and a stranger\n")
    seen: list[bool] = []

    def noted(finished: Path, target: Path) -> None:
        seen.append(beside(target, ".card.json").exists())
        publish(finished, target)

    monkeypatch.setattr("deniable.records.job.publish", noted)
    assert folders.look() == 2
    assert seen == [True, True]
    assert read_card(folders.out / "a.csv.card.json") == folders.private.card.for_columns(["text"])
    assert read_card(folders.out / "b.txt.card.json") == folders.private.card
    assert (folders.out / "a.csv.card.json").stat().st_mode == (folders.out / "a.csv").stat().st_mode


def test_a_file_without_words_that_grew_replaces_its_card_too(folders: Folders) -> None:
    (folders.inbox / "a.txt").write_text("\n")
    assert folders.look() == 1
    (folders.inbox / "a.txt").write_text("the fox\n")
    assert folders.look() == 1
    assert folders.released("a.txt") == "the fox\n"
    assert read_card(folders.out / "a.txt.card.json") == folders.private.card


def test_a_file_that_was_just_written_is_left_alone(folders: Folders) -> None:
    path = folders.inbox / "a.txt"
    path.write_text("the fox\n")
    assert folders.look(settle=60) == 0
    os.utime(path, (1_000_000_000, 1_000_000_000))
    assert folders.look(settle=60) == 1


def test_a_file_with_a_time_in_the_future_is_left_alone_until_it_was_seen_not_to_change(
    folders: Folders,
) -> None:
    path = folders.inbox / "a.txt"
    path.write_text("the fox\n")
    os.utime(path, (4_000_000_000, 4_000_000_000))
    assert folders.look(settle=60) == 0


def test_temporary_and_strange_files_are_skipped(folders: Folders) -> None:
    for name in (".hidden.txt", "a.txt~", "a.csv.tmp", "a.csv.partial", "b.xyz"):
        (folders.inbox / name).write_text("the\n")
    (folders.inbox / "folder.txt").mkdir()
    (folders.inbox / "link.txt").symlink_to(folders.inbox / "b.xyz")
    assert folders.look() == 0
    assert folders.lines == ["skipped b.xyz: its name does not say a format"]
    assert folders.failed == 0


@pytest.mark.parametrize("with_receipt", [True, False])
def test_an_output_of_somebody_else_is_not_taken_for_the_release_of_a_file_that_failed(
    folders: Folders, with_receipt: bool
) -> None:
    (folders.inbox / "a.txt").write_bytes(b"\xff\xfe\xfa\n")
    assert folders.look() == 0
    assert "failed a.txt" in folders.lines[-1]
    (folders.out / "a.txt").write_text("raw secret text\n")
    if with_receipt:
        (folders.out / "a.txt.receipt.json").write_text(folders.private.receipt().to_json())
    assert folders.look() == 0
    assert folders.failed == 1
    assert "exists and was not released from here" in folders.lines[-1]
    (folders.inbox / "a.txt").write_text("the fox\n")
    assert folders.look() == 0, "mended, it does not take the place of what is there either"
    assert folders.released("a.txt") == "raw secret text\n"


@pytest.mark.parametrize("moment", [1, 2, 3])
def test_cut_off_at_any_moment_a_file_is_still_released_exactly_once(
    folders: Folders, noisy: Privatizer, die_at: DieAt, moment: int
) -> None:
    (folders.inbox / "a.txt").write_text("the quick brown fox " * 20)
    die_at(moment, noisy)
    before = folders.released("a.txt") if moment == 3 else None
    assert folders.look(noisy) == 1
    assert before is None or folders.released("a.txt") == before
    assert folders.look(noisy) == 0


def test_cut_off_and_restarted_with_other_settings_what_is_out_is_not_taken_for_their_release(
    folders: Folders, noisy: Privatizer, private: Privatizer, die_at: DieAt
) -> None:
    (folders.inbox / "a.csv").write_text("text,name\nthe quick brown fox,SECRET alice\n")
    die_at(3, noisy)
    folders.columns = ("text", "name")
    assert folders.look(noisy) == 0
    assert folders.failed == 1
    assert "a.csv: is finished, by another job" in folders.lines[-1]
    folders.columns = ("text",)
    assert folders.look(noisy) == 1


@pytest.mark.parametrize("edited", [True, False])
@pytest.mark.parametrize("taken", [("", ".receipt.json"), ("",), (".receipt.json",)])
def test_an_output_taken_away_before_its_release_was_entered_is_never_drawn_again(
    folders: Folders, noisy: Privatizer, die_at: DieAt, taken: tuple[str, ...], edited: bool
) -> None:
    path = folders.inbox / "a.txt"
    path.write_text("the quick brown fox " * 20)
    die_at(3, noisy)
    released, about = folders.released("a.txt"), path.stat()
    for ending in taken:
        (folders.out / f"a.txt{ending}").rename(folders.inbox.parent / f"taken{ending}")
    if edited:
        path.write_text("the quick brown fox again")
    assert folders.look(noisy) == 0
    assert folders.failed == 1
    assert f"a.txt{taken[0]}: is gone, and the release of a.txt was not entered yet" in folders.lines[-1]
    (folders.inbox / "b.txt").write_text("the quick brown fox " * 20)
    assert folders.look(noisy) == 0
    assert "skipped b.txt: its content was released as a.txt" in folders.lines[-1]
    if not edited:
        for ending in taken:
            (folders.inbox.parent / f"taken{ending}").rename(folders.out / f"a.txt{ending}")
        assert path.stat().st_mtime_ns == about.st_mtime_ns
        assert folders.look(noisy) == 1
        assert folders.failed == 0
        assert folders.released("a.txt") == released


def test_content_that_was_out_before_it_was_entered_is_remembered_after_the_file_changed(
    folders: Folders, keyed: Privatizer, noisy: Privatizer, die_at: DieAt
) -> None:
    path = folders.inbox / "a.csv"
    path.write_text("id,text\n1,the quick brown fox\n")
    die_at(3, keyed, record_id="id")
    path.write_text("id,text\n1,the quick brown fox\n2,the quick\n")
    assert folders.look(keyed, record_id="id") == 1
    (folders.inbox / "b.csv").write_text("id,text\n1,the quick brown fox\n")
    assert folders.look(noisy) == 0
    assert "skipped b.csv: its content was released as a.csv" in folders.lines[-1]


def test_cut_off_after_the_output_was_there_a_change_is_still_noticed(
    folders: Folders, noisy: Privatizer, die_at: DieAt
) -> None:
    path = folders.inbox / "a.txt"
    path.write_text("the quick brown fox\n")
    die_at(3, noisy)
    path.write_text("the quick brown fox again\n")
    assert folders.look(noisy) == 0
    assert "changed after it was released" in folders.lines[-1]


@pytest.mark.parametrize("moment", [1, 2, 3])
def test_a_file_that_was_empty_at_first_is_released_exactly_once_wherever_it_is_cut_off(
    folders: Folders, noisy: Privatizer, die_at: DieAt, moment: int
) -> None:
    path = folders.inbox / "a.csv"
    path.write_text("id,text\n")
    folders.look(noisy)
    path.write_text("id,text\n1,the quick brown fox\n")
    die_at(moment, noisy)
    before = folders.released("a.csv") if moment == 3 else None
    assert folders.look(noisy) == 1
    assert before is None or folders.released("a.csv") == before
    assert len(folders.released("a.csv").splitlines()) == 2
    assert folders.look(noisy) == 0


@pytest.mark.parametrize("published", [True, False])
def test_cut_off_and_renamed_the_content_is_still_released_exactly_once(
    folders: Folders, noisy: Privatizer, die_at: DieAt, published: bool
) -> None:
    path = folders.inbox / "b.txt"
    path.write_text("the quick brown fox " * 20)
    die_at(3 if published else 2, noisy)
    (folders.inbox / "a.txt").write_bytes(path.read_bytes())
    # Taken up first, the copy is released unless b.txt is out already; then b.txt is not, and what was left
    # of it is removed.
    assert folders.look(noisy) == 1
    assert {path.name for path in folders.out.glob("*.txt*") if path.suffix != ".json"} == {
        "b.txt" if published else "a.txt"
    }
    assert folders.look(noisy) == 0


def test_wrong_folders_and_a_second_watch_are_refused(
    folders: Folders, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def watch(folder: Path, out: Path, settle: float = 0.0) -> Watch:
        return Watch(
            folders.private, folder, out, lambda path: Layout(format="text"), settle=settle, say=print
        )

    with pytest.raises(RecordError, match="not a folder"):
        watch(tmp_path / "absent", folders.out)
    with pytest.raises(RecordError, match="the watched folder itself"):
        watch(folders.inbox, folders.inbox)
    with pytest.raises(InvalidParameter, match="settle"):
        watch(folders.inbox, folders.out, settle=float("nan"))
    with pytest.raises(InvalidParameter, match="same_content"):
        folders.look(same_content="keep")  # type: ignore[arg-type]
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    first = watch(folders.inbox, folders.out)
    with pytest.raises(ResumeError, match="another process is watching"):
        watch(folders.inbox, folders.out)
    first.close()
    watch(folders.inbox, folders.out).close()


def test_a_damaged_ledger_stops_everything_and_a_line_cut_short_does_not(folders: Folders) -> None:
    (folders.inbox / "a.txt").write_text("the fox\n")
    folders.look()
    with (folders.out / LEDGER_NAME).open("a") as file:
        file.write('{"name": "b.t')
    assert folders.look() == 0
    (folders.out / LEDGER_NAME).write_text("something else\n")
    with pytest.raises(RecordError, match=r"line 1: is damaged.*released twice"):
        folders.look()


def test_an_event_that_a_full_disk_cut_short_does_not_damage_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def half(descriptor: int, data: bytes) -> int:
        return write(descriptor, data[: len(data) // 2])

    write, entries = os.write, [LedgerEntry(name=name, size=1, time=1) for name in ("a", "b")]
    with closing(Ledger(tmp_path / "ledger")) as ledger:
        monkeypatch.setattr(os, "write", half)
        with pytest.raises(OSError, match="No space"):
            ledger.record(entries[0])
        monkeypatch.undo()
        ledger.record(entries[1])
    with closing(Ledger(tmp_path / "ledger")) as ledger:
        assert ledger.find("a") is None
        assert ledger.find("b") == entries[1]
