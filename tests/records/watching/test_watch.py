"""A watched folder: every file is released once, whole, and when it has stopped changing."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from deniable import Embedding, InvalidParameter, Keyed, Multivariate, Privatizer, RecordError, ResumeError
from deniable.records.formats.layout import Layout, make_layout
from deniable.records.watching.ledger import Entry, Ledger
from deniable.records.watching.watch import LEDGER_NAME, SameContent, Settings, Watch


class Folders:
    """A watched folder, its output, and what was said."""

    def __init__(self, private: Privatizer, root: Path) -> None:
        self.private = private
        self.inbox, self.out = root / "in", root / "out"
        self.inbox.mkdir()
        self.out.mkdir()
        self.lines: list[str] = []
        self.failed = 0

    def look(
        self,
        private: Privatizer | None = None,
        *,
        settle: float = 0.0,
        record_id: str | None = None,
        same_content: SameContent = "skip",
    ) -> int:
        """Look once, as a new process would."""

        def layout_of(path: Path) -> Layout:
            columns = () if path.suffix == ".txt" else ("text",)
            by = None if path.suffix == ".txt" else record_id
            return make_layout(path, format=None, columns=columns, delimiter=None, header=True, encoding="utf-8", record_id=by)

        settings = Settings(settle=settle, same_content=same_content)
        watch = Watch(private or self.private, self.inbox, self.out, layout_of, settings=settings, say=self.lines.append)
        try:
            return watch.look()
        finally:
            self.failed = watch.failed
            watch.close()

    def released(self, name: str) -> str:
        return (self.out / name).read_text()


@pytest.fixture
def folders(private: Privatizer, tmp_path: Path) -> Folders:
    return Folders(private, tmp_path)


@pytest.fixture
def keyed(embedding: Embedding) -> Privatizer:
    return Privatizer(Multivariate(embedding, epsilon=0.5), randomness=Keyed(bytes(32)))


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
    assert {path.name for path in folders.out.iterdir() if path.suffix != ".json"} == {"a.csv", "b.txt", "c.jsonl", "d.txt", LEDGER_NAME}
    assert (folders.out / LEDGER_NAME).stat().st_mode & 0o777 == 0o600


def test_a_file_that_was_just_written_is_left_alone(folders: Folders) -> None:
    path = folders.inbox / "a.txt"
    path.write_text("the fox\n")
    assert folders.look(settle=60) == 0
    os.utime(path, (1_000_000_000, 1_000_000_000))
    assert folders.look(settle=60) == 1


def test_a_file_with_a_time_in_the_future_is_left_alone_until_it_was_seen_not_to_change(folders: Folders) -> None:
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


def test_a_file_that_changes_after_its_release_is_never_drawn_again_with_fresh_noise(folders: Folders, noisy: Privatizer) -> None:
    path = folders.inbox / "a.csv"
    path.write_text("id,text\n1,the fox\n")
    folders.look(noisy)
    before = folders.released("a.csv")
    path.write_text("id,text\n1,the fox\n2,the quick\n")
    assert folders.look(noisy) == 0
    assert folders.released("a.csv") == before
    assert folders.failed == 1
    assert "changed after it was released" in folders.lines[-1]


def test_an_output_that_was_taken_away_does_not_make_a_released_file_new(folders: Folders, noisy: Privatizer) -> None:
    path = folders.inbox / "a.csv"
    path.write_text("id,text\n1,the fox\n")
    assert folders.look(noisy) == 1
    (folders.out / "a.csv").unlink()
    os.utime(path, (1_000_000_000, 1_000_000_000))
    assert folders.look(noisy) == 0
    path.write_text("id,text\n1,the quick\n")
    assert folders.look(noisy) == 0
    assert "changed after it was released" in folders.lines[-1]
    assert not (folders.out / "a.csv").exists()


def test_a_file_that_was_only_touched_is_no_change(folders: Folders) -> None:
    path = folders.inbox / "a.txt"
    path.write_text("the fox\n")
    folders.look()
    os.utime(path, (1, 1))
    assert folders.look() == 0
    assert folders.failed == 0


def test_with_a_key_and_ids_a_changed_file_is_released_again_and_old_records_stay_as_they_were(folders: Folders, keyed: Privatizer) -> None:
    path = folders.inbox / "a.csv"
    path.write_text("id,text\n1,the quick brown fox\n")
    folders.look(keyed, record_id="id")
    before = folders.released("a.csv")
    path.write_text("id,text\n1,the quick brown fox\n2,the quick\n")
    assert folders.look(keyed, record_id="id") == 1
    assert folders.released("a.csv").startswith(before)
    assert len(folders.released("a.csv").splitlines()) == 3
    assert "released a.csv again, by its key: 2 records, 6 words" in folders.lines
    path.write_text("id,text\n1,the fox\n")
    assert folders.look(keyed) == 0, "without ids a key gives other noise to another file"
    assert folders.failed == 1


def test_a_key_that_was_not_used_before_does_not_make_a_changed_file_safe_to_release(
    folders: Folders, noisy: Privatizer, keyed: Privatizer, embedding: Embedding
) -> None:
    path = folders.inbox / "a.csv"
    path.write_text("id,text\n1,the fox\n")
    folders.look(noisy, record_id=None)
    path.write_text("id,text\n1,the fox\n2,the quick\n")
    other = Privatizer(Multivariate(embedding, epsilon=0.25), randomness=Keyed(bytes(32)))
    for private in (keyed, other):
        assert folders.look(private, record_id="id") == 0
        assert "released with other settings or another key" in folders.lines[-1]


@pytest.mark.parametrize("renamed", [True, False])
def test_the_same_content_under_a_new_name_is_not_released_again_with_fresh_noise(
    folders: Folders, noisy: Privatizer, renamed: bool
) -> None:
    path, new = folders.inbox / "b.csv", folders.inbox / "a.csv"
    path.write_text("id,text\n1,the quick brown fox\n")
    assert folders.look(noisy) == 1
    path.rename(new) if renamed else new.write_bytes(path.read_bytes())
    assert folders.look(noisy) == 0
    assert not (folders.out / "a.csv").exists()
    assert "skipped a.csv: its content was released as b.csv" in folders.lines[-1]
    assert folders.failed == 0
    said = len(folders.lines)
    new.rename(folders.inbox / "c.csv")
    assert folders.look(noisy) == 0
    assert "skipped c.csv: its content was released as b.csv" in folders.lines[-1]
    assert folders.look(noisy) == 0
    assert len(folders.lines) == said + 1
    (folders.inbox / "c.csv").write_text("id,text\n1,the quick\n")
    assert folders.look(noisy) == 0
    assert "changed after it was released" in folders.lines[-1]


def test_equal_files_of_different_people_are_released_each_when_the_user_says_so(folders: Folders, noisy: Privatizer) -> None:
    for name in ("a.txt", "b.txt"):
        (folders.inbox / name).write_text("the quick brown fox " * 20 + "\n")
    assert folders.look(noisy) == 1
    assert folders.look(noisy, same_content="release") == 1
    assert folders.released("a.txt") != folders.released("b.txt")
    assert folders.look(noisy, same_content="release") == 0


def test_files_without_a_word_are_released_under_every_name_and_may_grow(folders: Folders, noisy: Privatizer) -> None:
    for name in ("a.csv", "b.csv"):
        (folders.inbox / name).write_text("id,text\n")
    assert folders.look(noisy) == 2
    (folders.inbox / "a.csv").write_text("id,text\n1,the fox\n")
    assert folders.look(noisy) == 1
    (folders.inbox / "a.csv").write_text("id,text\n1,the quick\n")
    assert folders.look(noisy) == 0
    (folders.inbox / "b.csv").write_text("id,text\n1,the fox\n")
    assert folders.look(noisy) == 0
    assert "skipped b.csv: its content was released as a.csv" in folders.lines[-1]


@pytest.mark.parametrize("record_id", [None, "id"])
def test_with_a_key_the_same_content_under_a_new_name_is_released_in_the_same_words(
    folders: Folders, keyed: Privatizer, embedding: Embedding, record_id: str | None
) -> None:
    (folders.inbox / "a.csv").write_text("id,text\n1,the quick brown fox\n")
    assert folders.look(keyed, record_id=record_id) == 1
    (folders.inbox / "a.csv").rename(folders.inbox / "b.csv")
    assert folders.look(keyed, record_id=record_id) == 1
    assert folders.released("b.csv") == folders.released("a.csv")
    (folders.inbox / "b.csv").rename(folders.inbox / "c.csv")
    other = Privatizer(Multivariate(embedding, epsilon=0.5), randomness=Keyed(bytes([1] * 32)))
    assert folders.look(other, record_id=record_id) == 0
    assert "skipped c.csv" in folders.lines[-1]


def test_one_id_in_two_files_is_one_record_equal_words_come_out_equal_and_others_are_drawn_anew(
    folders: Folders, keyed: Privatizer
) -> None:
    text = ["the quick brown fox"] * 20
    other = ["the brown brown fox"] * 20
    (folders.inbox / "a.csv").write_text(f"id,text\n1,{' '.join(text)}\n")
    (folders.inbox / "b.csv").write_text(f"id,text\n1,{' '.join(other)}\n")
    assert folders.look(keyed, record_id="id") == 2
    one, two = (folders.released(name).splitlines()[1].split(",")[1].split() for name in ("a.csv", "b.csv"))
    for place, (first, second) in enumerate(zip(one, two, strict=True)):
        assert place % 4 == 1 or first == second
    assert [one[i] for i in range(1, 80, 4)] != [two[i] for i in range(1, 80, 4)]


def test_one_bad_file_does_not_stop_the_others_and_is_tried_again_once_it_is_mended(folders: Folders) -> None:
    (folders.inbox / "a.csv").write_text("id,review\n1,the fox\n")
    (folders.inbox / "b.csv").write_text("id,text\n1,the fox\n")
    assert folders.look() == 1
    assert folders.failed == 1
    assert folders.lines[0].startswith("failed a.csv: columns = 'text'")
    assert not (folders.out / "a.csv").exists()
    (folders.inbox / "a.csv").write_text("id,text\n1,the quick fox\n")
    assert folders.look() == 1


def test_an_output_of_somebody_else_is_not_touched(folders: Folders) -> None:
    (folders.inbox / "a.txt").write_text("the fox\n")
    (folders.out / "a.txt").write_text("mine\n")
    assert folders.look() == 0
    assert folders.released("a.txt") == "mine\n"
    assert "exists and was not released from here" in folders.lines[0]


@pytest.fixture
def stop_at(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[int], None]]:
    """Make the watch die at one of the two moments at which the ledger is written."""

    def arrange(moment: int) -> None:
        record, count = Ledger.record, 0

        def killed(ledger: Ledger, entry: Entry) -> None:
            nonlocal count
            count += 1
            if count == moment:
                raise KeyboardInterrupt
            record(ledger, entry)

        monkeypatch.setattr(Ledger, "record", killed)

    yield arrange
    monkeypatch.undo()


@pytest.mark.parametrize("moment", [1, 2])
def test_cut_off_at_any_moment_a_file_is_still_released_exactly_once(
    folders: Folders, noisy: Privatizer, stop_at: Callable[[int], None], monkeypatch: pytest.MonkeyPatch, moment: int
) -> None:
    (folders.inbox / "a.txt").write_text("the quick brown fox " * 20)
    stop_at(moment)
    with pytest.raises(KeyboardInterrupt):
        folders.look(noisy)
    monkeypatch.undo()
    before = folders.released("a.txt") if moment == 2 else None
    assert folders.look(noisy) == 1
    assert before is None or folders.released("a.txt") == before
    assert folders.look(noisy) == 0


def test_cut_off_after_the_output_was_there_a_change_is_still_noticed(
    folders: Folders, noisy: Privatizer, stop_at: Callable[[int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = folders.inbox / "a.txt"
    path.write_text("the quick brown fox\n")
    stop_at(2)
    with pytest.raises(KeyboardInterrupt):
        folders.look(noisy)
    monkeypatch.undo()
    path.write_text("the quick brown fox again\n")
    assert folders.look(noisy) == 0
    assert "changed after it was released" in folders.lines[-1]


@pytest.mark.parametrize("moment", [1, 2])
def test_a_file_that_was_empty_at_first_is_released_exactly_once_wherever_it_is_cut_off(
    folders: Folders, noisy: Privatizer, stop_at: Callable[[int], None], monkeypatch: pytest.MonkeyPatch, moment: int
) -> None:
    path = folders.inbox / "a.csv"
    path.write_text("id,text\n")
    folders.look(noisy)
    path.write_text("id,text\n1,the quick brown fox\n")
    stop_at(moment)
    with pytest.raises(KeyboardInterrupt):
        folders.look(noisy)
    monkeypatch.undo()
    before = folders.released("a.csv") if moment == 2 else None
    assert folders.look(noisy) == 1
    assert before is None or folders.released("a.csv") == before
    assert len(folders.released("a.csv").splitlines()) == 2
    assert folders.look(noisy) == 0


@pytest.mark.parametrize("published", [True, False])
def test_cut_off_and_renamed_the_content_is_still_released_exactly_once(
    folders: Folders, noisy: Privatizer, stop_at: Callable[[int], None], monkeypatch: pytest.MonkeyPatch, published: bool
) -> None:
    path = folders.inbox / "b.txt"
    path.write_text("the quick brown fox " * 20)
    stop_at(2)
    with pytest.raises(KeyboardInterrupt):
        folders.look(noisy)
    monkeypatch.undo()
    if not published:
        (folders.out / "b.txt").rename(folders.out / "b.txt.partial")
    (folders.inbox / "a.txt").write_bytes(path.read_bytes())
    # Taken up first, the copy is released unless b.txt is out already; then b.txt is not, and what was left of it is removed.
    assert folders.look(noisy) == 1
    assert {path.name for path in folders.out.glob("*.txt*") if path.suffix != ".json"} == {"b.txt" if published else "a.txt"}
    assert folders.look(noisy) == 0


def test_wrong_folders_and_a_second_watch_are_refused(folders: Folders, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def watch(folder: Path, out: Path, settle: float = 0.0) -> Watch:
        return Watch(folders.private, folder, out, lambda path: Layout(format="text"), settings=Settings(settle=settle), say=print)

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


def test_a_file_that_becomes_a_copy_of_one_released_under_another_key_is_not_drawn_again(
    folders: Folders, keyed: Privatizer, embedding: Embedding
) -> None:
    (folders.inbox / "a.csv").write_text("id,text\n1,the fox\n")
    assert folders.look(keyed, record_id="id") == 1
    other = Privatizer(Multivariate(embedding, epsilon=0.5), randomness=Keyed(bytes([1] * 32)))
    (folders.inbox / "b.csv").write_text("id,text\n2,the quick\n")
    assert folders.look(other, record_id="id") == 1
    (folders.inbox / "b.csv").write_text("id,text\n1,the fox\n")
    before = folders.released("b.csv")
    assert folders.look(other, record_id="id") == 0
    assert folders.failed == 1
    assert "was released as a.csv with other settings or another key" in folders.lines[-1]
    assert folders.released("b.csv") == before


def test_an_event_that_a_full_disk_cut_short_does_not_damage_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def half(descriptor: int, data: bytes) -> int:
        return write(descriptor, data[: len(data) // 2])

    write, entries = os.write, [Entry(name=name, size=1, time=1) for name in ("a", "b")]
    with Ledger(tmp_path / "ledger") as ledger:
        monkeypatch.setattr(os, "write", half)
        with pytest.raises(OSError, match="No space"):
            ledger.record(entries[0])
        monkeypatch.undo()
        ledger.record(entries[1])
    with Ledger(tmp_path / "ledger") as ledger:
        assert ledger.find("a") is None
        assert ledger.find("b") == entries[1]
