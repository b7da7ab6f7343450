"""A folder of text files: each file is a record, and the output is a folder of files with numbers for names.

A file's name is often the name of a person, so it is not released. The first file by name is the first in the
output: their order is public, as that of records in every format.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

from deniable.atomic import open_regular, sync_folder
from deniable.errors import RecordError
from deniable.records.formats.columns import WHOLE_LINE
from deniable.records.formats.lines import LONGEST_RECORD, Lines
from deniable.records.formats.reader import Reader, Row
from deniable.records.formats.source import FileSource, Source

_ENDINGS = (".txt", ".text")


class FolderSource(Source):
    """The text files directly in a folder, in the order of their names; links, other files and folders in it
    are ignored."""

    def __init__(self, path: Path) -> None:
        self.path, self.name = path, str(path)
        entries = [
            entry
            for entry in os.scandir(path)
            if entry.name.lower().endswith(_ENDINGS) and entry.is_file(follow_symlinks=False)
        ]
        self.files = [
            (Path(entry.path), entry.stat(follow_symlinks=False))
            for entry in sorted(entries, key=lambda each: os.fsencode(each.name))
        ]
        self.size = sum(about.st_size for _, about in self.files)
        listed = [[os.fsdecode(path.name), about.st_size, about.st_mtime_ns] for path, about in self.files]
        digest = hashlib.blake2b(json.dumps(listed).encode("utf-8", "surrogatepass"), digest_size=16)
        self._digest: str | None = None
        where = str(path.resolve())
        self.identity = {"input": where, "input size": self.size, "input files": digest.hexdigest()}

    def chunks(self) -> Iterator[bytes]:
        """Raise: a folder is not one piece."""
        raise RecordError(self.name, "is a folder; say --format folder")

    def digest(self) -> str | None:
        """Return a digest of what is in the files, in their order; their names are no part of it."""
        if self._digest is None:
            digest = hashlib.blake2b(digest_size=16)
            for place in range(len(self.files)):
                with self._opened(place) as source:
                    digest.update((source.digest() or "").encode())
            self._digest = digest.hexdigest()
        return self._digest

    def text(self, place: int, encoding: str) -> str:
        """Return the text of a file."""
        with self._opened(place) as source:
            lines, length = [], 0
            for line in Lines(source, encoding):
                length += len(line) + 1
                if length > LONGEST_RECORD:
                    problem = f"longer than {LONGEST_RECORD:,} characters; split it into more files"
                    raise RecordError(self.name, problem)
                lines.append(line)
            source.check_not_written()
        self.read += self.files[place][1].st_size
        return "\n".join(lines)

    @contextmanager
    def _opened(self, place: int) -> Iterator[FileSource]:
        """Lend a file. Messages give its number: its name may be that of a person."""
        path, about = self.files[place]
        which = f"file {place + 1:,} by name"
        try:
            with closing(FileSource(path, listed=about)) as source:
                yield source
        except RecordError as error:
            where = which if error.line is None else f"{which}, line {error.line:,}"
            raise RecordError(self.name, f"{where}: {error.problem}") from None
        except OSError as error:
            problem = f"{which}: cannot be read ({error.strerror or 'no reason is given'})"
            raise RecordError(self.name, problem) from None


class FolderReader(Reader):
    """Reads the files of a folder. Released texts wait in one file, and become a folder of files at the
    end."""

    is_whole = True
    source: FolderSource

    def begin(self) -> None:
        """Prepare to read."""
        if not self.source.files and not self.looks:
            raise RecordError(self.source.name, f"has no file in it that ends in {' or '.join(_ENDINGS)}")

    def rows(self) -> Iterator[Row]:
        """Yield the files one by one."""
        for place in range(len(self.source.files)):
            text = self.source.text(place, self.layout.encoding)
            yield Row(None, (text,), len(text), ("",), fields=[(WHOLE_LINE, text)])

    def write(self, payloads: list[Any], released: list[str | None]) -> bytes:
        """Return released texts as bytes: one a line."""
        del payloads
        return b"".join(json.dumps(text).encode() + b"\n" for text in released)

    def finish(self, partial: Path, ends: list[int], finished: Path) -> None:
        """Write the released texts of a partial file into files of a new folder."""
        finished.mkdir(mode=0o700)
        number = len(self.source.files)
        digits = max(4, len(str(number)))
        with os.fdopen(open_regular(partial), "rb") as file:
            for place, line in enumerate(islice(file, number if ends[-1] else 0), 1):
                path = finished / f"{place:0{digits}}.txt"
                with os.fdopen(open_regular(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb") as output:
                    output.write(json.loads(line).encode() + b"\n")
                    output.flush()
                    os.fsync(output.fileno())
        sync_folder(finished)
