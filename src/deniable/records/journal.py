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
from contextlib import suppress
from pathlib import Path
from typing import Any

from deniable.atomic import keep_private, lock_within, open_regular
from deniable.errors import RecordError, ResumeError
from deniable.release.tally import Tally

_VERSION = 1
_BYTES_AT_ONCE = 1 << 20
_FOREIGN = "exists and is not a journal of deniable, or one cut short in its first line; move it away"


class LockedLines(ABC):
    """Lines of a file that is locked and read when it is opened, and cut behind its last intact line."""

    what: str
    busy: str
    """What to say if another process holds the lock for longer than ``wait`` seconds."""
    wait: float
    error: type[RecordError]
    longest_line: int

    def __init__(self, path: Path) -> None:
        self.path = path
        self.descriptor = -1
        while self.descriptor < 0:
            self._lock()
        try:
            os.ftruncate(
                self.descriptor, self.read()
            )  # the next line must not continue one that was cut short
            if not keep_private(self.descriptor):
                raise self.error(path, "belongs to somebody else; move it away")
        except BaseException:
            self.close()
            raise

    def _lock(self) -> None:
        try:
            self.descriptor = open_regular(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
        except OSError as problem:
            if problem.errno in (errno.ELOOP, errno.EINVAL):
                reason = f"is a link or a pipe, and a {self.what} is never written through one; move it away"
                raise self.error(self.path, reason) from None
            raise
        held = False
        try:
            if not lock_within(self.descriptor, self.wait):
                raise ResumeError(self.path, self.busy)
            # The process that held the lock may have finished and deleted the file in between.
            with suppress(FileNotFoundError):
                held = os.path.samestat(os.fstat(self.descriptor), self.path.lstat())
        finally:
            if not held:
                self.close()

    @abstractmethod
    def read(self) -> int:
        """Read the intact lines, and return where the last one ends."""

    def lines(self) -> Iterator[tuple[bytes, int]]:
        """Yield the whole lines and where each ends.

        :raises ValueError: if one is longer than any line of ours.
        """
        with open(os.dup(self.descriptor), "rb") as file:  # noqa: PTH123
            file.seek(0)
            end = 0
            while line := file.readline(self.longest_line):
                if len(line) == self.longest_line:
                    raise ValueError("a line is longer than any of ours")
                if not line.endswith(b"\n"):
                    return
                end += len(line)
                yield line, end

    def append(self, line: bytes) -> None:
        """Add a line and wait until it is on disk."""
        before = os.fstat(self.descriptor).st_size
        if os.write(self.descriptor, line) != len(line):
            os.ftruncate(self.descriptor, before)  # or the next line would continue this one
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.path))
        os.fsync(self.descriptor)

    def close(self) -> None:
        """Let go of the lock."""
        # Forgotten first: an interrupt that comes while it is closed must not make anybody close that number
        # again.
        descriptor, self.descriptor = self.descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)


class Journal(LockedLines):
    """What is on record about a job. ``job`` is None while the journal is new."""

    what = "journal"
    busy = "another process is writing this output"
    wait = 1.0  # workers notice within it that their parent is gone
    error = ResumeError
    longest_line = 1 << 28

    def __init__(self, path: Path) -> None:
        self._forget()
        super().__init__(path)

    def _forget(self) -> None:
        self.job: dict[str, Any] | None = None
        self.replaces = self.complete = self.sealed = False
        self.records = self.length = self.crc = 0  # of the partial file, as far as it is on record
        self.ends: list[int] = []
        self.tally = Tally()
        self.generators: list[str] = []

    def begin(self, job: Mapping[str, Any], *, replaces: bool) -> None:
        """Make this the journal of a job; ``replaces`` says whether it may replace an output that exists."""
        os.ftruncate(self.descriptor, 0)
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
        if self.descriptor >= 0:  # without the lock, the file under that name may be another's by now
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
        """Read the intact entries, and return where the last one ends."""
        intact = 0
        try:
            for line, end in self.lines():
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
        if intact == 0 and os.fstat(self.descriptor).st_size:
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
            self.records, self.crc, self.length = counts
            self.ends.append(self.length)
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
        self.path = path
        self.length = self.crc = 0
        # Not opened and cut: it might be a link, a pipe, or have a second name elsewhere.
        path.unlink(missing_ok=True)
        self.descriptor = open_regular(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL)

    @classmethod
    def reopen(cls, path: Path, *, length: int, crc: int) -> Partial:
        """Open the partial file of an earlier run, cut to the length on record.

        :raises ResumeError: if it is gone, too short, or not what was written.
        """
        partial = cls.__new__(cls)
        partial.path, partial.length, partial.crc = path, length, crc
        try:
            partial.descriptor = open_regular(path, os.O_RDWR)
        except FileNotFoundError:
            problem = "is gone, so the job cannot be continued; start over with force=True"
            raise ResumeError(path, problem) from None
        if _checksum(partial.descriptor, length) != crc:
            partial.close()
            raise ResumeError(path, "is not what the earlier run wrote; start over with force=True")
        keep_private(partial.descriptor)
        os.ftruncate(partial.descriptor, length)
        os.lseek(partial.descriptor, length, os.SEEK_SET)
        return partial

    def append(self, data: bytes) -> None:
        """Add the data and wait until it is on disk: only then may the journal speak of it."""
        view = memoryview(data)
        while view:
            view = view[os.write(self.descriptor, view) :]
        os.fsync(self.descriptor)
        self.length += len(data)
        self.crc = zlib.crc32(data, self.crc)

    def close(self) -> None:
        """Close the file."""
        os.close(self.descriptor)


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
