"""Exact nearest words by the certified int8 scan: the native code in ``native/``.

The nearest word of q is argmax_u ⟨q, φ_u⟩ - ‖φ_u‖²/2. Integer dot products of vectors rounded to 8 bits give
approximate scores with a proven error (``native/query.cpp`` has the proof). Only words whose upper bound
reaches the best lower bound can win; these few are scored again in float64, and what float64 cannot tell
apart is decided without rounding (``native/exact.cpp``). So the word is the true nearest one, whatever the
data; bad data make it slower, never wrong.

The index of the scan is kept beside a stored embedding, memory-mapped, never trusted. That of an embedding
outside the user's store is kept in the user's cache folder, unless a good one lies beside it. The file is a
page of header and then the index as the scan reads it. It is used only if the header is, byte for byte, the
one that would be written now (same versions, same fingerprint of the embedding, same checksum of the index),
and the index is, byte for byte, the one that would be built now: anybody who can write the file can write a
checksum too, and a false bound would make the search return other words than the nearest. Making the index
again without keeping it costs 0.1 s for 400,000 words of 50 dimensions. Anything else is built again. Nobody
ever sees half of a file, and of two processes that build at once each has a whole one. Where nothing can be
written the index stays in memory.
"""

from __future__ import annotations

import os
import stat
import struct
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from deniable.arrays import Floats, Ids, Vectors
from deniable.atomic import whole_file
from deniable.embeddings.embedding import Embedding
from deniable.errors import InvalidParameter, MalformedEmbedding
from deniable.neighbours import _native
from deniable.neighbours.threads import threads
from deniable.parameters import checked_k, checked_queries

Bytes = NDArray[np.uint8]

FILE_NAME = "scan-index.bin"
FILE_VERSION = 2
HEADER_BYTES = 4096

_MAGIC = b"deniable scan index\n"
_FIELDS = struct.Struct("<20sII8s64sQQQQ")
_LINE = 64

_QUERIES_PER_THREAD = 384
_MULTIPLICATIONS_AT_ONCE = 1 << 37


EMULATED = ("neon",)
"""Paths that were tested on an emulated processor only: their words are right, and their speed was never
measured."""


def usable_paths() -> list[str]:
    """Return the instruction paths this machine can run, fastest first."""
    return [name for name, obstacle in _native.paths() if not obstacle]


def chosen_path() -> str | None:
    """Return the path that searches use on this machine, or None where numpy's matrix product serves better.

    The portable path is that slow: without wide integer instructions the matrix product wins.
    """
    return next((name for name in usable_paths() if name != "portable"), None)


