"""The seam between formats and jobs: what a reader of records offers, and which one reads a source."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

from deniable.errors import InvalidParameter
from deniable.records.formats.batch import Batch, BatchSize
from deniable.records.formats.layout import Layout
from deniable.records.formats.lines import PlainReader
from deniable.records.formats.naming import Naming
from deniable.records.formats.source import FileSource, Source
from deniable.text.privatizer import Privatizer


class Reader(Protocol):
    """Reads records of one format.

    ``unit`` and ``total`` are for the progress: what ``position`` counts, and how many there are. ``untouched`` says in
    words what of each record is released exactly as it is, None if nothing.
    """

    unit: str
    total: int | None
    untouched: str | None

    def head(self) -> list[Any]:
        """Return what the output begins with, before any record."""

    def skip(self, records: int) -> None:
        """Leave out the records that an earlier run released."""

    def batches(self, size: BatchSize) -> Iterator[Batch]:
        """Yield the records in batches."""

    def position(self) -> int:
        """Return how far the reading is."""


def open_reader(source: Source, layout: Layout, naming: Naming | None = None) -> Reader:
    """Return the reader of the source's records; the libraries of a format are imported only when it is used.

    ``naming`` makes the reader name the records, for a keyed release.

    :raises InvalidParameter: if a column is not there, or Parquet comes as a stream.
    :raises RecordError: if the source is not of the format.
    """
    if layout.format in ("csv", "tsv"):
        from deniable.records.formats.delimited import DelimitedReader

        return DelimitedReader(source, layout, naming)
    if layout.format == "jsonl":
        from deniable.records.formats.jsonlines import JsonLinesReader

        return JsonLinesReader(source, layout, naming)
    if layout.format == "parquet":
        from deniable.records.formats.parquet import ParquetReader

        if not isinstance(source, FileSource):
            raise InvalidParameter("format", "parquet", "cannot be read from a stream; give a file")
        return ParquetReader(source.path, layout, naming)
    return PlainReader(source, naming, encoding=layout.encoding)


def naming_for(private: Privatizer, source: Source, layout: Layout) -> Naming | None:
    """Return how the records of a source are named; None if the release is not keyed.

    :raises InvalidParameter: if ids are given without a key, or needed and not given.
    """
    keyed = private.keyed
    if keyed is None:
        if layout.record_id is not None:
            raise InvalidParameter("record_id", layout.record_id, "means something only with a key (--key-file)")
        return None
    if layout.record_id is not None:
        return Naming(source.name, column=layout.record_id, consistent=keyed.consistent)
    if keyed.consistent:
        raise InvalidParameter("record_id", None, "consistent replacement needs the column that names the users (--consistent-by)")
    digest = source.digest()
    if digest is None:
        problem = f"{source.name} is a stream, whose records have no names of their own; name a column of ids (--record-id) or give a file"
        raise InvalidParameter("record_id", None, problem)
    return Naming(source.name, column=None, digest=digest)
