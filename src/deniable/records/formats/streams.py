"""Records that arrive: standard input, a pipe or a terminal, whose producer may be slow."""

from __future__ import annotations

import io
import os
import queue
import threading
from collections.abc import Iterator
from typing import Any, BinaryIO, cast

from deniable.compression import BYTES_TO_TELL, compression_of, decompress
from deniable.records.formats.source import BYTES_AT_ONCE, Identity, read_chunks

_CHUNKS_AHEAD = 16


class StreamSource:
    """Standard input, a pipe or a terminal: read ahead by a thread, so that what has arrived can be told from
    what has not."""

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

    def identity(self) -> Identity | None:
        """Return None: a stream is gone once it is read."""
        return None

    def digest(self) -> str | None:
        """Return None: a stream is gone once it is read."""
        return None

    def check_unchanged(self) -> None:
        """Do nothing: a stream has no digest."""

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
            stream = io.BufferedReader(replayed, BYTES_AT_ONCE)
            yield from read_chunks(
                decompress(cast(BinaryIO, stream), kind), kind, self.name, compressed=lambda: replayed.count
            )
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
