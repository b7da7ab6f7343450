"""Packed files: gzip, bzip2, xz, zstd and zip, known by their first bytes and unpacked under a limit."""

from __future__ import annotations

import lzma
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, BinaryIO, Protocol, cast

from deniable.compression import BYTES_TO_TELL, compression_of, decompress
from deniable.errors import MalformedEmbedding
from deniable.progress import Report

GIB = 1 << 30

# zipfile states few of the errors that a damaged archive leads to: names that are no text, numbers that fit
# nowhere, passwords.
DAMAGE = (
    ArithmeticError,
    EOFError,
    LookupError,
    MemoryError,
    NotImplementedError,
    OSError,
    RuntimeError,
    ValueError,
    lzma.LZMAError,
    struct.error,
    zipfile.BadZipFile,
    zlib.error,
)
"""What the libraries raise when a packed file is damaged."""


@dataclass(frozen=True, kw_only=True)
class UnpackLimit:
    """How far a packed file may grow before it is refused as a bomb.

    ``total`` bytes in any case; and once past ``ratio_from`` bytes, not more than ``ratio`` times the packed
    size. Vectors shrink to a third or a half when packed, never to a hundredth.
    """

    total: int = 64 * GIB
    ratio: int = 100
    ratio_from: int = 64 << 20

    def exceeded(self, unpacked: int, packed: int) -> bool:
        """Return whether a file of ``packed`` bytes has grown too far."""
        return unpacked > self.total or (unpacked > self.ratio_from and unpacked > self.ratio * packed)


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


@dataclass
class UnpackedStream:
    """Bytes of a file after unpacking, counted against the limit, with progress reported in bytes of the file
    itself.

    ``raw`` is the file as it lies at ``path``, ``stream`` what unpacks it.
    """

    stream: _Readable
    raw: IO[bytes]
    path: Path
    packing: str | None
    limit: UnpackLimit
    report: Report | None
    unpacked: int = 0

    @cached_property
    def size(self) -> int:
        """The size of the file itself."""
        return self.path.stat().st_size

    def read(self, size: int) -> bytes:
        """Return up to ``size`` bytes; nothing at the end.

        :raises MalformedEmbedding: if the packed file is damaged, cut off, or grows past the limit.
        """
        if self.packing is None:
            data = self.stream.read(size)
        else:
            try:
                data = self.stream.read(size)
            except DAMAGE as error:
                raise MalformedEmbedding(
                    self.path, f"the {self.packing} file is damaged or cut off ({error}); get it again"
                ) from error
            self.unpacked += len(data)
            if self.limit.exceeded(self.unpacked, self.size):
                raise MalformedEmbedding(
                    self.path,
                    f"{self.size:,} bytes unpack to more than {self.unpacked - len(data):,}, past the limit "
                    "for packed files; "
                    "if you trust the file, unpack it yourself and add the result",
                )
        if self.report is not None:
            self.report(min(self.raw.tell(), self.size), self.size)
        return data


def packing_of(path: Path) -> str | None:
    """Return how a file is packed, told by its first bytes: "gzip", "bzip2", "xz", "zstd", "zip" or None.

    An .npz file is a zip archive too, but of arrays: it counts as not packed.
    """
    with path.open("rb") as file:
        start = file.read(BYTES_TO_TELL)
    packing = packing_of_bytes(start)
    if packing == "zip" and _is_npz(path):
        return None
    return packing


def packing_of_bytes(start: bytes) -> str | None:
    """Return the packing that content beginning with these (at least ten) bytes has, or None."""
    if start.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return "zip"
    return compression_of(start)


def _is_npz(path: Path) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except DAMAGE:
        # The central directory of a cut-off archive is gone; its first entry still says what it was.
        with path.open("rb") as file:
            start = file.read(30 + 512)
        return b".npy" in start[30 : 30 + int.from_bytes(start[26:28], "little")]
    return bool(names) and all(name.endswith(".npy") for name in names)


@contextmanager
def open_unpacked(
    path: Path, *, limit: UnpackLimit, report: Report | None = None
) -> Iterator[UnpackedStream]:
    """Open a file for reading, unpacking it on the way if it is packed.

    :raises MalformedEmbedding: if it is a zip archive that does not hold exactly one readable file.
    """
    packing = packing_of(path)
    with ExitStack() as stack:
        raw = stack.enter_context(path.open("rb"))
        stream = (
            _only_member(path, raw, stack) if packing == "zip" else decompress(cast(BinaryIO, raw), packing)
        )
        stack.enter_context(stream)
        yield UnpackedStream(stream, raw, path, packing=packing, limit=limit, report=report)


def _only_member(path: Path, raw: IO[bytes], stack: ExitStack) -> IO[bytes]:
    try:
        archive = stack.enter_context(zipfile.ZipFile(raw))
        # macOS adds a folder of its own to the archives it makes; it never holds the data.
        members = [
            info
            for info in archive.infolist()
            if not info.is_dir() and not info.filename.startswith("__MACOSX/")
        ]
        if len(members) != 1:
            names = ", ".join(info.filename[:80] for info in members[:8]) + (
                ", …" if len(members) > 8 else ""
            )
            raise MalformedEmbedding(
                path,
                f"the zip file holds {len(members)} files ({names or 'nothing'}); unpack it and add one of "
                "them",
            )
        if members[0].flag_bits & 0x1:
            raise MalformedEmbedding(path, "the zip file is encrypted; unpack it and add the file inside")
        return archive.open(members[0])
    except MalformedEmbedding:
        raise
    except DAMAGE as error:
        raise MalformedEmbedding(
            path, f"the zip file is damaged or cut off ({error}); get it again"
        ) from error


def unpacked_copy(path: Path, folder: Path, *, limit: UnpackLimit, report: Report | None = None) -> Path:
    """Return a path to the content: the file itself if it is not packed, else an unpacked copy in
    ``folder``."""
    if packing_of(path) is None:
        return path
    copy = folder / "unpacked"
    with open_unpacked(path, limit=limit, report=report) as stream, copy.open("wb") as out:
        while data := stream.read(1 << 22):
            out.write(data)
    return copy
