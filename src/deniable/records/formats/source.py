"""Where the bytes of records come from: a file, or a stream that arrives; decompressed."""

from __future__ import annotations

import copy
import errno
import hashlib
import io
import os
import queue
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, Self, cast

from deniable.atomic import open_regular
from deniable.compression import BYTES_AT_ONCE, BYTES_TO_TELL, compression_of, decompress, read_chunks
from deniable.errors import RecordError
from deniable.records.formats.confined_child import SharedFile

_CHUNKS_AHEAD = 16
_CHANGED = "changed while it was read; release it again when it has stopped changing"
_SWAPPED = "is not the file any more that the folder was seen to hold; links and pipes are not followed"

Identity = dict[str, str | int | None]
"""What an input is recognised by when a job is resumed: its path and size, and its time of change or a digest
of its files."""


class Source:
    """Bytes in chunks, decompressed. This one answers as a stream does, which cannot be read a second
    time."""

    name: str
    size: int | None = None
    identity: Identity | None = None
    """What this input is recognised by when a job is resumed; None if it cannot be read again."""

    read = 0
    """Bytes of the input, as it is stored, that were read so far."""

    def chunks(self) -> Iterator[bytes]:
        """Yield the bytes, decompressed."""
        raise NotImplementedError

    def waiting(self) -> bool:
        """Return whether asking for the next chunk would wait for a slow producer."""
        return False

    def position(self) -> int:
        """Return how many bytes of the input, as it is stored, were read so far."""
        return self.read

    def digest(self) -> str | None:
        """Return a digest of all the bytes, as they are stored; None if they cannot be read again."""
        return None

    def check_unchanged(self) -> None:
        """Check that what is read is still what ``digest`` was made of, if it was made."""

    def again(self) -> Self:
        """Return the same input to be read from its start, for as long as this one is open."""
        other = copy.copy(self)
        other.read = 0
        return other

    def close(self) -> None:
        """Let go of the input."""


class FileSource(Source):
    """A regular file. Everything is read from the file that was opened, whatever its name stands for later.

    It is read as far as it went when it was opened: what is written to it meanwhile is not part of what its
    digest names.
    """

    def __init__(self, path: Path, *, listed: os.stat_result | None = None) -> None:
        self.path = path
        self.name = str(path)
        # Before the file is open, and without a look at what was listed: it is no link, but its name may
        # stand for one a moment later.
        where = os.path.realpath(path) if listed is None else path.parent.resolve() / path.name
        self.file = path.open("rb") if listed is None else _open_listed(path, listed)
        about = os.fstat(self.file.fileno())
        if not about.st_size and os.pread(
            self.file.fileno(), 1, 0
        ):  # as in /proc: it would be taken for empty
            self.file.close()
            raise RecordError(path, "does not say how long it is; copy it to a file first")
        self.size: int = about.st_size
        self._seen, self._digest = _state(about), ""
        self._bytes = self.reopen()
        self.identity = {"input": str(where), "input size": about.st_size, "input time": about.st_mtime_ns}

    def chunks(self) -> Iterator[bytes]:
        """Yield the bytes, decompressed."""
        kind = compression_of(self._bytes.peek(BYTES_TO_TELL))
        return read_chunks(decompress(self._bytes, kind), kind, self.name, compressed=lambda: self.size)

    def position(self) -> int:
        """Return how many bytes of the file were read so far."""
        return self._bytes.tell()

    def digest(self) -> str | None:
        """Return a digest of the file's bytes, made once; reading goes on where it was."""
        self._digest = self._digest or self._digest_of_bytes()
        return self._digest

    def check_unchanged(self) -> None:
        """Check that the bytes that a digest was made of are still there; what was added behind them was not
        read."""
        now = _state(os.fstat(self.file.fileno()))
        if not self._digest or now == self._seen:
            return
        if self._digest_of_bytes() != self._digest:
            raise RecordError(self.name, _CHANGED)
        self._seen = now  # as it was before the bytes were looked at again

    def check_not_written(self) -> None:
        """Check that the file was not written to since it was opened."""
        if _state(os.fstat(self.file.fileno())) != self._seen:
            raise RecordError(self.name, _CHANGED)

    def _digest_of_bytes(self) -> str:
        digest, bytes_again = hashlib.blake2b(digest_size=16), self.reopen()
        while chunk := bytes_again.read(BYTES_AT_ONCE):
            digest.update(chunk)
        return digest.hexdigest()

    def reopen(self) -> io.BufferedReader:
        """Return the same open file with a position of its own; its name may stand for another one by now."""
        return io.BufferedReader(SharedFile(self.file.fileno(), self.size))

    def again(self) -> Self:
        """Return the same open file to be read from its start, for as long as this one is open."""
        other = super().again()
        other._bytes = self.reopen()
        return other

    def close(self) -> None:
        """Close the file."""
        self.file.close()


