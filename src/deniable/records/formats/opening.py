"""The reader for a layout."""

from __future__ import annotations

from deniable.errors import InvalidParameter
from deniable.records.formats.layout import Layout
from deniable.records.formats.naming import Naming
from deniable.records.formats.plain import PlainReader
from deniable.records.formats.reader import Reader
from deniable.records.formats.source import FileSource, Source


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
