"""A folder of text files: each file is a record, and the output is a folder of files with numbers for names.

What files are called is often the name of a person, so it is not released. The first file by name is the
first in the output: their order is public, as that of records in every format.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

from deniable.atomic import open_regular, sync_folder
from deniable.errors import RecordError
from deniable.records.formats.layout import Layout
from deniable.records.formats.naming import Naming
from deniable.records.formats.reader import Batch, FinishedAtTheEnd, Row, RowReader
from deniable.records.formats.source import LONGEST_RECORD, FileSource, Identity, Lines

_ENDINGS = (".txt", ".text")


class FolderSource:
    """The text files directly in a folder, in the order of their names; links, other files and folders in it
    are left alone."""

    def __init__(self, path: Path) -> None:
        """List the files.

        :raises OSError: if the folder cannot be read.
        """
        self.path, self.name = path, str(path)
        found = [
            entry
            for entry in os.scandir(path)
            if entry.name.lower().endswith(_ENDINGS) and entry.is_file(follow_symlinks=False)
        ]
        self.files = [
            (Path(entry.path), entry.stat(follow_symlinks=False))
            for entry in sorted(found, key=lambda each: os.fsencode(each.name))
        ]
        self.size: int | None = sum(about.st_size for _, about in self.files)
        self._read = 0

    def chunks(self) -> Iterator[bytes]:
        """Raise: a folder is not one piece.

        :raises RecordError: always.
        """
        raise RecordError(self.name, "is a folder; say --format folder")

    def waiting(self) -> bool:
        """Return False: a folder never keeps one waiting."""
        return False

    def position(self) -> int:
        """Return how many bytes of the files were read so far."""
        return self._read

    def identity(self) -> Identity | None:
        """Return the folder's path, and a digest of the names, sizes and times of its files."""
        listed = [[os.fsdecode(path.name), about.st_size, about.st_mtime_ns] for path, about in self.files]
        known = hashlib.blake2b(
            json.dumps(listed).encode("utf-8", "surrogatepass"), digest_size=16
        ).hexdigest()
        return {"input": str(self.path.resolve()), "input size": self.size, "input files": known}

    def digest(self) -> str | None:
        """Return a digest of what stands in the files, in their order; what they are called is no part of
        it."""
        digest = hashlib.blake2b(digest_size=16)
        for place in range(len(self.files)):
            with self._opened(place) as source:
                digest.update((source.digest() or "").encode())
        return digest.hexdigest()

    def text(self, place: int, encoding: str) -> str:
        """Return the text of a file.

        :raises RecordError: if it is no text, too long, or not the file any more that was listed.
        """
        with self._opened(place) as source:
            lines, length = [], 0
            for line in Lines(source, encoding):
                length += len(line) + 1
                if length > LONGEST_RECORD:
                    raise RecordError(
                        self.name, f"longer than {LONGEST_RECORD:,} characters; split it into more files"
                    )
                lines.append(line)
            source.check_not_written()
        self._read += self.files[place][1].st_size
        return "\n".join(lines)

    @contextmanager
    def _opened(self, place: int) -> Iterator[FileSource]:
        """Lend a file. What is wrong with it is said by its number: its name may be that of a person."""
        path, about = self.files[place]
        which = f"file {place + 1:,} by name"
        try:
            source = FileSource(path, listed=about)
            try:
                yield source
            finally:
                source.close()
        except RecordError as error:
            where = which if error.line is None else f"{which}, line {error.line:,}"
            raise RecordError(self.name, f"{where}: {error.problem}") from None
        except OSError as error:
            raise RecordError(
                self.name, f"{which}: cannot be read ({error.strerror or 'no reason is given'})"
            ) from None

    def check_unchanged(self) -> None:
        """Do nothing: every file must be the one that was listed, of the same size and time, when it is
        opened and when it was read."""

    def close(self) -> None:
        """Do nothing: every file is closed once it is read."""


class FolderReader(RowReader, FinishedAtTheEnd):
    """Reads the files of a folder. Released texts wait in one file, and become a folder of files at the
    end."""

    unit = "bytes"
    untouched: str | None = None
    has_lists = False

    def __init__(self, source: FolderSource, layout: Layout, naming: Naming | None = None) -> None:
        """Prepare to read.

        :raises RecordError: if there is no text file in the folder.
        """
        if not source.files:
            raise RecordError(source.name, f"has no file in it that ends in {' or '.join(_ENDINGS)}")
        self._source, self._name, self._naming = source, source.name, naming
        self.total, self.position = source.size, source.position
        self._rows = self._texts(layout.encoding)

    def pack(self, pieces: list[Any]) -> bytes:
        """Return released texts as bytes: one a line."""
        return b"".join(pieces)

    def finish(self, partial: Path, ends: list[int], finished: Path) -> None:
        """Write the released texts of a partial file into files of a new folder."""
        finished.mkdir(mode=0o700)
        digits = max(4, len(str(len(self._source.files))))
        with os.fdopen(open_regular(partial), "rb") as file:
            for number, line in enumerate(islice(file, len(self._source.files) if ends[-1] else 0), 1):
                with os.fdopen(
                    open_regular(finished / f"{number:0{digits}}.txt", os.O_WRONLY | os.O_CREAT | os.O_EXCL),
                    "wb",
                ) as made:
                    made.write(json.loads(line).encode() + b"\n")
                    made.flush()
                    os.fsync(made.fileno())
        sync_folder(finished)

    def _texts(self, encoding: str) -> Iterator[Row]:
        for place in range(len(self._source.files)):
            text = self._source.text(place, encoding)
            yield Row(
                None,
                (text,),
                len(text),
                () if self._naming is None else self._naming.names(place + 1, None, ("",)),
            )

    def _batch(self, rows: list[Row], *, pause: bool) -> Batch:
        return Batch(
            first=self._done,
            counts=[1] * len(rows),
            texts=[text for row in rows for text in row.texts],
            writer=lambda released, records: b"".join(
                json.dumps(text).encode() + b"\n" for text in released[:records]
            ),
            names=None if self._naming is None else [name for row in rows for name in row.names],
            pause=pause,
        )
