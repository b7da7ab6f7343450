"""Every field of the first records of a file, in any format: its path, and what it holds."""

from __future__ import annotations

import csv
import datetime
import decimal
import json
from collections.abc import Iterator
from itertools import islice
from typing import Any

from deniable.errors import RecordError
from deniable.records.formats.folder import FolderSource
from deniable.records.formats.json_array import Elements
from deniable.records.formats.layout import FOLDER, SPREADSHEETS, Layout
from deniable.records.formats.source import LONGEST_RECORD, FileSource, Lines, Source

Value = str | float | bool | datetime.date | None
Field = tuple[str, Value]
"""The path of a value, as ``--column`` takes it, and the value."""

WHOLE_LINE = ""
"""The path of a text that has none: a line, or a file of a folder."""

_DEEPEST = 20


def read_fields(source: Source, layout: Layout, *, most: int) -> Iterator[list[Field]]:
    """Yield the fields of the first ``most`` records of a file.

    :raises RecordError: if a record cannot be read.
    """
    yield from islice(_records(source, layout), most)


def _records(source: Source, layout: Layout) -> Iterator[list[Field]]:
    if layout.format == FOLDER and isinstance(source, FolderSource):
        return ([(WHOLE_LINE, source.text(place, layout.encoding))] for place in range(len(source.files)))
    if layout.format in ("csv", "tsv"):
        return _rows(source, layout)
    if layout.format in ("jsonl", "json"):
        return _objects(source, layout)
    if layout.format in SPREADSHEETS and isinstance(source, FileSource):
        return _cells(source, layout)
    if layout.format == "parquet" and isinstance(source, FileSource):
        return _parquet_rows(source)
    return ([(WHOLE_LINE, line.removesuffix("\r"))] for line in Lines(source, layout.encoding))


def _rows(source: Source, layout: Layout) -> Iterator[list[Field]]:
    csv.field_size_limit(max(csv.field_size_limit(), LONGEST_RECORD + 1))
    reader = csv.reader((line + "\n" for line in Lines(source, layout.encoding)), delimiter=layout.delimiter, strict=True)
    try:
        names = next(reader, None) if layout.header else None
        for cells in reader:
            yield [(_name(names, place), cell or None) for place, cell in enumerate(cells)]
    except csv.Error:
        raise RecordError(source.name, "a quote or a line end is wrong", line=reader.line_num) from None


def _name(names: list[str] | None, place: int) -> str:
    return str(place + 1) if names is None else names[place] if place < len(names) else f"(cell {place + 1})"


def _objects(source: Source, layout: Layout) -> Iterator[list[Field]]:
    lines = Elements(source, layout.encoding) if layout.format == "json" else Lines(source, layout.encoding)
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):  # the library's own words could quote the text
            record = None
        if not isinstance(record, dict):
            raise RecordError(source.name, "not a JSON object", record=number)
        yield [field for key, value in record.items() for field in _flat(key, value)]


def _flat(path: str, value: Any, depth: int = 0) -> Iterator[Field]:
    if depth > _DEEPEST:
        return
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _flat(f"{path}.{key}", inner, depth + 1)
    elif isinstance(value, list):
        for inner in value:
            yield from _flat(f"{path}[]", inner, depth + 1)
    elif value is None or isinstance(value, str | bool | int | float | datetime.date):
        yield path, value
    elif isinstance(value, decimal.Decimal):
        yield path, float(value)


def _cells(source: FileSource, layout: Layout) -> Iterator[list[Field]]:
    from deniable.records.formats.spreadsheets.reader import open_workbook

    names: list[str] | None = None
    for row in open_workbook(source, layout.format, layout.sheet).rows():
        if layout.header and names is None:
            names = row.texts()
            continue
        yield [(_name(names, cell.column - 1), None if cell.formula else cell.text) for cell in row.cells]


def _parquet_rows(source: FileSource) -> Iterator[list[Field]]:
    from deniable.records.formats.parquet import open_parquet
    from deniable.records.formats.parquet_batches import BoundedBatches

    file, footer = open_parquet(source)
    bounded = BoundedBatches(source, file, footer, most_rows=512, most_bytes=8 << 20)
    for group in range(len(footer.groups)):
        for batch in bounded.of_group(group):
            try:
                rows = batch.to_pylist()
            except (UnicodeDecodeError, ValueError):
                raise RecordError(source.name, f"row group {group + 1:,} holds what cannot be read as text") from None
            for row in rows:
                yield [field for key, value in row.items() for field in _flat(key, value)]
