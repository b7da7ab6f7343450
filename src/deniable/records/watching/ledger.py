"""What a watched folder has released so far: one line per event, on disk before the next step is taken."""

from __future__ import annotations

import errno
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from deniable.atomic import keep_private, lock_within, open_regular
from deniable.errors import RecordError, ResumeError

_SECONDS_UNTIL_WORKERS_NOTICE = 2.0
_LONGEST_NUMBER = 20
_LONGEST_LINE = 1 << 16
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


class Ledger:
    """The events of a watched folder, held by one process at a time. Readable by its owner only: digests can
    confirm a guess."""

    def __init__(self, path: Path) -> None:
        """Open or make the ledger and read it.

        :raises ResumeError: if another process has it.
        :raises RecordError: if it is not a ledger.
        """
        self.path = path
        self._entries: dict[str, LedgerEntry] = {}
        self._contents: dict[str, dict[str, LedgerEntry]] = {}
        try:
            self._descriptor = open_regular(path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.EINVAL):
                raise RecordError(
                    path, "is a link or a pipe, and a ledger is never written through one; move it away"
                ) from None
            raise
        try:
            if not lock_within(self._descriptor, _SECONDS_UNTIL_WORKERS_NOTICE):
                raise ResumeError(self.path, "another process is watching into this folder")
            self._read()
            if not keep_private(self._descriptor):
                raise RecordError(self.path, "belongs to somebody else; move it away")
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Let go of the lock."""
        self.close()

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
        line = (json.dumps(asdict(entry)) + " " * (_LONGEST_NUMBER - len(str(entry.size)))).encode() + b"\n"
        before = os.fstat(self._descriptor).st_size
        if os.write(self._descriptor, line) != len(line):
            os.ftruncate(self._descriptor, before)  # or the next event would continue this line
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.path))
        os.fsync(self._descriptor)
        self._remember(entry)

    def close(self) -> None:
        """Let go of the lock."""
        # Forgotten first: an interrupt that comes while it is closed must not make anybody close that number
        # again.
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    def _remember(self, entry: LedgerEntry) -> None:
        self._entries[entry.name] = entry
        if entry.digest is not None:
            self._contents.setdefault(entry.digest, {})[entry.name] = entry

    def _read(self) -> None:
        with open(os.dup(self._descriptor), "rb") as file:  # noqa: PTH123
            file.seek(0)
            intact = 0
            for number, line in enumerate(iter(lambda: file.readline(_LONGEST_LINE), b""), 1):
                if len(line) == _LONGEST_LINE:
                    raise RecordError(self.path, _DAMAGED, line=number)
                if not line.endswith(b"\n"):  # cut short by a kill, before anything was done about it
                    break
                try:
                    entry = _entry_from(line)
                except (ValueError, TypeError, RecursionError):
                    raise RecordError(self.path, _DAMAGED, line=number) from None
                self._remember(entry)
                intact += len(line)
        os.ftruncate(self._descriptor, intact)


def _entry_from(line: bytes) -> LedgerEntry:
    """Return the event of a line.

    :raises ValueError: or TypeError or RecursionError, if it is none.
    """
    entry = LedgerEntry(**json.loads(line))
    # A name need not be UTF-8, so no library that asks for that can check this.
    texts = (
        entry.name,
        *(text for text in (entry.digest, entry.settings, entry.same_as) if text is not None),
    )
    numbers = (entry.size, entry.time, entry.begun, entry.publishing, entry.words or 0)
    if not all(isinstance(text, str) for text in texts) or not all(
        isinstance(number, int) for number in numbers
    ):
        raise TypeError("not an event")
    return entry
