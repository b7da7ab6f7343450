"""Parquet: columns that are not named pass with their types, nulls, order and metadata.

A private column keeps its type too, with one exception: if it is a dictionary of texts, it is released as a dictionary
with int32 indices and without an order of its values. Released words can be more than the original's int8 indices can
count, and an order of the private values would mean nothing for them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import accumulate, repeat
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from deniable.errors import InvalidParameter, RecordError, ResumeError
from deniable.keyed.encoding import RecordId
from deniable.records.formats.layout import Layout, find_named_columns, untouched_columns
from deniable.records.formats.naming import Naming
from deniable.records.formats.parquet_batches import BoundedBatches
from deniable.records.formats.parquet_footer import Footer
from deniable.records.formats.parquet_pages import checked_footer
from deniable.records.formats.reader import Batch, BatchSize, Row, gather
from deniable.records.formats.source import LONGEST_RECORD, FileSource
from deniable.text.columns import is_text

_BYTES_AT_ONCE = 8 << 20
_ROWS_AT_ONCE = 2_048
_READ_BUFFER = 1 << 18
_SAYS_TYPES_ONLY = {b"ARROW:schema", b"PARQUET:field_id"}
_PANDAS = b"pandas"


def open_parquet(source: FileSource) -> tuple[pq.ParquetFile, Footer]:
    """Open a Parquet file for reading a little at a time; return it with its footer.

    :raises RecordError: if it is not one.
    """
    try:
        footer = checked_footer(source.reopen(), source.path)
        file = pq.ParquetFile(source.file, pre_buffer=False, buffer_size=_READ_BUFFER)
        str(file.schema_arrow)  # names that are not UTF-8 fail here and not later
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise RecordError(source.name, "not a Parquet file, or a damaged one") from error
    return file, footer


class ParquetReader:
    """Reads rows of a Parquet file; what it writes are Arrow record batches of ``schema`` (see ``arrow_partial``)."""

    unit = "rows"

    def __init__(self, source: FileSource, layout: Layout, naming: Naming | None = None) -> None:
        """Open the file and find the columns.

        :raises RecordError: if it is not a Parquet file.
        :raises InvalidParameter: if a column is not there or does not hold text.
        """
        self._source, self._path = source, source.path
        self._file, self.footer = open_parquet(source)
        self.schema: pa.Schema = self._file.schema_arrow
        self.total: int | None = self.footer.rows
        self._columns = find_named_columns(layout.columns, self.schema.names, source.name)
        self.untouched = _untouched(self.schema, self._columns)
        for i in self._columns:
            field = self.schema.field(i)
            texts = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
            if not is_text(texts):
                raise InvalidParameter("columns", field.name, f"holds {field.type}, not text")
            if pa.types.is_dictionary(field.type):
                self.schema = self.schema.set(i, field.with_type(pa.dictionary(pa.int32(), texts)))
        self._naming = naming
        self._names = layout.columns
        self._id = self._id_column()
        self._done = 0

    def head(self) -> list[Any]:
        """Return nothing: the schema travels with every checkpoint."""
        return []

    def position(self) -> int:
        """Return how many rows were read."""
        return self._done

    def skip(self, records: int) -> None:
        """Leave out the rows that an earlier run released.

        :raises ResumeError: if there are not as many.
        """
        if records > (self.total or 0):
            raise ResumeError(self._path, f"has {self.total:,} records, but an earlier run released {records:,}: the input has changed")
        if self._naming is not None and self._id is not None:  # their ids must not come again in what is left
            record = 0
            for part in self._parts(column=self._id):
                for name in self._ids(part.column(0), record)[: records - record]:
                    record += 1
                    self._naming.names(record, name, self._names)
                if record == records:
                    break
        self._done = records

    def batches(self, size: BatchSize) -> Iterator[Batch]:
        """Yield the rows in batches.

        :raises RecordError: if the file is damaged, a text is too long or not valid UTF-8, or at the end, if two records of a keyed
            release have one id.
        """
        for part in self._parts():
            columns = [self._texts(part.column(i)) for i in self._columns]
            rows = (Row(None, texts, 0, names) for texts, names in zip(zip(*columns, strict=True), self._named(part), strict=True))
            start = 0
            for group in gather(rows, size, lambda: False):
                rest = part.slice(start, len(group))
                yield self._batch(rest, group)
                start += len(group)
                self._done += len(group)
        if self._naming is not None:
            self._naming.check_unique()

    def _parts(self, column: int | None = None) -> Iterator[pa.RecordBatch]:
        """Yield the rows that are not done, or one column of them, in parts that take little memory.

        :raises RecordError: if the file is damaged, or decodes to far more than its size.
        """
        bounded = BoundedBatches(self._source, self._file, self.footer, most_rows=_ROWS_AT_ONCE, most_bytes=_BYTES_AT_ONCE)
        sizes = [group.rows for group in self.footer.groups]
        for group, (rows, end) in enumerate(zip(sizes, accumulate(sizes), strict=True)):
            ahead = self._done - (end - rows)
            if not rows or ahead >= rows:
                continue
            for part in bounded.of_group(group, None if column is None else self.schema.field(column).name):
                if ahead >= len(part):
                    ahead -= len(part)
                    continue
                yield part.slice(max(ahead, 0))
                ahead = 0

    def _id_column(self) -> int | None:
        if self._naming is None or self._naming.column is None:
            return None
        column = find_named_columns([self._naming.column], self.schema.names, str(self._path))[0]
        kind = self.schema.field(column).type
        kind = kind.value_type if pa.types.is_dictionary(kind) else kind
        if not (is_text(kind) or pa.types.is_integer(kind) or (self._naming.decimals and pa.types.is_floating(kind))):
            raise InvalidParameter("record_id", self._naming.column, f"holds {kind}; ids are text or whole numbers")
        return column

    def _named(self, part: pa.RecordBatch) -> Iterator[tuple[RecordId, ...]]:
        if self._naming is None:
            return repeat((), len(part))
        given = repeat(None) if self._id is None else self._ids(part.column(self._id), self._done)
        naming, columns = self._naming, self._names
        return (
            naming.names(record, name, columns)
            for record, name in zip(range(self._done + 1, self._done + len(part) + 1), given, strict=False)
        )

    def _ids(self, column: pa.Array, done: int) -> list[Any]:
        try:
            ids: list[Any] = column.to_pylist()
        except UnicodeDecodeError:  # its message holds the id
            raise RecordError(self._path, f"an id in records {done + 1:,} to {done + len(column):,} is not valid UTF-8") from None
        return ids

    def _texts(self, column: pa.Array) -> list[str | None]:
        try:
            self._check_lengths(column)
            texts: list[str | None] = column.to_pylist()
        except (UnicodeDecodeError, pa.ArrowInvalid):
            last = self._done + len(column)
            raise RecordError(self._path, f"a text in records {self._done + 1:,} to {last:,} is not valid UTF-8") from None
        return texts

    def _check_lengths(self, column: pa.Array) -> None:
        texts = column.dictionary if isinstance(column, pa.DictionaryArray) else column
        if texts.nbytes <= LONGEST_RECORD:
            return
        lengths = pc.utf8_length(texts.cast(pa.large_string()))  # not every type of text can be measured as it is
        if texts is not column:
            lengths = lengths.take(column.indices)
        too_long = pc.index(pc.greater(lengths, LONGEST_RECORD), True).as_py()
        if too_long >= 0:
            problem = f"a text is longer than {LONGEST_RECORD:,} characters; split it"
            raise RecordError(self._path, problem, record=self._done + too_long + 1)

    def _batch(self, part: pa.RecordBatch, rows: list[Row]) -> Batch:
        width = len(self._columns)
        columns = [None if place in self._columns else column for place, column in enumerate(part.columns)]

        def write(released: list[str | None], records: int) -> pa.RecordBatch:
            arrays = [None if column is None else column.slice(0, records) for column in columns]
            for i, column in enumerate(self._columns):
                arrays[column] = _as_type(released[i::width], self.schema.field(column).type)
            return pa.RecordBatch.from_arrays(arrays, schema=self.schema)

        return Batch(
            first=self._done,
            counts=[width] * len(rows),
            texts=[text for row in rows for text in row.texts],
            writer=write,
            names=None if self._naming is None else [name for row in rows for name in row.names],
        )


def _as_type(texts: list[str | None], kind: pa.DataType) -> pa.Array:
    if not pa.types.is_dictionary(kind):
        return pa.array(texts, type=kind)
    return pa.array(texts, type=kind.value_type).dictionary_encode()


def _untouched(schema: pa.Schema, private: list[int]) -> str | None:
    columns = untouched_columns(schema.names, private)
    parts = [columns] if columns else []
    if _has_own_metadata(schema, private):
        parts.append("the file's own metadata")
    return " and ".join(parts) or None


def _has_own_metadata(schema: pa.Schema, private: Sequence[int]) -> bool:
    """Return whether the schema carries more than types: notes of its own on the file or on a column.

    What pandas notes about types is not counted, unless it holds attributes set by hand or the number of different
    values of a ``private`` column, given by its place.
    """
    notes = dict(schema.metadata or {})
    pandas = notes.pop(_PANDAS, None)
    if pandas is not None and _pandas_tells(pandas, {schema.field(i).name for i in private}):
        return True
    return any(set(found) - _SAYS_TYPES_ONLY for found in (notes, *_of_fields(schema)))


def _of_fields(fields: pa.Schema | pa.DataType) -> Iterator[dict[bytes, bytes]]:
    count = len(fields) if isinstance(fields, pa.Schema) else fields.num_fields
    for i in range(count):
        field = fields.field(i)
        yield field.metadata or {}
        yield from _of_fields(field.type)


def _pandas_tells(note: bytes, private: set[str]) -> bool:
    try:
        known = json.loads(note)
        columns = [column for column in known["columns"] if column["field_name"] in private]
        return bool(known.get("attributes")) or any("num_categories" in (column["metadata"] or {}) for column in columns)
    except (ValueError, KeyError, TypeError, AttributeError):
        return True