class ScanNeighbours:
    """Exact search at the speed of integer hardware. Safe to use from several threads at once."""

    def __init__(self, embedding: Embedding, *, path: str | None = None) -> None:
        """Open or build the index of an embedding; ``path`` forces an instruction path, for tests and
        benchmarks."""
        usable = usable_paths()
        if path is not None and path not in usable:
            raise InvalidParameter("path", path, f"must be one this machine can run: {', '.join(usable)}")
        self.path = path or chosen_path() or "portable"
        vectors: Vectors = np.ascontiguousarray(embedding.vectors, dtype=np.float32)
        self._words, self._dimension = vectors.shape
        self._source = embedding.folder or embedding.name
        self._index = _native.Index(open_index(embedding, vectors), vectors)

    def nearest(self, queries: Vectors) -> Ids:
        """Return the id of the nearest word of every row; ties go to the lowest id."""
        queries = checked_queries(queries, self._dimension)
        ids = np.empty(len(queries), dtype=np.int64)

        def search(part: slice, count: int) -> None:
            self._index.nearest(queries[part], ids[part], self.path, count)

        self._in_parts(search, len(queries), per_query=self._words * self._dimension)
        return ids

    def nearest_k(self, queries: Vectors, k: int) -> tuple[Ids, Floats]:
        """Return the ids of the ``k`` nearest words of every row, nearest first, and their distances."""
        queries = checked_queries(queries, self._dimension)
        shape = (len(queries), checked_k(k, self._words))
        ids, distances = np.empty(shape, dtype=np.int64), np.empty(shape)

        def search(part: slice, count: int) -> None:
            self._index.nearest_k(queries[part], ids[part], distances[part], self.path, count)

        self._in_parts(search, len(queries), per_query=self._words * (self._dimension + k))
        return ids, distances

    def _in_parts(self, search: Callable[[slice, int], None], queries: int, *, per_query: int) -> None:
        """Search for some queries at a time, with a number of threads: one call cannot be interrupted.

        They are a multiple of what the threads take at a time, so that none waits for another at the end.

        :raises MalformedEmbedding: if the index of a stored embedding was changed while it was in use.
        """
        count = threads()
        turn = count * _QUERIES_PER_THREAD
        at_once = turn * max(1, _MULTIPLICATIONS_AT_ONCE // (per_query * turn))
        try:
            for start in range(0, queries, at_once):
                search(slice(start, start + at_once), count)
        except RuntimeError as error:
            problem = (
                f"{error}: its file was changed while it was in use; nothing of this batch was "
                "released, run it again"
            )
            raise MalformedEmbedding(self._source, problem) from error


def open_index(embedding: Embedding, vectors: Vectors) -> Bytes:
    """Return the index of the embedding: the one that is kept if that is good, else a new one."""
    size = _native.index_bytes(*vectors.shape)
    try:
        if embedding.folder is None:
            return _build(embedding, vectors, _lines(size))
        path = embedding.folder / FILE_NAME
        found = _read(path, embedding, vectors, size)
        if found is None and embedding.is_received:
            path = embedding.work_folder("indexes") / FILE_NAME
            found = _read(path, embedding, vectors, size)
        if found is not None:
            return found
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            _write(path, embedding, vectors, size)
            found = _map(path, embedding, size)
            if found is not None:
                return found
        return _build(embedding, vectors, _lines(size))
    except ValueError as error:  # the sizes fit, so it is about the vectors
        problem = f"{error}: the stored copy is damaged; remove the embedding and add it again"
        raise MalformedEmbedding(embedding.folder or embedding.name, problem) from error


def _read(path: Path, embedding: Embedding, vectors: Vectors, size: int) -> Bytes | None:
    """Return the index in a file, or None if it is not the index of these vectors."""
    index = _map(path, embedding, size)
    return (
        index
        if index is not None and _native.is_index_of(vectors, _shadowed(embedding), index, threads())
        else None
    )


def _map(path: Path, embedding: Embedding, size: int) -> Bytes | None:
    """Return the index in a file if that says it is an undamaged one of this embedding, else None."""
    try:
        # Not whatever stands there: a pipe would keep us waiting.
        about = path.stat()
        if not stat.S_ISREG(about.st_mode) or about.st_size != HEADER_BYTES + size:
            return None
        mapped = np.asarray(np.memmap(path, dtype=np.uint8, mode="r"))
    except (OSError, ValueError):
        return None
    header, index = mapped[:HEADER_BYTES].tobytes(), mapped[HEADER_BYTES:]
    if len(index) != size:  # it has grown or shrunk since it was looked at
        return None
    # The scan will read all of the index for its first query anyway, so checking all of it costs little more.
    return index if header == _header(embedding, size, _native.checksum(index)) else None


def _write(path: Path, embedding: Embedding, vectors: Vectors, size: int) -> None:
    with whole_file(path) as file:
        # Room first: writing to a map on a full disk would end the process.
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), 0, HEADER_BYTES + size)
        else:  # pragma: no cover - not Linux
            file.truncate(HEADER_BYTES + size)
        mapped = np.memmap(file, dtype=np.uint8, mode="r+")
        index = _build(embedding, vectors, np.asarray(mapped)[HEADER_BYTES:])
        mapped[:HEADER_BYTES] = np.frombuffer(
            _header(embedding, size, _native.checksum(index)), dtype=np.uint8
        )
        mapped.flush()


def _build(embedding: Embedding, vectors: Vectors, room: Bytes) -> Bytes:
    _native.build(vectors, _shadowed(embedding), room, threads())
    return room


def _shadowed(embedding: Embedding) -> Bytes:
    shadowed = np.zeros(len(embedding), dtype=np.uint8)
    shadowed[embedding.shadowed] = 1
    return shadowed


def _lines(size: int) -> Bytes:
    """Return memory that begins at a cache line."""
    memory = np.empty(size + _LINE, dtype=np.uint8)
    start = -memory.ctypes.data % _LINE
    return memory[start : start + size]


def _header(embedding: Embedding, size: int, checksum: int) -> bytes:
    words, dimension = embedding.vectors.shape
    return _FIELDS.pack(
        _MAGIC,
        FILE_VERSION,
        _native.LAYOUT_VERSION,
        sys.byteorder.encode(),
        embedding.fingerprint.encode(),
        words,
        dimension,
        size,
        checksum,
    ).ljust(HEADER_BYTES, b"\0")
