"""One process at a time works on a calibration; the others are told which."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import IO

from deniable.errors import CalibrationInProgress
from deniable.locking import lock

_SECONDS_TO_READ = 60.0
_SECONDS_BETWEEN = 0.1


class WorkLock:
    """The right to work on the calibration in a folder, until it is released or the process ends.

    Whoever only reads a finished calibration holds it for moments, and others wait for that. Whoever is going to compute says so with
    ``announce``, and others are refused at once. The file stays, empty; that it is there means nothing.
    """

    def __init__(self, path: Path, *, embedding: str) -> None:
        """Take the lock.

        :raises CalibrationInProgress: if another process computes, or reads for a minute.
        """
        self._file: IO[bytes] = path.open("a+b")
        try:
            deadline = time.monotonic() + _SECONDS_TO_READ
            while not lock(self._file, wait=False):
                if (process := _announced(path)) is not None or time.monotonic() > deadline:
                    raise CalibrationInProgress(path.parent, embedding, process)
                time.sleep(_SECONDS_BETWEEN)
            self._file.truncate(0)  # a process that was killed may have left its number
        except BaseException:
            self._file.close()
            raise

    def announce(self) -> None:
        """Let others know that this process computes."""
        self._file.write(str(os.getpid()).encode())
        self._file.flush()

    def release(self) -> None:
        """Let go; nothing happens if that was done before."""
        if not self._file.closed:
            self._file.truncate(0)
            self._file.close()


def _announced(path: Path) -> int | None:
    try:
        return int(path.read_bytes())
    except (OSError, ValueError):
        return None
