"""Locks on files that end with the process that holds them, however it ends."""

from __future__ import annotations

import sys
from typing import IO

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
