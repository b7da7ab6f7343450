"""What a watched folder has released so far: one line per event, on disk before the next step is taken."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from deniable.errors import RecordError
from deniable.records.journal import LockedLines

_LONGEST_NUMBER = 20
_DAMAGED = "is damaged, or not a ledger of deniable; without it files could be released twice"


@dataclass(frozen=True, kw_only=True)
class LedgerEntry:
    """A file as it was when it was taken up, by its content and the settings; ``words`` is how many were
    drawn for it.

    ``publishing`` says of what was begun that its output was about to get its name. ``same_as`` names the
    file under whose name the same content was released before, in place of this one.
    """

    name: str
    size: int
    time: int
    digest: str | None = None
    settings: str | None = None
    begun: bool = False
    publishing: bool = False
    words: int | None = None
    same_as: str | None = None

    @property
    def released(self) -> bool:
        """Whether the release is complete; it was only begun otherwise."""
        return self.digest is not None and not self.begun

    @property
    def spent(self) -> bool:
        """Whether releasing it again with fresh noise would spend something again: not if there was no word
        in it."""
        return self.words != 0

    def same_file(self, about: os.stat_result) -> bool:
        """Return whether the file has kept its size and its time of last change."""
        return (self.size, self.time) == (about.st_size, about.st_mtime_ns)


class Ledger(LockedLines):
    """The events of a watched folder, held by one process at a time. Readable by its owner only: digests can
    confirm a guess."""

    what = "ledger"
    busy = "another process is watching into this folder"
    wait = 2.0  # workers notice within it that their parent is gone
    error = RecordError
    longest_line = 1 << 16

    def __init__(self, path: Path) -> None:
        self._entries: dict[str, LedgerEntry] = {}
        self._contents: dict[str, dict[str, LedgerEntry]] = {}
        super().__init__(path)

    def find(self, name: str) -> LedgerEntry | None:
        """Return the last event about the file of that name."""
        return self._entries.get(name)

    def about_content(self, digest: str) -> list[LedgerEntry]:
        """Return the last event about this content under each name that it had."""
        return list(self._contents.get(digest, {}).values())

    def record(self, entry: LedgerEntry) -> None:
        """Add an event and wait until it is on disk."""
        # The ledger lies beside what is released, where its own size can be seen: it must not tell that of a
        # private file.
        padding = " " * (_LONGEST_NUMBER - len(str(entry.size)))
        self.append((json.dumps(asdict(entry)) + padding).encode() + b"\n")
        self._remember(entry)

    def _remember(self, entry: LedgerEntry) -> None:
        self._entries[entry.name] = entry
        if entry.digest is not None:
            self._contents.setdefault(entry.digest, {})[entry.name] = entry

    def read(self) -> int:
        """Read the events, and return where the last one ends."""
        intact, number = 0, 1
        try:
            for line, end in self.lines():
                self._remember(_entry_from(line))
                intact, number = end, number + 1
        except (ValueError, TypeError, RecursionError):
            raise RecordError(self.path, _DAMAGED, line=number) from None
        return intact


def _entry_from(line: bytes) -> LedgerEntry:
    """Return the event of a line.

    :raises ValueError: or TypeError or RecursionError, if it is none.
    """
    entry = LedgerEntry(**json.loads(line))
    # A name need not be UTF-8, so no library that asks for that can check this.
    texts = [
        entry.name,
        *filter(lambda each: each is not None, (entry.digest, entry.settings, entry.same_as)),
    ]
    numbers = (entry.size, entry.time, entry.begun, entry.publishing, entry.words or 0)
    if not all(isinstance(each, str) for each in texts) or not all(isinstance(each, int) for each in numbers):
        raise TypeError("not an event")
    return entry
