"""A file of lines that one process at a time reads and appends to.

A kill can cut the last line short; it is then as if it had never been written. The lock ends with the process
that holds it, however it ends. Only the owner can read the file.
"""

from __future__ import annotations

import errno
import os
from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path

from deniable.atomic import keep_private, lock_within, open_regular
from deniable.errors import RecordError, ResumeError


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
