"""What is on disk of a job that is not finished: its output so far, and a journal of which job it is and how
much of it is done.

One line per entry, each with its checksum. A kill can cut the last line short; it is then as if it had never
been written. The process that works on an output holds a lock on its journal, which the system releases when
it dies. Only the owner can read the file.
"""

from __future__ import annotations

import errno
import json
import os
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from deniable.atomic import keep_private, lock_within, open_regular
from deniable.errors import RecordError, ResumeError
from deniable.release.tally import Tally


class LockedLines(ABC):
    """A file that is locked and read when it is made, and cut behind its last intact line."""

    def __init__(self, path: Path, what: str, *, busy: str, wait: float, error: type[RecordError]) -> None:
        """Open or make the file, wait so many seconds for its lock, and read it.

        :raises ResumeError: if another process holds the lock; ``busy`` says it.
        :raises RecordError: in the form of ``error``, if the file cannot be what it should be.
        """
        self.path = path
        self._descriptor = _open_locked(path, what, busy=busy, wait=wait, error=error)
        try:
            self.cut(self.read())  # the next line must not continue one that was cut short
            if not keep_private(self._descriptor):
                raise error(path, "belongs to somebody else; move it away")
        except BaseException:
            self.close()
            raise

    @abstractmethod
    def read(self) -> int:
        """Read the intact lines, and return where the last one ends."""

    @property
    def is_held(self) -> bool:
        """Whether the lock is held."""
        return self._descriptor >= 0

    @property
    def size(self) -> int:
        """The length of the file."""
        return os.fstat(self._descriptor).st_size

    def fileno(self) -> int:
        """Return the descriptor that holds the lock."""
        return self._descriptor

    def lines(self, longest: int) -> Iterator[tuple[bytes, int]]:
        """Yield the whole lines and where each ends.

        :raises ValueError: if one is longer than any line of ours.
        """
        with open(os.dup(self._descriptor), "rb") as file:  # noqa: PTH123
            file.seek(0)
            end = 0
            while line := file.readline(longest):
                if len(line) == longest:
                    raise ValueError("a line is longer than any of ours")
                if not line.endswith(b"\n"):
                    return
                end += len(line)
                yield line, end

    def append(self, line: bytes) -> None:
        """Add a line and wait until it is on disk.

        :raises OSError: if it cannot be written.
        """
        before = self.size
        if os.write(self._descriptor, line) != len(line):
            self.cut(before)  # or the next line would continue this one
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.path))
        os.fsync(self._descriptor)

    def cut(self, length: int) -> None:
        """Cut the file to this length."""
        os.ftruncate(self._descriptor, length)

    def close(self) -> None:
        """Let go of the lock."""
        # Forgotten first: an interrupt that comes while it is closed must not make anybody close that number
        # again.
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)


def _open_locked(path: Path, what: str, *, busy: str, wait: float, error: type[RecordError]) -> int:
    while True:
        try:
            descriptor = open_regular(path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
        except OSError as problem:
            if problem.errno in (errno.ELOOP, errno.EINVAL):
                reason = f"is a link or a pipe, and a {what} is never written through one; move it away"
                raise error(path, reason) from None
            raise
        try:
            if not lock_within(descriptor, wait):
                raise ResumeError(path, busy)
            # The process that held the lock may have finished and deleted the file in between.
            if path.exists() and os.path.samestat(os.fstat(descriptor), path.lstat()):
                return descriptor
        except FileNotFoundError:
            pass
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)


_VERSION = 1
_SECONDS_UNTIL_WORKERS_NOTICE = 1.0
_BYTES_AT_ONCE = 1 << 20
_LONGEST_LINE = 1 << 28
_FOREIGN = "exists and is not a journal of deniable, or one cut short in its first line; move it away"


