"""A folder of files on their way into another: each file is released once, whole, when it has stopped changing.

Before a file is released the ledger says so, and afterwards again. Cut off in between, the release is continued where it was
(see ``job``); cut off after the output got its name, it is only entered. A file that changes after its release would be drawn
again with fresh noise, which spends the budget of every record twice: it is refused, unless a key and a column of record ids
make sure that records that did not change are released as they were.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from deniable.errors import DeniableError, InvalidParameter, RecordError
from deniable.progress import Progress
from deniable.records.files import open_source, run_job
from deniable.records.formats.layout import Layout, format_of
from deniable.records.jobs.targets import beside
from deniable.records.watching.ledger import Entry, Ledger
from deniable.text.privatizer import Privatizer

LEDGER_NAME = ".deniable-watch"

_OURS = (".partial", ".journal", ".finishing", ".receipt.json")
_TEMPORARY = (".tmp", ".temp", ".part", ".crdownload", ".swp")


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How a folder is watched. ``settle`` is how long a file must not have changed before it is taken for complete."""

    settle: float = 5.0
    workers: int = 1
    progress: type[Progress] | None = None


class Watch:
    """Releases the files of a folder into another one. ``say`` is called with one line for every event."""

    def __init__(
        self,
        private: Privatizer,
        folder: Path,
        out: Path,
        layout_of: Callable[[Path], Layout],
        *,
        settings: Settings,
        say: Callable[[str], None],
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
        if not settings.settle >= 0:
            raise InvalidParameter("settle", settings.settle, "must be a number of seconds, at least 0")
        self._private, self._folder, self._out = private, folder, out
        self._layout_of, self._settings, self._say = layout_of, settings, say
        self._ledger = Ledger(out / LEDGER_NAME)
        self._said: dict[str, tuple[int, int]] = {}
        self._seen: dict[str, tuple[tuple[int, int], float]] = {}
        self.failed = 0

    def close(self) -> None:
        """Let go of the ledger."""
        self._ledger.close()

    def look(self) -> int:
        """Release every file that is new and complete, and return how many were released."""
        return sum(self._consider(path, about) for path, about in self._files())

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
        if entry is not None and entry.released and entry.same_file(about):
            return False
        if self._said.get(path.name) == (about.st_size, about.st_mtime_ns):
            return False
        if not self._settled(path.name, about):
            return False
        try:
            return self._take_up(path, about, entry)
        except (DeniableError, OSError) as error:
            self.failed += 1
            self._say_once(path, about, f"failed {path.name}: {error}")
            return False

    def _settled(self, name: str, about: os.stat_result) -> bool:
        """Return whether the file has not changed for long enough, by its own time or by what was seen of it."""
        state, now = (about.st_size, about.st_mtime_ns), time.monotonic()
        before = self._seen.get(name)
        if before is None or before[0] != state:
            before = self._seen[name] = (state, now)
        return max(time.time() - about.st_mtime, now - before[1]) >= self._settings.settle

    def _take_up(self, path: Path, about: os.stat_result, entry: Entry | None) -> bool:
        if format_of(path) is None:
            self._say_once(path, about, f"skipped {path.name}: its name does not say a format")
            return False
        target = self._out / path.name
        layout = self._layout_of(path)
        published = target.exists()
        if entry is None and published:
            raise RecordError(target, "exists and was not released from here; move it away or rename the new file")
        # By the ledger and not by the output, which its reader may have taken away. What was only begun and has no output yet
        # released nothing.
        again = entry is not None and not entry.same_file(about) and (entry.released or published)
        if again and not self._changed_in_earnest(path, about, entry):
            return False
        if again and (self._private.keyed is None or layout.record_id is None):
            problem = (
                "changed after it was released, and fresh noise would spend the budget of its records again: give it another name, "
                "or watch with a key and record ids (--key-file, --record-id)"
            )
            raise RecordError(path, problem)
        return self._release(path, about, layout, target, resume=entry is not None and entry.same_file(about), replaces=again)

    def _changed_in_earnest(self, path: Path, about: os.stat_result, entry: Entry | None) -> bool:
        """Return whether the content changed; if only the time did, that is entered."""
        with open_source(path) as source:
            digest = source.digest()
        if entry is None or entry.digest != digest:
            return True
        self._ledger.record(Entry(name=path.name, size=about.st_size, time=about.st_mtime_ns, digest=digest))
        return False

    def _release(self, path: Path, about: os.stat_result, layout: Layout, target: Path, *, resume: bool, replaces: bool) -> bool:
        begun = Entry(name=path.name, size=about.st_size, time=about.st_mtime_ns)
        if not (resume or replaces):
            self._ledger.record(begun)
        left_over = beside(target, ".partial").exists() or beside(target, ".journal").exists()
        with open_source(path) as source:
            digest = source.digest()
            made = run_job(
                self._private,
                source,
                layout,
                target,
                workers=self._settings.workers,
                resume=resume and not replaces,
                force=replaces or (left_over and not resume),
                progress=self._settings.progress,
            )
        self._ledger.record(Entry(name=path.name, size=about.st_size, time=about.st_mtime_ns, digest=digest))
        counts = "" if made is None else f": {made.tally.records:,} records, {made.tally.words:,} words"
        self._say(f"released {path.name}{' again, by its key' if replaces else ''}{counts}")
        return True

    def _say_once(self, path: Path, about: os.stat_result, line: str) -> None:
        self._said[path.name] = (about.st_size, about.st_mtime_ns)
        self._say(line)
