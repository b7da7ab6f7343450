"""From a path to records: the source of their bytes, the reader for their layout, and what names them in a
keyed release."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from importlib import import_module
from pathlib import Path

from deniable.errors import InvalidParameter, printable
from deniable.records.formats.folder import FolderSource
from deniable.records.formats.layout import FOLDER, SPREADSHEETS, WHOLE, Layout
from deniable.records.formats.naming import Naming
from deniable.records.formats.reader import Reader
from deniable.records.formats.source import FileSource, Source, StreamSource
from deniable.release.privatizer import Privatizer

_READERS = {
    "text": "reader:PlainReader",
    FOLDER: "folder:FolderReader",
    **dict.fromkeys(("csv", "tsv"), "delimited:DelimitedReader"),
    **dict.fromkeys(("json", "jsonl"), "json_records:JsonReader"),
    **dict.fromkeys(SPREADSHEETS, "spreadsheet:SpreadsheetReader"),
    "parquet": "parquet:ParquetReader",
}


@contextmanager
def open_source(path: Path | None, *, listed: os.stat_result | None = None) -> Iterator[Source]:
    """Open a file, a folder of text files, or standard input when there is no path; a pipe under a path is
    read like standard input.

    A file that was ``listed`` in its folder is opened only if it is that very file, as it was, and not
    through a link.
    """
    if path is None:
        yield StreamSource(sys.stdin.fileno(), "standard input")
    elif listed is None and path.is_dir():
        yield FolderSource(path)
    elif listed is None and path.exists() and not path.is_file():
        with path.open("rb", buffering=0) as pipe:
            yield StreamSource(pipe.fileno(), str(path))
    else:
        with closing(FileSource(path, listed=listed)) as source:
            yield source


def open_reader(
    source: Source, layout: Layout, naming: Naming | None = None, *, looks: bool = False
) -> Reader:
    """Return the reader of a source; the libraries of a format are imported only when it is used."""
    problem = None
    if layout.format == FOLDER and not isinstance(source, FolderSource):
        problem = "needs a folder of .txt files as input"
    if layout.format in WHOLE and not isinstance(source, FileSource):
        problem = "cannot be read from a stream; give a file"
    if problem is not None:
        raise InvalidParameter("format", layout.format, problem)
    module, name = _READERS[layout.format].split(":")
    reader: type[Reader] = getattr(import_module(f"deniable.records.formats.{module}"), name)
    return reader(source, layout, naming, looks=looks)


def naming_for(private: Privatizer, source: Source, layout: Layout) -> Naming | None:
    """Return how the records of a source are named; None if the release is not keyed and no column says whose
    they are.

    Without a key the names are people, for the receipt alone: nothing is drawn by them.
    """
    keyed, record_id, person = private.keyed, layout.record_id, layout.person
    if keyed is None and record_id is not None:
        raise InvalidParameter("record_id", record_id, "means something only with a key (--key-file)")
    if keyed is None:
        return None if person is None else Naming(source.name, column=person, consistent=True)
    if person is not None:
        problem = "is for releases without a key; --consistent-by adds up what each user spends"
        raise InvalidParameter("person", person, problem)
    if record_id is not None:
        return Naming(source.name, column=record_id, consistent=keyed.consistent)
    if keyed.consistent:
        problem = "consistent replacement needs the column that names the users (--consistent-by)"
        raise InvalidParameter("record_id", None, problem)
    digest = source.digest()
    if digest is None:
        problem = "is a stream, whose records have no names of their own; name a column of ids (--record-id)"
        raise InvalidParameter("record_id", None, f"{printable(source.name)} {problem} or give a file")
    return Naming(source.name, column=None, digest=digest)