class Journal(LockedLines):
    """What is on record about a job. ``job`` is None while the journal is new."""

    def __init__(self, path: Path) -> None:
        """Open or make the journal, take its lock and read it.

        :raises ResumeError: if another process holds the lock, or this is no journal of ours.
        """
        self._forget()
        busy = "another process is writing this output"
        super().__init__(path, "journal", busy=busy, wait=_SECONDS_UNTIL_WORKERS_NOTICE, error=ResumeError)

    def _forget(self) -> None:
        self.job: dict[str, Any] | None = None
        self.replaces = self.complete = self.sealed = False
        self.records = self.crc = 0
        self.ends: list[int] = []
        self.tally = Tally()
        self.generators: list[str] = []

    @property
    def length(self) -> int:
        """How many bytes of the partial file are on record."""
        return self.ends[-1] if self.ends else 0

    def begin(self, job: Mapping[str, Any], *, replaces: bool) -> None:
        """Make this the journal of a job; ``replaces`` says whether it may replace an output that exists."""
        self.cut(0)
        self._forget()
        self.add(journal=_VERSION, replaces=replaces, job=dict(job))

    def checkpoint(
        self,
        *,
        records: int,
        length: int,
        crc: int,
        tally: Tally,
        generator: str | None = None,
        complete: bool = False,
    ) -> None:
        """Record that ``records`` records, in ``length`` bytes with that checksum, are done; ``tally`` counts
        what is new.

        ``generator`` is what drew the new words, which need not be what drew those before: a job may be
        continued on another device. ``complete`` says in the same breath that every record is done: what an
        output ends with must not be written twice.
        """
        done: dict[str, Any] = {"records": records, "length": length, "crc": crc, "tally": tally.to_dict()}
        if generator is not None and tally.words and generator not in self.generators:
            done["generator"] = generator
        self.add(**done, **({"complete": True} if complete else {}))

    def remove(self) -> None:
        """Delete the journal while its lock is held, then let go of it."""
        if self.is_held:  # without the lock, the file under that name may be another's by now
            self.path.unlink(missing_ok=True)
        self.close()

    def add(self, **entry: Any) -> None:
        """Record an entry: ``complete`` says that every record is done, ``sealed`` that the finished file is
        made and takes the place of the partial one."""
        # Noted first: an interrupt while the disk is waited for must not make the job forget what is on
        # record.
        self._take_in(entry)
        text = json.dumps(entry).encode()
        self.append(b"%08x %s\n" % (zlib.crc32(text), text))

    def read(self) -> int:
        """Read the intact entries, and return where the last one ends.

        :raises ResumeError: if this is no journal of ours.
        """
        intact = 0
        try:
            for line, end in self.lines(_LONGEST_LINE):
                checksum, _, text = line[:-1].partition(b" ")
                if checksum != b"%08x" % zlib.crc32(text):
                    break
                entry = json.loads(text)
                if not isinstance(entry, dict) or (intact == 0 and entry.get("journal") != _VERSION):
                    break
                self._take_in(entry)
                intact = end
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
            raise ResumeError(self.path, "holds what no journal of deniable does; move it away") from None
        if intact == 0 and self.size:
            raise ResumeError(self.path, _FOREIGN)
        return intact

    def _take_in(self, entry: Mapping[str, Any]) -> None:
        if "job" in entry:
            self.job, self.replaces = dict(entry["job"]), bool(entry["replaces"])
        elif "records" in entry:
            counts = (entry["records"], entry["crc"], entry["length"])
            if (
                not all(isinstance(count, int) and 0 <= count < 1 << 63 for count in counts)
                or entry["length"] < self.length
            ):
                raise ValueError("not a checkpoint")
            self.records, self.crc = entry["records"], entry["crc"]
            self.ends.append(entry["length"])
            self.tally.add(Tally.from_dict(entry["tally"]))
            if "generator" in entry:
                self.generators.append(str(entry["generator"]))
            self.complete = False
        self.complete |= "complete" in entry
        self.sealed |= "sealed" in entry


class Partial:
    """The output while it grows: readable by its owner only, and cut back to what the journal has on record.

    ``length`` and ``crc`` describe all that is in it.
    """

    def __init__(self, path: Path) -> None:
        """Start an empty partial file; what an earlier one held is gone."""
        self.path = path
        self.length = self.crc = 0
        # Not opened and cut: it might be a link, a pipe, or have a second name elsewhere.
        path.unlink(missing_ok=True)
        self._descriptor = open_regular(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL)

    @classmethod
    def reopen(cls, path: Path, *, length: int, crc: int) -> Partial:
        """Open the partial file of an earlier run, cut to the length on record.

        :raises ResumeError: if it is gone, too short, or not what was written.
        """
        partial = cls.__new__(cls)
        partial.path, partial.length, partial.crc = path, length, crc
        try:
            partial._descriptor = open_regular(path, os.O_RDWR)
        except FileNotFoundError:
            raise ResumeError(
                path, "is gone, so the job cannot be continued; start over with force=True"
            ) from None
        if _checksum(partial._descriptor, length) != crc:
            partial.close()
            raise ResumeError(path, "is not what the earlier run wrote; start over with force=True")
        keep_private(partial._descriptor)
        os.ftruncate(partial._descriptor, length)
        os.lseek(partial._descriptor, length, os.SEEK_SET)
        return partial

    def append(self, data: bytes) -> None:
        """Add the data and wait until it is on disk: only then may the journal speak of it.

        :raises OSError: if it cannot be written.
        """
        view = memoryview(data)
        while view:
            view = view[os.write(self._descriptor, view) :]
        os.fsync(self._descriptor)
        self.length += len(data)
        self.crc = zlib.crc32(data, self.crc)

    def fileno(self) -> int:
        """Return the descriptor of the file."""
        return self._descriptor

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)


def _checksum(descriptor: int, length: int) -> int | None:
    """Return the checksum of the first ``length`` bytes; None if there are fewer."""
    crc = position = 0
    while position < length:
        data = os.pread(descriptor, min(_BYTES_AT_ONCE, length - position), position)
        if not data:
            return None
        crc = zlib.crc32(data, crc)
        position += len(data)
    return crc
