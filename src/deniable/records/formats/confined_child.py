"""What runs in the process that parses an untrusted file: limits first, then one parser, which imports
nothing of this package.

A parser is a file with a function ``parse(file, refuse, **arguments)``, which yields bytes. It is asked for
on standard input; what it yields goes to standard output, each piece with a letter and its length before it.
macOS takes no notice of the limit on memory, so what is taken is looked at as well, while libraries work.
"""

from __future__ import annotations

import errno
import importlib.util
import io
import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

_SECONDS_BETWEEN_LOOKS = 0.02

PIECE, REFUSED, END = b"p", b"r", b"."
"""What a piece is: content, why the file is refused, or that all was sent."""


class _Refused(Exception):
    """The file is refused, for a reason that may be shown: it does not quote the file."""


def _refuse(problem: str) -> NoReturn:
    raise _Refused(problem)


class SharedFile(io.RawIOBase):
    """An open file, read at a position of its own and up to an end; it stays open when this is closed."""

    def __init__(self, descriptor: int, end: int) -> None:
        self._descriptor, self._end, self._at = descriptor, end, 0

    def fileno(self) -> int:
        """Return the descriptor of the file."""
        return self._descriptor

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return True."""
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Go to a place of the file."""
        self._at = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._end}[whence] + offset
        if self._at < 0:
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        return self._at

    def readinto(self, buffer: Any) -> int:
        """Read up to the end into a buffer."""
        data = os.pread(self._descriptor, max(min(len(buffer), self._end - self._at), 0), self._at)
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)


def _limit(memory: int, seconds: int) -> None:
    import resource

    now = 0  # libraries that are loaded already do not count
    if Path("/proc/self/statm").exists():
        now = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    for limit, most in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_AS, now + memory),
    ):
        _, hard = resource.getrlimit(limit)
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(limit, (most, most))
    threading.Thread(target=_watch, args=(memory,), daemon=True).start()


def _watch(memory: int) -> None:
    """End this process when it has taken more memory than it may."""
    import resource

    def taken() -> int:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)

    start = taken()
    while taken() - start <= memory:
        time.sleep(_SECONDS_BETWEEN_LOOKS)
    os._exit(1)


def _load(script: str) -> Callable[..., Iterator[bytes]]:
    about = importlib.util.spec_from_file_location("parser", script)
    assert about is not None  # noqa: S101
    assert about.loader is not None  # noqa: S101
    module = importlib.util.module_from_spec(about)
    about.loader.exec_module(module)
    parse: Callable[..., Iterator[bytes]] = module.parse
    return parse


def main() -> None:
    """Parse the file that is asked for."""
    asked = json.loads(sys.stdin.buffer.read())
    sys.path.extend(place for place in asked["path"] if place not in sys.path)
    parse = _load(asked["script"])
    _limit(asked["memory"], asked["seconds"])

    def send(kind: bytes, content: bytes = b"") -> None:
        sys.stdout.buffer.write(kind + len(content).to_bytes(8, "little") + content)
        sys.stdout.buffer.flush()

    file = io.BufferedReader(SharedFile(asked["descriptor"], asked["end"]), 1 << 18)
    try:
        for piece in parse(file, _refuse, **asked["arguments"]):
            send(PIECE, piece)
    except _Refused as refused:
        send(REFUSED, str(refused).encode())
    except (MemoryError, BrokenPipeError):
        raise
    except Exception:  # what a library says could quote the file
        send(REFUSED, b"is damaged, or cannot be read for another reason")
    else:
        send(END)


if __name__ == "__main__":
    main()
