"""The output while it grows: a file of its own, readable by its owner only, cut back to what the journal has on record.

``Checkpoints`` is the loop of a job: it releases batches, and now and then makes sure that they stay.
"""

from __future__ import annotations

import os
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from deniable.errors import ResumeError
from deniable.progress import Progress
from deniable.records.formats.batch import BatchSize
from deniable.records.formats.reader import Reader
from deniable.records.jobs.journal import Journal
from deniable.records.jobs.releasing import ReleaseBatches
from deniable.text.receipt import Tally

SECONDS_BETWEEN_CHECKPOINTS = 1.0
_BYTES_BETWEEN_CHECKPOINTS = 8 << 20

_BYTES_AT_ONCE = 1 << 20

Pack = Callable[[list[Any]], bytes]


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


class Checkpoints:
    """Releases the batches of a reader and puts them on record every second or so.

    What is drawn waits in memory until its checkpoint, so that nothing reaches the disk that the journal does not
    speak of a moment later.
    """

    def __init__(self, reader: Reader, journal: Journal, partial: Partial, pack: Pack) -> None:
        self._reader, self._journal, self._partial, self._pack = reader, journal, partial, pack
        self._records = journal.records
        self._pieces: list[Any] = [] if journal.ends else reader.head()
        self._bytes = 0
        self._tally = Tally()

    def run(self, release: ReleaseBatches, size: BatchSize, progress: Progress | None) -> None:
        """Release all that is left, and record that nothing is left.

        :raises OSError: if it cannot be written.
        """
        saved = time.monotonic()
        for batch, released in release(self._reader.batches(size)):
            size.took(released.seconds)
            piece = batch.write(released.texts)
            now = time.monotonic()
            self._pieces.append(piece)
            self._records += len(batch)
            self._tally.add(released.tally)
            self._bytes += len(piece) if isinstance(piece, bytes) else piece.nbytes
            if now - saved >= SECONDS_BETWEEN_CHECKPOINTS or self._bytes >= _BYTES_BETWEEN_CHECKPOINTS:
                self._checkpoint()
                saved = now
            if progress is not None:
                progress.report(self._reader.position(), self._reader.total)
        if self._pieces or not self._journal.ends:
            self._checkpoint()
        self._journal.finish()

    def _checkpoint(self) -> None:
        self._partial.append(self._pack(self._pieces))
        self._journal.checkpoint(records=self._records, length=self._partial.length, crc=self._partial.crc, tally=self._tally)
        self._pieces, self._bytes, self._tally = [], 0, Tally()


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
