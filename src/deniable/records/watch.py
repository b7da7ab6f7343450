"""A folder of files on their way into another: each file is released once, whole, when it has stopped
changing.

Before a file is released the ledger says so, again before its output gets its name, and once more afterwards.
Cut off in between, the release is continued where it was (see ``job``); cut off after the output got its
name, it is only entered, or refused if the output or its receipt is gone by then: the person who took it away
may have read it. An output that the ledger does not expect is somebody else's.

A file that changes after its release would be drawn again with fresh noise, which spends the budget of every
record twice: it is refused, unless a key and a column of record ids make sure that records that did not
change are released as they were. So would a file that comes again under another name: it is recognised by its
content and skipped, unless a key makes sure that it comes out in the same words.

A file that failed is tried again from the ledger and the disk alone, as a new process would: a retry is as
safe as a restart.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic
from typing import Literal, get_args

from deniable.atomic import beside
from deniable.errors import DeniableError, InvalidParameter, RecordError, printable
from deniable.progress import Progress
from deniable.records.describing import settings_digest
from deniable.records.formats.layout import Layout, format_of, released_name
from deniable.records.formats.opening import open_source
from deniable.records.formats.source import Source
from deniable.records.job import Job
from deniable.records.ledger import Ledger, LedgerEntry
from deniable.release.card import ENDING as _CARD
from deniable.release.privatizer import Privatizer

SameContent = Literal["skip", "release"]

LEDGER_NAME = ".deniable-watch"

_UNFINISHED = (".partial", ".journal", ".finishing")
_RECEIPT = ".receipt.json"
_OURS = (*_UNFINISHED, _RECEIPT, _CARD)
_TEMPORARY = (".tmp", ".temp", ".part", ".crdownload", ".swp")
_SHORTEST_SECONDS = 1.0
_LONGEST_SECONDS = 60.0
_TIMES_ITS_COST = 10

State = tuple[int, int]
"""The size of a file and its time of last change."""


@dataclass
class Failure:
    """A file that could not be released: in which state it was, why, and when it may be read again.

    What is in the way of a file may go away without any change of the file, so it is tried again and again:
    after a second at first, then after twice as long each time, up to a minute, or up to ten times as long as
    the attempt took. So a file that can never be released costs the others at most about a tenth of the time
    in the long run.
    """

    state: State
    reason: str | None = None
    pause: float = 0.0
    due: float = 0.0

    def postpone(self, took: float) -> None:
        """Let the file rest after an attempt that read it and ``took`` this many seconds."""
        first = min(max(took, _SHORTEST_SECONDS), _LONGEST_SECONDS)
        self.pause = min(max(2 * self.pause, first), max(_TIMES_ITS_COST * took, _LONGEST_SECONDS))
        self.due = monotonic() + self.pause


class Watch:
    """Releases the files of a folder into another one.

    ``settle`` is how long a file must not have changed before it is taken for complete. ``same_content`` says
    what becomes of a file whose content was released under another name: skip, or release.
    ``say`` is called with one line for every file that was released, ``warn`` with one for every file that
    was skipped or failed, again only when the reason is another one. Without ``warn``, ``say`` gets them all.
    """

    def __init__(
        self,
        private: Privatizer,
        folder: Path,
        out: Path,
        layout_of: Callable[[Path], Layout],
        *,
        settle: float = 5.0,
        same_content: SameContent = "skip",
        workers: int = 1,
        progress: type[Progress] | None = None,
        say: Callable[[str], None],
        warn: Callable[[str], None] | None = None,
    ) -> None:
        """Check the folders and open the ledger.

        :raises RecordError: if a folder is not there or both are the same.
        :raises ResumeError: if another process watches into the folder.
        """
        for path in (folder, out):
            if not path.is_dir():
                raise RecordError(path, "is not a folder; make it first")
        if folder.samefile(out):
            raise RecordError(out, "is the watched folder itself; released files would be released again")
        if not settle >= 0:
            raise InvalidParameter("settle", settle, "must be a number of seconds, at least 0")
        if same_content not in get_args(SameContent):
            raise InvalidParameter(
                "same_content", same_content, f"must be one of {', '.join(get_args(SameContent))}"
            )
        self._private, self._folder, self._out = private, folder, out
        self._layout_of, self._settle, self._same_content = layout_of, settle, same_content
        self._workers, self._progress = workers, progress
        self._say, self._warn = say, warn or say
        self._ledger = Ledger(out / LEDGER_NAME)
        self._seen: dict[str, tuple[State, float]] = {}
        self._without_format: set[str] = set()
        self._failures: dict[str, Failure] = {}

    @property
    def failed(self) -> int:
        """How many files failed and were not released since."""
        return len(self._failures)

    def close(self) -> None:
        """Let go of the ledger."""
        self._ledger.close()

    def look(self) -> int:
        """Release every file that is new and complete, and return how many were released."""
        files = list(self._files())
        self._forget_all_but({path.name for path, _ in files})
        return sum(self._consider(path, about) for path, about in files)

    def _files(self) -> Iterator[tuple[Path, os.stat_result]]:
        for path in sorted(self._folder.iterdir()):
            name = path.name
            if name.startswith(".") or name.endswith(("~", *_OURS, *_TEMPORARY)):
                continue
            try:
                about = path.lstat()
            except FileNotFoundError:
                continue
            if stat.S_ISREG(about.st_mode):
                yield path, about

    def _consider(self, path: Path, about: os.stat_result) -> bool:
        entry = self._ledger.find(path.name)
        left_out = entry is not None and entry.same_as is not None and self._same_content == "release"
        if entry is not None and entry.released and entry.same_file(about) and not left_out:
            self._failures.pop(path.name, None)
            return False
        if not self._settled(path.name, about):
            return False
        if format_of(path) is None:
            if path.name not in self._without_format:
                self._without_format.add(path.name)
                self._warn(f"skipped {printable(path.name)}: its name does not say a format")
            return False
        state = (about.st_size, about.st_mtime_ns)
        failure = self._failures.get(path.name)
        if failure is None or failure.state != state:  # a file that changed is a new one
            failure = Failure(state)
        try:
            self._check_nothing_in_the_way(path.name, entry)
        except (RecordError, OSError) as error:
            # Found without reading the file, so it is asked at every look and never postponed.
            return self._fail(path.name, failure, error)
        if monotonic() < failure.due:
            return False
        begun = time.monotonic()
        try:
            released = self._take_up(path, about, entry)
        except (DeniableError, OSError) as error:
            failure.postpone(time.monotonic() - begun)
            return self._fail(path.name, failure, error)
        self._failures.pop(path.name, None)
        return released

    def _fail(self, name: str, failure: Failure, error: Exception) -> bool:
        self._failures[name] = failure
        if failure.reason != str(error):
            failure.reason = str(error)
            self._warn(f"failed {printable(name)}: {error}")
        return False

    def _forget_all_but(self, names: set[str]) -> None:
        """Keep nothing in mind about files that are gone."""
        self._failures = {name: failure for name, failure in self._failures.items() if name in names}
        self._without_format &= names
        self._seen = {name: seen for name, seen in self._seen.items() if name in names}

    def _check_nothing_in_the_way(self, name: str, entry: LedgerEntry | None) -> None:
        """Check that output and receipt are there when they were published from here, and only then."""
        output, receipt, card = (
            beside(self._out / released_name(name), ending) for ending in ("", _RECEIPT, _CARD)
        )
        for ending in ("", *_OURS):
            if (path := beside(output, ending)).is_symlink():
                raise RecordError(path, "is a link, and nothing is written through links here; remove it")
        if entry is not None and entry.released:
            return
        if entry is not None and self._is_out(entry):
            for made in (output, receipt):
                if not made.exists():
                    which = printable(name)
                    problem = (
                        f"is gone, and the release of {which} was not entered yet; drawn again, its "
                        "records would be spent twice"
                    )
                    raise RecordError(
                        made, f"{problem}: put it back, or take {which} out of the watched folder"
                    )
            return
        # What was begun here may have written its receipt and its card, but nothing under the name of the
        # output.
        for made in (output, receipt, card) if entry is None else (output,):
            if made.exists():
                raise RecordError(
                    made, "exists and was not released from here; move it away or rename the new file"
                )

    def _is_out(self, entry: LedgerEntry) -> bool:
        """Return whether the output got its name although the last event about the file does not say that it
        is released."""
        # Nothing but its renaming takes the partial file away once the output was about to get its name.
        return entry.publishing and not beside(self._out / released_name(entry.name), ".partial").exists()

    def _settled(self, name: str, about: os.stat_result) -> bool:
        """Return whether the file has not changed for long enough, by its own time or by what was seen of
        it."""
        state, now = (about.st_size, about.st_mtime_ns), time.monotonic()
        before = self._seen.get(name)
        if before is None or before[0] != state:
            before = self._seen[name] = (state, now)
        return max(time.time() - about.st_mtime, now - before[1]) >= self._settle

    def _take_up(self, path: Path, about: os.stat_result, entry: LedgerEntry | None) -> bool:
        target = self._out / released_name(path.name)
        layout = self._layout_of(path)
        published = target.exists()
        # By the ledger and not by the output, which its reader may have taken away. What was only begun and
        # has no output yet released nothing.
        again = entry is not None and not entry.same_file(about) and (entry.released or published)
        with open_source(path, listed=about) as source:
            now = LedgerEntry(
                name=path.name,
                size=about.st_size,
                time=about.st_mtime_ns,
                digest=source.digest(),
                settings=settings_digest(self._private, layout),
            )
            if entry is not None and again:
                if (
                    not entry.released
                ):  # or what is to come would make the ledger forget that this content is out
                    entry = replace(entry, begun=False, publishing=False)
                    self._ledger.record(entry)
                if entry.digest == now.digest:  # only its time changed
                    self._ledger.record(replace(entry, size=now.size, time=now.time))
                    return False
                if entry.spent:
                    self._check_repeatable(path, entry, now, layout)
                else:
                    # There was no word in it: it begins again, so that no earlier output is taken for it.
                    for made in (target, beside(target, _RECEIPT), beside(target, _CARD)):
                        made.unlink(missing_ok=True)
                    again = published = False
            earlier = None if published and not again else self._released_as(now)
            if earlier is not None and again:
                problem = (
                    f"changed into what was released as {printable(earlier.name)} with other settings "
                    "or another key"
                )
                raise RecordError(path, f"{problem}; its records would be drawn again")
            if earlier is not None:
                return self._skip(now, earlier, target)
            resume = entry is not None and not entry.released and entry.same_file(about)
            return self._release(source, now, layout, target, resume=resume, replaces=again)

    def _check_repeatable(self, path: Path, entry: LedgerEntry, now: LedgerEntry, layout: Layout) -> None:
        """Check that a file that changed after its release may be released again."""
        problem = "changed after it was released, and fresh noise would spend the budget of its records again"
        if self._private.keyed is None or layout.record_id is None:
            way_out = (
                "put what is new into a file of its own, or watch with a key and record ids "
                "(--key-file, --record-id)"
            )
            raise RecordError(path, f"{problem}: {way_out}")
        if entry.settings != now.settings:
            then = "it was released with other settings, another key or by another version of deniable"
            raise RecordError(path, f"{problem}: {then}; watch with those")

    def _released_as(self, now: LedgerEntry) -> LedgerEntry | None:
        """Return the entry under whose name this content was released before, if fresh noise would be drawn
        for it now."""
        if self._same_content == "release":
            return None
        for entry in self._ledger.about_content(now.digest or ""):
            out = entry.released or (self._ledger.find(entry.name) == entry and self._is_out(entry))
            same_words = self._private.keyed is not None and entry.settings == now.settings
            if entry.name != now.name and out and entry.spent and not same_words:
                return entry
        return None

    def _skip(self, now: LedgerEntry, earlier: LedgerEntry, target: Path) -> bool:
        for ending in _UNFINISHED:  # it may have been begun before the other one was released
            beside(target, ending).unlink(missing_ok=True)
        name = earlier.same_as or earlier.name
        self._ledger.record(replace(now, settings=earlier.settings, words=earlier.words, same_as=name))
        self._warn(
            f"skipped {printable(now.name)}: its content was released as {printable(name)}, "
            "and fresh noise would spend the budget of its records again (--same-content release, if equal "
            "files are different people's)"
        )
        return False

    def _release(
        self, source: Source, now: LedgerEntry, layout: Layout, target: Path, *, resume: bool, replaces: bool
    ) -> bool:
        if not (resume or replaces):
            self._ledger.record(replace(now, begun=True))
        left_over = beside(target, ".partial").exists() or beside(target, ".journal").exists()
        made = Job(
            self._private,
            source,
            layout,
            target,
            workers=self._workers,
            resume=resume and not replaces,
            force=replaces or (left_over and not resume),
            progress=self._progress,
            through_links=False,
            by_name=True,
            before_publishing=None
            if replaces
            else lambda: self._ledger.record(replace(now, begun=True, publishing=True)),
        ).run()
        counts = "" if made is None else f": {made.tally}, {made.tally.words:,} words"
        line = f"released {printable(now.name)}{' again, by its key' if replaces else ''}{counts}"
        self._ledger.record(replace(now, words=None if made is None else made.tally.words))
        self._say(line)
        return True
