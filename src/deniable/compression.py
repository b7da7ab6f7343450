"""Compressed files, told by their first bytes when they are read and by the ending of their name when they
are written."""

from __future__ import annotations

import io
import lzma
import os
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, Literal, cast

from deniable.atomic import open_regular
from deniable.errors import RecordError

BYTES_TO_TELL = 10
"""How many first bytes tell the compression; fewer are enough if the file has no more, or its first line ends
there."""

BYTES_AT_ONCE = 1 << 18

DAMAGE = (EOFError, MemoryError, OSError, ValueError, lzma.LZMAError, zlib.error)
"""What the libraries raise when compressed data is damaged."""

_MOST_GROWN, _MOST_RATIO = 256 << 20, 2_000

ENDINGS = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz", ".zst": "zstd", ".zstd": "zstd"}

_BYTES_AT_ONCE = 1 << 20
_FIRST_BYTES = {b"\x1f\x8b": "gzip", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zstd"}
# "BZh" and a digit could begin a text. What follows is the mark of a block, or of the end if there is no
# block.
_BZIP2_MARKS = (b"1AY&SY", b"\x17rE8P\x90")


def compression_of(start: bytes) -> str | None:
    """Return which compression the first bytes of a file stand for; None for none."""
    if start[:3] == b"BZh" and b"1" <= start[3:4] <= b"9" and start[4:10] in _BZIP2_MARKS:
        return "bzip2"
    return next((kind for magic, kind in _FIRST_BYTES.items() if start.startswith(magic)), None)


def compression_for(path: Path) -> str | None:
    """Return which compression the ending of a file's name asks for; None for none."""
    return ENDINGS.get(path.suffix.lower())


def has_grown_too_far(decompressed: int, compressed: int) -> bool:
    """Return whether data has grown beyond what records do: a few bytes can stand for terabytes."""
    return decompressed > max(_MOST_GROWN, _MOST_RATIO * compressed)


def read_chunks(
    stream: BinaryIO, kind: str | None, name: str | Path, *, compressed: Callable[[], int]
) -> Iterator[bytes]:
    """Yield the bytes of a stream as they come; ``kind`` is how they were compressed.

    ``compressed`` says how many bytes there are before decompression, or how many have arrived.

    :raises RecordError: if compressed data is damaged or cut short, or grows out of all proportion.
    """
    read, grown = cast(io.BufferedReader, stream).read1, 0
    while True:
        try:
            chunk = read(BYTES_AT_ONCE)
        except DAMAGE as error:
            if kind is None:
                raise
            raise RecordError(name, f"the {kind} data is damaged or cut short") from error
        grown += len(chunk)
        if kind is not None and has_grown_too_far(grown, compressed()):
            growth = f"{compressed():,} bytes of {kind} decompress to more than {grown - len(chunk):,}"
            raise RecordError(name, f"{growth}; if you trust the file, decompress it first")
        if not chunk:
            return
        yield chunk


def decompress(stream: BinaryIO, kind: str | None) -> BinaryIO:
    """Return the stream decompressed."""
    return stream if kind is None else _compressed_file(stream, kind, "r")


def compress(data: bytes, kind: str | None) -> bytes:
    """Return the data as one member (frame); members laid end to end are a valid file of their kind."""
    if kind is None:
        return data
    if kind == "zstd":
        import pyarrow as pa

        return cast(bytes, pa.Codec("zstd").compress(data, asbytes=True))
    sink = io.BytesIO()
    with _compressed_file(sink, kind, "w") as member:
        member.write(data)
    return sink.getvalue()


def repack(packed: Path, finished: Path, kind: str) -> None:
    """Write a compressed file again, as one member (frame) whose bytes depend on the content alone, whatever
    members it was packed in.

    :raises OSError: if it cannot be written, or something is there under the name of the finished file.
    """
    with (
        os.fdopen(open_regular(finished, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb") as sink,
        os.fdopen(open_regular(packed), "rb") as source,
        decompress(source, kind) as content,
        _compressed_file(sink, kind, "w") as member,
    ):
        # Compressors may cut their blocks where they are fed, so they are fed by equal parts.
        while part := content.read(_BYTES_AT_ONCE):
            member.write(part)


def _compressed_file(stream: BinaryIO, kind: str, mode: Literal["r", "w"]) -> BinaryIO:
    """Return what reads or writes the content of a compressed stream."""
    file: object
    if kind == "gzip":
        import gzip

        file = gzip.GzipFile(filename="", mode=mode, compresslevel=6, fileobj=stream, mtime=0)
    elif kind == "bzip2":
        import bz2

        file = bz2.BZ2File(stream, mode)
    elif kind == "xz":
        file = lzma.LZMAFile(stream, mode)  # noqa: SIM115 - its user closes it
    elif kind == "zstd":
        import pyarrow as pa

        arrow = pa.PythonFile(stream, mode=mode)
        if mode == "r":
            file = io.BufferedReader(pa.CompressedInputStream(arrow, "zstd"))
        else:
            file = pa.CompressedOutputStream(arrow, "zstd")
    else:
        raise ValueError(f"no compression {kind!r}")
    return cast(BinaryIO, file)
