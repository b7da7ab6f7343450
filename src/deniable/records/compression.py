"""Compressed input, told by its first bytes, and compressed output, told by the ending of its name."""

from __future__ import annotations

import io
from pathlib import Path
from typing import BinaryIO, cast

ENDINGS = {".gz": "gzip", ".bz2": "bz2", ".xz": "xz", ".zst": "zstd", ".zstd": "zstd"}

_FIRST_BYTES = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zstd"}


def compression_of(start: bytes) -> str | None:
    """Return which compression the first bytes of a file stand for; None for none."""
    return next((kind for magic, kind in _FIRST_BYTES.items() if start.startswith(magic)), None)


def compression_for(path: Path) -> str | None:
    """Return which compression the ending of a file's name asks for; None for none."""
    return ENDINGS.get(path.suffix.lower())


def decompressed(stream: BinaryIO, kind: str | None) -> BinaryIO:
    """Return the stream decompressed; the libraries are imported only when they are needed."""
    if kind == "gzip":
        import gzip

        return cast(BinaryIO, gzip.GzipFile(fileobj=stream))
    if kind == "bz2":
        import bz2

        return cast(BinaryIO, bz2.BZ2File(stream))
    if kind == "xz":
        import lzma

        return cast(BinaryIO, lzma.LZMAFile(stream))
    if kind == "zstd":
        import pyarrow as pa

        return io.BufferedReader(pa.CompressedInputStream(pa.PythonFile(stream, mode="r"), "zstd"))
    return stream


def compress(data: bytes, kind: str | None) -> bytes:
    """Return the data as one complete member (frame); members laid end to end are a valid file of their kind."""
    if kind == "gzip":
        import gzip

        return gzip.compress(data, 6, mtime=0)
    if kind == "bz2":
        import bz2

        return bz2.compress(data)
    if kind == "xz":
        import lzma

        return lzma.compress(data)
    if kind == "zstd":
        import pyarrow as pa

        return cast(bytes, pa.Codec("zstd").compress(data, asbytes=True))
    return data
