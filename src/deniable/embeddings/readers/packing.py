"""Packed files: gzip, bzip2, xz, zstd and zip, known by their first bytes and unpacked under a limit."""

from __future__ import annotations

import lzma
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, BinaryIO, cast

from deniable.compression import compression_of, decompress
from deniable.errors import MalformedEmbedding
from deniable.progress import Report

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
"""What the libraries raise when a packed file is damaged; zipfile states few of them: names that are no text,
numbers that fit nowhere, passwords."""

Read = Callable[[int], bytes]

MOST_UNPACKED, MOST_GROWN, GROWN_FROM = 64 << 30, 100, 64 << 20
"""How far a packed file may grow before it is refused as a bomb: bytes in any case, and once past
``GROWN_FROM`` bytes so many times its packed size. Vectors shrink to a third or a half when packed, never to
a hundredth."""


def has_grown_too_far(unpacked: int, packed: int) -> bool:
    """Return whether a file of ``packed`` bytes has grown too far."""
    return unpacked > min(MOST_UNPACKED, max(GROWN_FROM, MOST_GROWN * packed))


def _damaged(path: Path, packing: str, error: BaseException) -> MalformedEmbedding:
    return MalformedEmbedding(path, f"the {packing} file is damaged or cut off ({error}); get it again")


def _packing_of(path: Path) -> str | None:
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
def open_unpacked(path: Path, *, report: Report | None = None) -> Iterator[Read]:
    """Lend a function that reads up to a number of bytes of a file, unpacked if it is packed; nothing at its
    end.

    ``report`` receives how many bytes of the file itself were read.

    :raises MalformedEmbedding: now or when it is read, if the file is damaged, cut off, grows past the limit,
        or is a zip archive that does not hold exactly one readable file.
    """
    packing, size, unpacked = _packing_of(path), path.stat().st_size, 0
    with ExitStack() as stack:
        raw = stack.enter_context(path.open("rb"))
        zipped = packing == "zip"
        stream = _only_member(path, raw, stack) if zipped else decompress(cast(BinaryIO, raw), packing)
        stack.enter_context(stream)

        def read(most: int) -> bytes:
            nonlocal unpacked
            try:
                data = stream.read(most)
            except DAMAGE as error:
                if packing is None:
                    raise
                raise _damaged(path, packing, error) from error
            if packing is not None and has_grown_too_far(unpacked + len(data), size):
                problem = f"{size:,} bytes unpack to more than {unpacked:,}, past the limit for packed files"
                advice = "if you trust the file, unpack it yourself and add the result"
                raise MalformedEmbedding(path, f"{problem}; {advice}")
            unpacked += len(data)
            if report is not None:
                report(min(raw.tell(), size), size)
            return data

        yield read


def _only_member(path: Path, raw: IO[bytes], stack: ExitStack) -> IO[bytes]:
    try:
        archive = stack.enter_context(zipfile.ZipFile(raw))
        # macOS adds a folder of its own to the archives it makes; it never holds the data.
        files = [info for info in archive.infolist() if not info.is_dir()]
        members = [info for info in files if not info.filename.startswith("__MACOSX/")]
        if len(members) == 1 and not members[0].flag_bits & 0x1:
            return archive.open(members[0])
    except DAMAGE as error:
        raise _damaged(path, "zip", error) from error
    if len(members) == 1:
        raise MalformedEmbedding(path, "the zip file is encrypted; unpack it and add the file inside")
    names = [info.filename[:80] for info in members[:8]] + ["…"] * (len(members) > 8)
    problem = f"the zip file holds {len(members)} files ({', '.join(names) or 'nothing'})"
    raise MalformedEmbedding(path, f"{problem}; unpack it and add one of them")


def unpacked_copy(path: Path, folder: Path, *, report: Report | None = None) -> Path:
    """Return a path to the content: the file itself if it is not packed, else an unpacked copy in
    ``folder``."""
    if _packing_of(path) is None:
        return path
    copy = folder / "unpacked"
    with open_unpacked(path, report=report) as read, copy.open("wb") as out:
        while data := read(1 << 22):
            out.write(data)
    return copy