def _state(about: os.stat_result) -> tuple[int, int, int]:
    """Return what differs if a file was written to; its last time cannot be set back."""
    return about.st_size, about.st_mtime_ns, about.st_ctime_ns


def _open_listed(path: Path, listed: os.stat_result) -> io.BufferedReader:
    try:
        descriptor = open_regular(path)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EINVAL, errno.ENXIO):
            raise RecordError(path, _SWAPPED) from None
        raise
    try:
        now = os.fstat(descriptor)
        if not os.path.samestat(now, listed):
            raise RecordError(path, _SWAPPED)
        if (now.st_size, now.st_mtime_ns) != (listed.st_size, listed.st_mtime_ns):
            raise RecordError(path, "changed while it was taken up; it is read when it has stopped changing")
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


class StreamSource(Source):
    """Standard input, a pipe or a terminal: read ahead by a thread, so that what has arrived can be
    distinguished from what has not."""

    def __init__(self, descriptor: int, name: str) -> None:
        self.name = name
        self._descriptor = descriptor
        self._arrived: queue.Queue[bytes | BaseException | None] = queue.Queue(_CHUNKS_AHEAD)

    def chunks(self) -> Iterator[bytes]:
        """Yield the bytes as they arrive, decompressed."""
        threading.Thread(target=self._read_ahead, name="deniable-input", daemon=True).start()
        while (chunk := self._arrived.get()) is not None:
            if isinstance(chunk, BaseException):
                raise chunk
            self.read += len(chunk)
            yield chunk

    def waiting(self) -> bool:
        """Return whether nothing more has arrived yet."""
        return self._arrived.empty()

    def _read_ahead(self) -> None:
        try:
            for chunk in self._arriving():
                self._arrived.put(chunk)
        except BaseException as error:
            self._arrived.put(error)
        else:
            self._arrived.put(None)

    def _arriving(self) -> Iterator[bytes]:
        # Plain reads of the descriptor: a buffered reader blocked in a daemon thread would hold its lock when
        # the interpreter ends, which is a fatal error there.
        start = more = os.read(self._descriptor, BYTES_AT_ONCE)
        while (
            more and len(start) < BYTES_TO_TELL and b"\n" not in start
        ):  # a pipe may deliver a byte at a time
            more = os.read(self._descriptor, BYTES_AT_ONCE)
            start += more
        kind = compression_of(start)
        if kind is not None:
            replayed = _Replayed(start, self._descriptor)
            stream = decompress(cast(BinaryIO, io.BufferedReader(replayed, BYTES_AT_ONCE)), kind)
            yield from read_chunks(stream, kind, self.name, compressed=lambda: replayed.count)
            return
        while start:
            yield start
            start = os.read(self._descriptor, BYTES_AT_ONCE)


class _Replayed(io.RawIOBase):
    """A descriptor whose first bytes were read already."""

    def __init__(self, start: bytes, descriptor: int) -> None:
        self._start = start
        self._descriptor = descriptor
        self.count = 0  # bytes that were read

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._start[: len(buffer)] if self._start else os.read(self._descriptor, len(buffer))
        self._start = self._start[len(data) :]
        self.count += len(data)
        buffer[: len(data)] = data
        return len(data)
