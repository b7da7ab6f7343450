"""A watched folder in which something fails: it is said once, tried again, and released once and whole when
it can be."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from deniable import Embedding, Keyed, Multivariate, Privatizer
from deniable.atomic import publish
from deniable.records.formats.layout import Layout, Roles, make_layout
from deniable.records.formats.source import FileSource
from deniable.records.journal import Journal
from deniable.records.ledger import Ledger, LedgerEntry
from deniable.records.watch import Watch

ROLES = Roles(text=("text",), keep=("id",))

TEXT = "id,text\n1,the quick brown fox the quick brown fox\n"


class Watched:
    """A watch that goes on, with what it said, what it read and a clock that passes when it is told to."""

    def __init__(self, private: Privatizer, root: Path) -> None:
        self.inbox, self.out = root / "in", root / "out"
        self.inbox.mkdir()
        self.out.mkdir()
        self.said: list[str] = []
        self.warned: list[str] = []
        self.read: list[str] = []
        self.now = 1000.0
        self._private = private
        self._watch: Watch | None = None

    @property
    def watch(self) -> Watch:
        if self._watch is None:
            say, warn = self.said.append, self.warned.append
            self._watch = Watch(self._private, self.inbox, self.out, layout_of, settle=0, say=say, warn=warn)
        return self._watch

    def look(self, *, after: float = 0.0) -> int:
        self.now += after
        return self.watch.look()

    def stop(self) -> None:
        """End the watch; the next look is that of a new process."""
        if self._watch is not None:
            self._watch.close()
            self._watch = None


def layout_of(path: Path) -> Layout:
    return make_layout(path, roles=ROLES, record_id=None)


@pytest.fixture
def watched(noisy: Privatizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Watched]:
    watched = Watched(noisy, tmp_path)

    def digest(source: FileSource) -> str | None:
        watched.read.append(Path(source.name).name)
        return original(source)

    original = FileSource.digest
    monkeypatch.setattr(FileSource, "digest", digest)
    monkeypatch.setattr("deniable.records.watch.monotonic", lambda: watched.now)
    yield watched
    watched.stop()


def full_disk(*_: object, **__: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.fixture
def ledger_is_full(monkeypatch: pytest.MonkeyPatch) -> Callable[[bool], None]:
    """Make the ledger refuse to say that a release is complete, or not."""
    original = Ledger.record

    def record(ledger: Ledger, entry: LedgerEntry) -> None:
        if entry.released:
            full_disk()
        original(ledger, entry)

    return lambda full: monkeypatch.setattr(Ledger, "record", record if full else original)


@pytest.mark.parametrize("ending", ["", ".receipt.json", ".card.json"])
@pytest.mark.parametrize("restart", [True, False])
def test_once_what_was_in_the_way_is_moved_away_the_file_is_released_at_the_next_look(
    watched: Watched, ending: str, restart: bool
) -> None:
    (watched.inbox / "r.csv").write_text(TEXT)
    in_the_way = watched.out / f"r.csv{ending}"
    in_the_way.write_text("mine\n")
    assert [watched.look(after=2) for _ in range(20)] == [0] * 20
    assert len(watched.warned) == 1
    assert f"{in_the_way}: exists and was not released from here; move it away" in watched.warned[0]
    assert watched.watch.failed == 1
    assert watched.read == [], "that it is in the way is found without reading the file"
    assert in_the_way.read_text() == "mine\n"
    in_the_way.unlink()
    if restart:
        watched.stop()
    assert watched.look() == 1, "at once, and not after a pause"
    assert watched.said == ["released r.csv: 1 records, 8 words"]
    assert watched.watch.failed == 0
    released = (watched.out / "r.csv").read_bytes()
    assert watched.look(after=100) == 0
    assert (watched.out / "r.csv").read_bytes() == released


def test_a_file_that_can_never_be_released_is_said_once_and_read_seldom(watched: Watched) -> None:
    (watched.inbox / "a.csv").write_text("id,review\n1,the fox\n")
    for _ in range(300):  # ten minutes
        assert watched.look(after=2) == 0
    assert len(watched.warned) == 1
    assert watched.warned[0].startswith("failed a.csv: columns = 'text'")
    assert 10 <= len(watched.read) <= 16, "after 1, 2, 4, 8, 16, 32 seconds, then once a minute"
    (watched.inbox / "a.csv").write_text(TEXT)
    assert watched.look() == 1, "a file that was mended does not rest"


@pytest.mark.parametrize("restart", [True, False])
def test_a_disk_that_was_full_is_no_reason_to_draw_again_what_was_drawn(
    watched: Watched, monkeypatch: pytest.MonkeyPatch, restart: bool
) -> None:
    (watched.inbox / "r.csv").write_text(TEXT * 50)
    monkeypatch.setattr("deniable.records.job.publish", full_disk)
    assert [watched.look(after=60) for _ in range(3)] == [0, 0, 0]
    assert len(watched.warned) == 1
    assert "No space left" in watched.warned[0]
    assert not (watched.out / "r.csv").exists()
    drawn = (watched.out / "r.csv.partial").read_bytes()
    monkeypatch.setattr("deniable.records.job.publish", publish)
    if restart:
        watched.stop()
    assert watched.look(after=60) == 1
    assert (watched.out / "r.csv").read_bytes() == drawn
    assert len(watched.said) == 1
    assert len(watched.warned) == 1
    assert watched.look(after=60) == 0
    assert sorted(path.name for path in watched.out.iterdir()) == [
        ".deniable-watch",
        "r.csv",
        "r.csv.card.json",
        "r.csv.receipt.json",
    ]


def test_another_reason_is_said_and_the_same_one_again_for_a_file_that_changed(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = watched.inbox / "a.csv"
    path.write_text("id,review\n1,the fox\n")
    watched.look()
    path.write_text("id,review\n1,the quick fox\n")
    watched.look()
    watched.look(after=60)
    assert len(watched.warned) == 2
    monkeypatch.setattr("deniable.records.watch.open_source", full_disk)
    watched.look(after=60)
    watched.look(after=60)
    assert len(watched.warned) == 3
    assert "No space left" in watched.warned[2]
    path.unlink()
    watched.look()
    assert watched.watch.failed == 0


def test_one_file_that_fails_does_not_hold_up_the_others(watched: Watched) -> None:
    (watched.inbox / "a.csv").write_text("id,review\n1,the fox\n")
    (watched.inbox / "b.csv").write_text(TEXT)
    assert watched.look() == 1
    (watched.inbox / "c.csv").write_text("id,text\n1,the fox\n")
    assert watched.look() == 1
    assert (watched.said, len(watched.warned)) == (
        ["released b.csv: 1 records, 8 words", "released c.csv: 1 records, 2 words"],
        1,
    )


def test_a_file_that_failed_is_still_recognised_by_its_content_when_it_is_tried_again(
    watched: Watched,
) -> None:
    (watched.inbox / "a.csv").write_text(TEXT)
    (watched.inbox / "b.csv").write_text(TEXT)
    (watched.out / "a.csv").write_text("mine\n")
    assert watched.look() == 1
    (watched.out / "a.csv").unlink()
    assert watched.look() == 0
    assert "skipped a.csv: its content was released as b.csv" in watched.warned[-1]
    assert watched.watch.failed == 0
    assert not (watched.out / "a.csv").exists()


@pytest.mark.parametrize("restart", [True, False])
def test_a_release_that_the_ledger_could_not_take_is_entered_later_and_never_drawn_again(
    watched: Watched, ledger_is_full: Callable[[bool], None], restart: bool
) -> None:
    (watched.inbox / "a.csv").write_text(TEXT)
    ledger_is_full(True)
    assert watched.look() == 0
    released = (watched.out / "a.csv").read_bytes()
    assert (watched.said, len(watched.warned), watched.watch.failed) == ([], 1, 1)
    ledger_is_full(False)
    if restart:
        watched.stop()
    assert watched.look(after=60) == 1
    assert watched.said[0].startswith("released a.csv")
    assert watched.watch.failed == 0
    assert watched.look(after=60) == 0
    assert (watched.out / "a.csv").read_bytes() == released


def test_what_the_ledger_could_not_take_is_not_drawn_again_even_if_everything_made_is_taken_away(
    watched: Watched, ledger_is_full: Callable[[bool], None]
) -> None:
    path = watched.inbox / "a.csv"
    path.write_text(TEXT)
    ledger_is_full(True)
    watched.look()
    for made in watched.out.glob("a.csv*"):
        made.unlink()
    path.rename(watched.inbox / "b.csv")
    for full in (True, True, False):
        ledger_is_full(full)
        assert watched.look(after=60) == 0
    assert watched.said == []
    assert "skipped b.csv: its content was released as a.csv" in watched.warned[-1]
    assert list(watched.out.glob("*.csv*")) == []


def test_a_keyed_file_that_changed_and_failed_is_released_again_when_it_can_be(
    embedding: Embedding, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def by_id(path: Path) -> Layout:
        return make_layout(path, roles=ROLES, record_id="id")

    inbox, out = tmp_path / "in", tmp_path / "out"
    inbox.mkdir()
    out.mkdir()
    lines: list[str] = []
    now = 1000.0
    monkeypatch.setattr("deniable.records.watch.monotonic", lambda: now)
    private = Privatizer(Multivariate(embedding, epsilon=0.5), randomness=Keyed(bytes(32)))
    watch = Watch(private, inbox, out, by_id, settle=0, say=lines.append)
    (inbox / "a.csv").write_text(TEXT)
    assert watch.look() == 1
    before = (out / "a.csv").read_text()
    (inbox / "a.csv").write_text(TEXT + "2,the fox\n")
    monkeypatch.setattr("deniable.records.job.publish", full_disk)
    assert watch.look() == 0
    assert (out / "a.csv").read_text() == before
    monkeypatch.setattr("deniable.records.job.publish", publish)
    now += 60
    assert watch.look() == 1
    watch.close()
    assert (out / "a.csv").read_text().startswith(before)
    assert [line.split(":")[0] for line in lines] == [
        "released a.csv",
        "failed a.csv",
        "released a.csv again, by its key",
    ]


def test_a_name_without_a_format_is_said_once_and_is_no_failure(watched: Watched) -> None:
    path = watched.inbox / "notes.xyz"
    path.write_text("the\n")
    watched.look()
    path.write_text("the fox\n")
    watched.look(after=60)
    assert watched.warned == ["skipped notes.xyz: its name does not say a format"]
    assert (watched.said, watched.watch.failed) == ([], 0)


@pytest.mark.parametrize("holder", [Journal, Ledger])
def test_an_interrupt_while_a_lock_is_let_go_stays_an_interrupt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, holder: type[Journal] | type[Ledger]
) -> None:
    def interrupted(descriptor: int) -> None:
        close(descriptor)
        raise KeyboardInterrupt

    close, held = os.close, holder(tmp_path / "held")
    monkeypatch.setattr(os, "close", interrupted)
    with pytest.raises(KeyboardInterrupt):
        held.close()
    monkeypatch.undo()
    # what every ``finally`` does; closed twice, the number would be nobody's, or somebody else's
    held.close()
