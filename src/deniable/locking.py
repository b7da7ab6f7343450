"""Locks on files that end with the process that holds them, however it ends."""

from __future__ import annotations

import sys
import time
from typing import IO

_SECONDS_BETWEEN_TRIES = 0.05

if sys.platform == "win32":  # pragma: no cover

    def lock(file: IO[bytes] | int, *, wait: bool) -> bool:
        """Lock an open file or descriptor until it is closed; return whether it is locked: without ``wait``, another may prevent it."""
        import msvcrt

        try:
            msvcrt.locking(file if isinstance(file, int) else file.fileno(), msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
        except OSError:
            if wait:
                raise
            return False
        return True
else:

    def lock(file: IO[bytes] | int, *, wait: bool) -> bool:
        """Lock an open file or descriptor until it is closed; return whether it is locked: without ``wait``, another may prevent it."""
        import fcntl

        try:
            fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


def lock_within(file: IO[bytes] | int, seconds: float) -> bool:
    """Lock an open file or descriptor until it is closed; return whether it could be locked in that time.

    For locks that are only held by a process that is there: the workers of one that was killed hold its locks until they notice.
    """
    until = time.monotonic() + seconds
    while not lock(file, wait=False):
        if time.monotonic() >= until:
            return False
        time.sleep(_SECONDS_BETWEEN_TRIES)
    return True
