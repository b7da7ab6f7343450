"""The ZIP archives that spreadsheets are: read with bounds, and written so that the bytes depend on the content alone."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, NoReturn, Self

from deniable.errors import RecordError

MOST_UNPACKED = 512 << 20
"""Bytes that all parts of a spreadsheet may have together when they are unpacked. They are read a little at a time; what is held is the
table of texts that cells share, so that a spreadsheet takes about twice this much memory at the very worst."""

_MOST_PARTS = 10_000
_BYTES_AT_ONCE = 1 << 16
_DAMAGE = (zipfile.BadZipFile, zipfile.LargeZipFile, EOFError, NotImplementedError, OSError, RuntimeError, ValueError, ArithmeticError)
_NEVER = (1980, 1, 1, 0, 0, 0)


class Archive:
    """A spreadsheet as it is read, part by part."""

    def __init__(self, file: BinaryIO, name: str) -> None:
        """Open the archive and look at what it says of its parts.

        :raises RecordError: if it is none, is damaged, has a password, or unpacks to too much.
        """
        self.name = name
        try:
            self._zip = zipfile.ZipFile(file)
            parts = self._zip.infolist()
        except Exception as error:  # zipfile raises what its parts raise: struct.error, UnicodeDecodeError, ...
            raise RecordError(name, "not a spreadsheet, or a damaged one; one with a password cannot be read") from error
        self.sizes = {part.filename: part.file_size for part in parts}
        if len(self.sizes) != len(parts) or len(parts) > _MOST_PARTS:
            self.refuse("has parts twice, or far too many of them")
        if sum(self.sizes.values()) > MOST_UNPACKED:
            self._refuse_size()
        self._unpacked = dict.fromkeys(self.sizes, 0)

    def chunks(self, part: str) -> Iterator[bytes]:
        """Yield the bytes of a part.

        :raises RecordError: if it is not there, is damaged, or the parts unpack to too much.
        """
        if part not in self.sizes:
            self.refuse(f"has no part {part}; the file is damaged")
        read = 0
        try:
            with self._zip.open(part) as file:
                while chunk := file.read(_BYTES_AT_ONCE):
                    read += len(chunk)
                    self._unpacked[part] = max(read, self._unpacked[part])
                    if sum(self._unpacked.values()) > MOST_UNPACKED:
                        self._refuse_size()
                    yield chunk
        except _DAMAGE as error:
            raise RecordError(self.name, f"the part {part} is damaged, or has a password") from error
        except RecordError:
            raise
        except Exception as error:  # zlib.error and lzma.LZMAError have no other name in common
            raise RecordError(self.name, f"the part {part} is damaged") from error

    def read(self, part: str) -> bytes:
        """Return all bytes of a part.

        :raises RecordError: as ``chunks`` does.
        """
        return b"".join(self.chunks(part))

    def refuse(self, problem: str) -> NoReturn:
        """Raise a RecordError about the file."""
        raise RecordError(self.name, problem)

    def _refuse_size(self) -> NoReturn:
        self.refuse(f"unpacks to more than {MOST_UNPACKED >> 20:,} MiB, too much for a spreadsheet to be read; save it as CSV first")


class ArchiveWriter:
    """A spreadsheet as it is written. No part carries a time, and how it is compressed depends on its bytes alone."""

    def __init__(self, file: BinaryIO) -> None:
        self._zip = zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED)

    def add(self, part: str, content: bytes, *, stored: bool = False) -> None:
        """Write a part as a whole; uncompressed if it is to be ``stored``."""
        self._zip.writestr(_about(part, stored=stored), content, zipfile.ZIP_STORED if stored else zipfile.ZIP_DEFLATED)

    @contextmanager
    def open(self, part: str) -> Iterator[BinaryIO]:
        """Lend a file for the bytes of a part.

        :raises RecordError: if it becomes too large.
        """
        try:
            with self._zip.open(_about(part), "w") as file:
                yield file  # type: ignore[misc]
        except RuntimeError as error:  # how zipfile says it; its other form, for more, would change the bytes of every spreadsheet
            raise RecordError("the output", f"the part {part} would be larger than 2 GiB; save the sheet as CSV first") from error

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Write the list of the parts."""
        self._zip.close()


def _about(part: str, *, stored: bool = False) -> zipfile.ZipInfo:
    about = zipfile.ZipInfo(part, _NEVER)
    about.compress_type = zipfile.ZIP_STORED if stored else zipfile.ZIP_DEFLATED
    about.external_attr = 0o600 << 16
    return about
