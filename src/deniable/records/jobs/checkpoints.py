"""The loop of a job: release a batch, and now and then make sure that it stays."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from deniable.progress import Progress
from deniable.records.formats.batch import BatchSize
from deniable.records.formats.reader import Reader
from deniable.records.jobs.journal import Journal
from deniable.records.jobs.partial import Partial
from deniable.records.jobs.releasing import Release
from deniable.text.tally import Tally

SECONDS_BETWEEN_CHECKPOINTS = 1.0
_BYTES_BETWEEN_CHECKPOINTS = 8 << 20

Pack = Callable[[list[Any]], bytes]


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

    def run(self, release: Release, size: BatchSize, progress: Progress | None) -> None:
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
