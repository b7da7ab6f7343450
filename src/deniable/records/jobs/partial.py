"""The output while it grows: a file of its own, readable by its owner only, cut back to what the journal has on record."""

from __future__ import annotations

import os
import zlib
from pathlib import Path

from deniable.errors import ResumeError

_BYTES_AT_ONCE = 1 << 20


class Partial:
    """A file that only grows. ``length`` and ``crc`` describe all that is in it."""

    def __init__(self, path: Path) -> None:
        """Start an empty partial file; what an earlier one held is gone."""
        self.path = path
        self.length = self.crc = 0
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        os.fchmod(self._descriptor, 0o600)

    @classmethod
    def reopen(cls, path: Path, *, length: int, crc: int) -> Partial:
        """Open the partial file of an earlier run, cut to the length on record.

        :raises ResumeError: if it is gone, too short, or not what was written.
        """
        partial = cls.__new__(cls)
        partial.path, partial.length, partial.crc = path, length, crc
        try:
            partial._descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
        except FileNotFoundError:
            raise ResumeError(path, "is gone, so the job cannot be continued; start over with --force") from None
        if _checksum(partial._descriptor, length) != crc:
            partial.close()
            raise ResumeError(path, "is not what the earlier run wrote; start over with --force")
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
