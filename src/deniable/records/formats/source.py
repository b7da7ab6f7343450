"""Where the bytes of records come from: a file, or a stream whose producer may be slow."""

from __future__ import annotations

import hashlib
import io
import os
import queue
import sys
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from lzma import LZMAError
from pathlib import Path
from typing import Any, BinaryIO, Protocol, cast

from deniable.compression import BYTES_TO_TELL, compression_of, decompressed
from deniable.errors import RecordError

_BYTES_AT_ONCE = 1 << 18
_CHUNKS_AHEAD = 16
_DAMAGE = (EOFError, OSError, zlib.error, LZMAError)


class Source(Protocol):
    """Bytes in chunks, decompressed."""

    name: str
    size: int | None

    def chunks(self) -> Iterator[bytes]:
        """Yield the bytes, decompressed."""

    def waiting(self) -> bool:
        """Return whether asking for the next chunk would wait for a slow producer."""

    def position(self) -> int:
        """Return how many bytes of the input, as it is stored, were read so far."""

    def identity(self) -> dict[str, Any] | None:
        """Return what this input is recognised by when a job is resumed; None if it cannot be read a second time."""

    def digest(self) -> str | None:
        """Return a digest of all the bytes, as they are stored; None if they cannot be read a second time."""

    def close(self) -> None:
        """Let go of the input."""


@contextmanager
def open_source(path: Path | None) -> Iterator[Source]:
    """Open a file, or standard input when there is no path; a pipe under a path is read like standard input.

    :raises OSError: if it cannot be opened.
    """
    if path is None:
        yield StreamSource(sys.stdin.fileno(), "standard input")
    elif path.exists() and not path.is_file() and not path.is_dir():
        with path.open("rb", buffering=0) as pipe:
            yield StreamSource(pipe.fileno(), str(path))
    else:
        source = FileSource(path)
        try:
            yield source
        finally:
            source.close()


class FileSource:
    """A regular file."""

    def __init__(self, path: Path) -> None:
        """Open the file.

        :raises OSError: if it cannot be opened.
        """
        self.path = path
        self.name = str(path)
        self._file = path.open("rb")
        about = os.fstat(self._file.fileno())
        self.size: int | None = about.st_size
        self._identity = {"input": str(path.resolve()), "input size": about.st_size, "input time": about.st_mtime_ns}

    def chunks(self) -> Iterator[bytes]:
        """Yield the bytes, decompressed.

        :raises RecordError: if compressed data is damaged or cut short.
        """
        kind = compression_of(self._file.peek(BYTES_TO_TELL))
        return _chunks(decompressed(self._file, kind), kind, self.name)

    def waiting(self) -> bool:
        """Return False: a file never keeps one waiting."""
        return False

    def position(self) -> int:
        """Return how many bytes of the file were read so far."""
        return self._file.tell()

    def identity(self) -> dict[str, Any] | None:
        """Return the file's path, size and time of last change, as they were when it was opened."""
        return self._identity

    def digest(self) -> str | None:
        """Return a digest of the file's bytes; reading goes on where it was."""
        digest, position = hashlib.blake2b(digest_size=16), 0
        while chunk := os.pread(self._file.fileno(), _BYTES_AT_ONCE, position):
            digest.update(chunk)
            position += len(chunk)
        return digest.hexdigest()

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class StreamSource:
    """Standard input, a pipe or a terminal: read ahead by a thread, so that what has arrived can be told from what has not."""

    def __init__(self, descriptor: int, name: str) -> None:
        self.name = name
        self.size: int | None = None
        self._descriptor = descriptor
        self._arrived: queue.Queue[bytes | BaseException | None] = queue.Queue(_CHUNKS_AHEAD)
        self._read = 0

    def chunks(self) -> Iterator[bytes]:
        """Yield the bytes as they arrive, decompressed.

        :raises RecordError: if compressed data is damaged or cut short.
        """
        threading.Thread(target=self._read_ahead, name="deniable-input", daemon=True).start()
        while (chunk := self._arrived.get()) is not None:
            if isinstance(chunk, BaseException):
                raise chunk
            self._read += len(chunk)
            yield chunk

    def waiting(self) -> bool:
        """Return whether nothing more has arrived yet."""
        return self._arrived.empty()

    def position(self) -> int:
        """Return how many bytes arrived so far."""
        return self._read

    def identity(self) -> dict[str, Any] | None:
        """Return None: a stream is gone once it is read."""
        return None

    def digest(self) -> str | None:
        """Return None: a stream is gone once it is read."""
        return None

    def close(self) -> None:
        """Leave the stream to its owner."""

    def _read_ahead(self) -> None:
        try:
            for chunk in self._arriving():
                self._arrived.put(chunk)
        except BaseException as error:
            self._arrived.put(error)
        else:
            self._arrived.put(None)

    def _arriving(self) -> Iterator[bytes]:
        # Plain reads of the descriptor: a buffered reader blocked in a daemon thread would hold its lock when the
        # interpreter ends, which is a fatal error there.
        start = more = os.read(self._descriptor, _BYTES_AT_ONCE)
        while more and len(start) < BYTES_TO_TELL and b"\n" not in start:  # a pipe may deliver a byte at a time
            more = os.read(self._descriptor, _BYTES_AT_ONCE)
            start += more
        kind = compression_of(start)
        if kind is not None:
            stream = io.BufferedReader(_Replayed(start, self._descriptor), _BYTES_AT_ONCE)
            yield from _chunks(decompressed(cast(BinaryIO, stream), kind), kind, self.name)
            return
        while start:
            yield start
            start = os.read(self._descriptor, _BYTES_AT_ONCE)


class _Replayed(io.RawIOBase):
    """A descriptor whose first bytes were read already."""

    def __init__(self, start: bytes, descriptor: int) -> None:
        self._start = start
        self._descriptor = descriptor

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._start[: len(buffer)] if self._start else os.read(self._descriptor, len(buffer))
        self._start = self._start[len(data) :]
        buffer[: len(data)] = data
        return len(data)


def _chunks(stream: BinaryIO, kind: str | None, name: str) -> Iterator[bytes]:
    read = cast(io.BufferedReader, stream).read1
    while True:
        try:
            chunk = read(_BYTES_AT_ONCE)
        except _DAMAGE as error:
            if kind is None:
                raise
            raise RecordError(name, f"the {kind} data is damaged or cut short") from error
        if not chunk:
            return
        yield chunk
