"""Packed files: gzip, bzip2, xz, zstd and zip, known by their first bytes and unpacked under a limit."""

from __future__ import annotations

import lzma
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, BinaryIO, cast

from deniable.compression import compression_of, decompress
from deniable.errors import MalformedEmbedding
from deniable.progress import Report

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


MOST_UNPACKED, MOST_GROWN, GROWN_FROM = 64 << 30, 100, 64 << 20
"""How far a packed file may grow before it is refused as a bomb: bytes in any case, and once past
``GROWN_FROM`` bytes so many times its packed size. Vectors shrink to a third or a half when packed, never to
a hundredth."""


def has_grown_too_far(unpacked: int, packed: int) -> bool:
    """Return whether a file of ``packed`` bytes has grown too far."""
    return unpacked > min(MOST_UNPACKED, max(GROWN_FROM, MOST_GROWN * packed))


class UnpackedStream:
    """Bytes of a file after unpacking, as far as it may grow; progress is reported in bytes of the file
    itself."""

    def __init__(
        self, stream: IO[bytes], raw: IO[bytes], path: Path, packing: str | None, report: Report | None
    ) -> None:
        """Hold the file as it lies at ``path`` (``raw``) and what unpacks it."""
        self._stream, self._raw, self._path, self._packing = stream, raw, path, packing
        self._report, self._size, self._unpacked = report, path.stat().st_size, 0

    def read(self, size: int) -> bytes:
        """Return up to ``size`` bytes; nothing at the end.

        :raises MalformedEmbedding: if the packed file is damaged, cut off, or grows past the limit.
        """
        try:
            data = self._stream.read(size)
        except DAMAGE as error:
            if self._packing is None:
                raise
            raise _damaged(self._path, self._packing, error) from error
        if self._packing is not None and has_grown_too_far(self._unpacked + len(data), self._size):
            problem = (
                f"{self._size:,} bytes unpack to more than {self._unpacked:,}, past the limit for packed "
                "files; if you trust the file, unpack it yourself and add the result"
            )
            raise MalformedEmbedding(self._path, problem)
        self._unpacked += len(data)
        if self._report is not None:
            self._report(min(self._raw.tell(), self._size), self._size)
        return data


def _damaged(path: Path, packing: str, error: BaseException) -> MalformedEmbedding:
    problem = f"the {packing} file is damaged or cut off ({error}); get it again"
    return MalformedEmbedding(path, problem)


def packing_of(path: Path) -> str | None:
    """Return how a file is packed, told by its first bytes: "gzip", "bzip2", "xz", "zstd", "zip" or None.

    An .npz file is a zip archive too, but of arrays: it counts as not packed.
    """
    with path.open("rb") as file:
        start = file.read(30 + 512)
    packing = packing_of_bytes(start)
    return None if packing == "zip" and _is_npz(path, start) else packing


def packing_of_bytes(start: bytes) -> str | None:
    """Return the packing that content beginning with these (at least ten) bytes has, or None."""
    return "zip" if start.startswith((b"PK\x03\x04", b"PK\x05\x06")) else compression_of(start)


def _is_npz(path: Path, start: bytes) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except DAMAGE:
        # The central directory of a cut-off archive is gone; its first entry still says what it was.
        return b".npy" in start[30 : 30 + int.from_bytes(start[26:28], "little")]
    return bool(names) and all(name.endswith(".npy") for name in names)


@contextmanager
def open_unpacked(path: Path, *, report: Report | None = None) -> Iterator[UnpackedStream]:
    """Open a file for reading, unpacking it on the way if it is packed.

    :raises MalformedEmbedding: if it is a zip archive that does not hold exactly one readable file.
    """
    packing = packing_of(path)
    with ExitStack() as stack:
        raw = stack.enter_context(path.open("rb"))
        if packing == "zip":
            stream = _only_member(path, raw, stack)
        else:
            stream = decompress(cast(BinaryIO, raw), packing)
        yield UnpackedStream(stack.enter_context(stream), raw, path, packing, report)


def _only_member(path: Path, raw: IO[bytes], stack: ExitStack) -> IO[bytes]:
    try:
        archive = stack.enter_context(zipfile.ZipFile(raw))
        # macOS adds a folder of its own to the archives it makes; it never holds the data.
        members = [
            info
            for info in archive.infolist()
            if not info.is_dir() and not info.filename.startswith("__MACOSX/")
        ]
        if len(members) == 1 and not members[0].flag_bits & 0x1:
            return archive.open(members[0])
    except DAMAGE as error:
        raise _damaged(path, "zip", error) from error
    if len(members) == 1:
        raise MalformedEmbedding(path, "the zip file is encrypted; unpack it and add the file inside")
    names = ", ".join(info.filename[:80] for info in members[:8]) or "nothing"
    listed = f"{names}, …" if len(members) > 8 else names
    raise MalformedEmbedding(
        path, f"the zip file holds {len(members)} files ({listed}); unpack it and add one of them"
    )


def unpacked_copy(path: Path, folder: Path, *, report: Report | None = None) -> Path:
    """Return a path to the content: the file itself if it is not packed, else an unpacked copy in
    ``folder``."""
    if packing_of(path) is None:
        return path
    copy = folder / "unpacked"
    with open_unpacked(path, report=report) as stream, copy.open("wb") as out:
        while data := stream.read(1 << 22):
            out.write(data)
    return copy
