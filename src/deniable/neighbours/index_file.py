"""The packed index of the scan: kept beside a stored embedding, memory-mapped, never trusted.

The file is a page of header and then the index as the scan reads it. It is used only if the header is, byte for byte, the
one that would be written now (same versions, same fingerprint of the embedding, same checksum of the index), and the index
is, byte for byte, the one that would be built now: whoever can write the file can write a checksum too, and a false bound
would make the search return other words than the nearest. Making the index again without keeping it costs 0.1 s for
400,000 words of 50 dimensions. Anything else is built again. Nobody ever sees half of a file, and of two processes that
build at once each has a whole one. Where nothing can be written the index stays in memory.
"""

from __future__ import annotations

import os
import stat
import struct
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from deniable.arrays import Vectors
from deniable.atomic import whole_file
from deniable.embeddings.embedding import Embedding
from deniable.errors import MalformedEmbedding
from deniable.neighbours import _native
from deniable.neighbours.threads import threads

Bytes = NDArray[np.uint8]

FILE_NAME = "scan-index.bin"
FILE_VERSION = 2
HEADER_BYTES = 4096

_MAGIC = b"deniable scan index\n"
_FIELDS = struct.Struct("<20sII8s64sQQQQ")
_LINE = 64


def open_index(embedding: Embedding, vectors: Vectors) -> Bytes:
    """Return the index of the embedding: the one beside it if that is good, else a new one.

    :raises MalformedEmbedding: if a vector of a stored embedding is not finite or absurdly long.
    """
    size = _native.index_bytes(*vectors.shape)
    try:
        if embedding.folder is None:
            return _build(embedding, vectors, _lines(size))
        path = embedding.folder / FILE_NAME
        found = _read(path, embedding, vectors, size)
        if found is not None:
            return found
        with suppress(OSError):
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
    return index if index is not None and _native.is_index_of(vectors, _shadowed(embedding), index, threads()) else None


def _map(path: Path, embedding: Embedding, size: int) -> Bytes | None:
    """Return the index in a file, or None if it is not an undamaged file of this embedding, by what the file says of itself."""
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
        mapped[:HEADER_BYTES] = np.frombuffer(_header(embedding, size, _native.checksum(index)), dtype=np.uint8)
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
