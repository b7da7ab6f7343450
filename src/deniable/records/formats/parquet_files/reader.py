"""Parquet: columns that are not named pass with their types, nulls, order and metadata.

A private column keeps its type too, with one exception: if it is a dictionary of texts, it is released as a
dictionary with int32 indices and without an order of its values. Released words can be more than the
original's int8 indices can count, and an order of the private values would mean nothing for them.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from itertools import islice, repeat
from pathlib import Path
from typing import Any

import pyarrow as pa

from deniable.errors import InvalidParameter, RecordError, ResumeError, UndecidedColumns, printable
from deniable.noise.encoding import RecordId
from deniable.records.formats.layout import Layout, find_named_columns, untouched_columns
from deniable.records.formats.naming import Naming
from deniable.records.formats.parquet_files.partial import pack_stream, streams_to_parquet
from deniable.records.formats.parquet_files.rows import ParquetRows
from deniable.records.formats.parquet_files.texts import (
    TextColumn,
    check_lengths,
    find_text_columns,
    split_by,
)
from deniable.records.formats.paths import parse_path
from deniable.records.formats.reader import Batch, BatchSize, FinishedAtTheEnd, Row, gather
from deniable.records.formats.roles import Roles
from deniable.records.formats.source import LONGEST_RECORD, FileSource
from deniable.release.columns import is_text

_SAYS_TYPES_ONLY = {b"ARROW:schema", b"PARQUET:field_id"}
_PANDAS = b"pandas"


class ParquetReader(FinishedAtTheEnd):
    """Reads rows of a Parquet file; what it writes are Arrow record batches of ``schema`` (see
    ``partial``)."""

    unit = "rows"

    def __init__(self, source: FileSource, layout: Layout, naming: Naming | None = None) -> None:
        """Open the file and find the columns.

        :raises RecordError: if it is not a Parquet file.
        :raises InvalidParameter: if a column is not there or does not hold text.
        """
        self._source, self._path = source, source.path
        self._file = ParquetRows(source)
        self.schema: pa.Schema = self._file.schema
        self.total: int | None = self._file.rows
        self._texts = find_text_columns(layout.columns, self.schema, source.name)
        private = {self.schema.field(column.place).name for column in self._texts}
        self._roles, dropped = layout.roles, _places_to_drop(layout.roles, self.schema)
        self.schema = _without_notes(self.schema, private, dropped=layout.roles.drop)
        self._kept = [place for place in range(len(self.schema)) if place not in dropped]
        self.untouched = _untouched(self.schema, self._texts, dropped)
        self.has_lists = any(column.has_lists for column in self._texts)
        for column in self._texts:
            field = self.schema.field(column.place)
            if pa.types.is_dictionary(field.type):
                self.schema = self.schema.set(
                    column.place, field.with_type(pa.dictionary(pa.int32(), field.type.value_type))
                )
        self._written: pa.Schema = pa.schema(
            [self.schema.field(place) for place in self._kept], metadata=self.schema.metadata
        )
        self._naming = naming
        self._id = self._id_column()
        self._done = 0

    def head(self) -> list[Any]:
        """Return nothing: the schema travels with every checkpoint."""
        return []

    def tail(self) -> list[Any]:
        """Return nothing: the footer is written when the output gets its final form."""
        return []

    def position(self) -> int:
        """Return how many rows were read."""
        return self._done

    def let_pass(self, columns: Collection[str], judged: str) -> None:
        """Refuse what has no role and is not among these, inside of columns too.

        :raises UndecidedColumns: if there is anything.
        """
        found = (
            path for field in self.schema for path in _paths_of(field.name, field.type, self._roles.named)
        )
        if undecided := [path for path in found if path not in columns]:
            raise UndecidedColumns(self._source.name, dict.fromkeys(undecided, "no role"), judged=judged)

    def skip(self, records: int) -> None:
        """Leave out the rows that an earlier run released.

        :raises ResumeError: if there are not as many.
        """
        if records > (self.total or 0):
            raise ResumeError(
                self._path,
                f"has {self.total:,} records, but an earlier run released {records:,}: the input has changed",
            )
        if self._naming is not None and self._id is not None:  # their ids must not come again in what is left
            record = 0
            for part in self._file.batches(columns=[self.schema.field(self._id).name]):
                for name in self._ids(part.column(0), record)[: records - record]:
                    record += 1
                    self._naming.names(record, name, ())
                if record == records:
                    break
        self._done = records

    def batches(self, size: BatchSize) -> Iterator[Batch]:
        """Yield the rows in batches.

        :raises RecordError: if the file is damaged, a text is too long or not valid UTF-8, or at the end, if
            two records of a keyed release have one id.
        """
        for part in self._file.batches(skip=self._done):
            start = 0
            for group in gather(
                self._rows(part), size, lambda: False, name=self._source.name, done=self._done
            ):
                yield self._batch(part.slice(start, len(group)), group)
                start += len(group)
                self._done += len(group)
        if self._naming is not None:
            self._naming.check_unique()

    def pack(self, pieces: list[Any]) -> bytes:
        """Return record batches as one complete Arrow stream."""
        return pack_stream(pieces, self._written)

    def finish(self, partial: Path, ends: list[int], finished: Path) -> None:
        """Write the Arrow streams of a partial file as Parquet.

        :raises RecordError: if Arrow cannot write it.
        """
        private = [self.schema.field(column.place).name for column in self._texts if not column.steps]
        try:
            streams_to_parquet(partial, ends, self._file.compression, finished, private=private)
        except (
            pa.ArrowException,
            ArithmeticError,
            LookupError,
            ValueError,
        ):  # the library's own words could quote a value
            raise RecordError(
                self._path, "holds columns that cannot be written as Parquet again; leave them out of it"
            ) from None

    def _id_column(self) -> int | None:
        if self._naming is None or self._naming.column is None:
            return None
        column = find_named_columns([self._naming.column], self.schema.names, str(self._path))[0]
        kind = self.schema.field(column).type
        kind = kind.value_type if pa.types.is_dictionary(kind) else kind
        fits = {
            str: is_text,
            int: pa.types.is_integer,
            float: pa.types.is_floating,
            bool: pa.types.is_boolean,
        }
        if not any(fits[each](kind) for each in self._naming.kinds):
            problem = f"holds {kind}; {self._naming.called}s are {self._naming.kinds_in_words}"
            raise InvalidParameter("record_id", self._naming.column, problem)
        return column

    def _rows(self, part: pa.RecordBatch) -> Iterator[Row]:
        """Yield the texts of each row, column by column; the payload says how many each column has."""
        taken, done = [], self._done
        for column in self._texts:
            array = part.column(column.place)
            positions = column.positions(array) if column.steps else [[()]] * len(part)
            texts = self._read(column.texts(array), None if column.has_lists else done)
            taken.append((column, positions, split_by([len(each) for each in positions], texts)))
        given = repeat(None) if self._id is None else self._ids(part.column(self._id), done)
        for row, name in zip(range(len(part)), given, strict=False):
            texts = [text for _, _, each in taken for text in next(each)]
            names: tuple[RecordId, ...] = ()
            if self._naming is not None:
                places = [place for column, positions, _ in taken for place in column.places(positions[row])]
                names = self._naming.names(done + row + 1, name, places)
            yield Row([len(positions[row]) for _, positions, _ in taken], tuple(texts), 0, names)

    def _ids(self, column: pa.Array, done: int) -> list[Any]:
        try:
            ids: list[Any] = column.to_pylist()
        except UnicodeDecodeError:  # its message holds the id
            raise RecordError(
                self._path, f"an id in records {done + 1:,} to {done + len(column):,} is not valid UTF-8"
            ) from None
        return ids

    def _read(self, texts: pa.Array, done: int | None) -> list[str | None]:
        """Return texts as text; ``done`` rows came before them, None if they do not stand in one row each."""
        try:
            check_lengths(texts, done or 0, self._path, LONGEST_RECORD)
            read: list[str | None] = texts.to_pylist()
        except (UnicodeDecodeError, pa.ArrowInvalid):
            last = self._done + len(texts)
            where = (
                f"in records {self._done + 1:,} to {last:,}"
                if done is not None
                else f"after record {self._done:,}"
            )
            raise RecordError(self._path, f"a text {where} is not valid UTF-8") from None
        return read

    def _batch(self, part: pa.RecordBatch, rows: list[Row]) -> Batch:
        columns = list(part.columns)
        for (
            column
        ) in self._texts:  # without the private texts, which need not be held until the batch is written
            empty = pa.nulls(len(column.texts(columns[column.place])), column.kind) if column.steps else None
            columns[column.place] = column.put(columns[column.place], empty)

        def write(released: list[str | None], records: int) -> pa.RecordBatch:
            arrays = [None if column is None else column.slice(0, records) for column in columns]
            by_column: list[list[str | None]] = [[] for _ in self._texts]
            texts = iter(released)
            for row in rows[:records]:
                for taken, count in zip(by_column, row.payload, strict=True):
                    taken.extend(islice(texts, count))
            for column, taken in zip(self._texts, by_column, strict=True):
                kind = column.kind if column.steps else self.schema.field(column.place).type
                arrays[column.place] = column.put(arrays[column.place], _as_type(taken, kind))
            return pa.RecordBatch.from_arrays([arrays[place] for place in self._kept], schema=self._written)

        return Batch(
            first=self._done,
            counts=[len(row.texts) for row in rows],
            texts=[text for row in rows for text in row.texts],
            writer=write,
            names=None if self._naming is None else [name for row in rows for name in row.names],
        )


def _as_type(texts: list[str | None], kind: pa.DataType) -> pa.Array:
    if not pa.types.is_dictionary(kind):
        return pa.array(texts, type=kind)
    return pa.array(texts, type=kind.value_type).dictionary_encode()


def _places_to_drop(roles: Roles, schema: pa.Schema) -> list[int]:
    """Return where the columns stand that are left out.

    :raises InvalidParameter: if a part of a column is to be left out.
    """
    for name in roles.drop:
        path = parse_path(name)
        if name not in schema.names and path.steps and path.steps[0] in schema.names:
            raise InvalidParameter(
                "drop",
                name,
                f"is a part of the column {printable(path.steps[0])}; of Parquet, leave out whole columns",
            )
    return [place for place, name in enumerate(schema.names) if name in roles.drop]


def _paths_of(path: str, kind: pa.DataType, named: Collection[str]) -> Iterator[str]:
    """Yield every path to a value that a type can hold, but for those with a role."""
    if path in named:
        return
    if pa.types.is_struct(kind):
        for field in (kind.field(i) for i in range(kind.num_fields)):
            yield from _paths_of(f"{path}.{field.name}", field.type, named)
    elif pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        yield from _paths_of(f"{path}[]", kind.value_type, named)
    else:
        yield path


def _untouched(schema: pa.Schema, texts: list[TextColumn], dropped: list[int]) -> str | None:
    private = [column.place for column in texts]
    columns = untouched_columns(schema.names, [*private, *dropped])
    parts = [columns] if columns else []
    for place in dict.fromkeys(
        column.place for column in texts if column.steps and schema.field(column.place).type.num_fields
    ):
        inside = [column.label for column in texts if column.place == place]
        if any(label != f"{schema.field(place).name}[]" for label in inside):
            parts.append(
                f"all of {printable(schema.field(place).name)} but {', '.join(map(printable, inside))}"
            )
    if has_own_metadata(schema, private):
        parts.append("the file's own metadata")
    return " and ".join(parts) or None


def has_own_metadata(schema: pa.Schema, private: Sequence[int]) -> bool:
    """Return whether the schema carries more than types: notes of its own on the file or on a column.

    What pandas notes about types is not counted, unless it holds attributes set by hand; of a ``private``
    column, given by its place, the number of different values is not released.
    """
    names = {schema.field(i).name for i in private}
    notes = dict(_without_notes(schema, names).metadata or {})
    pandas = notes.pop(_PANDAS, None)
    if pandas is not None and _pandas_tells(pandas, names):
        return True
    return any(set(found) - _SAYS_TYPES_ONLY for found in (notes, *_of_fields(schema)))


def _without_notes(schema: pa.Schema, private: set[str], *, dropped: Collection[str] = ()) -> pa.Schema:
    """Return a schema in which pandas does not note how many different values a private column has, nor that
    there were dropped ones."""
    notes = dict(schema.metadata or {})
    try:
        known = json.loads(notes[_PANDAS])
        if dropped:
            known["columns"] = [column for column in known["columns"] if column["field_name"] not in dropped]
            known["index_columns"] = [index for index in known["index_columns"] if index not in dropped]
            notes[_PANDAS] = json.dumps(known).encode()
        for column in known["columns"]:
            if column["field_name"] in private and "num_categories" in (column["metadata"] or {}):
                column["metadata"] = {
                    name: value for name, value in column["metadata"].items() if name != "num_categories"
                } or None
                notes[_PANDAS] = json.dumps(known).encode()
    except (
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
    ):  # it is not what pandas writes: the receipt says that it is released
        return schema
    return schema.with_metadata(notes)


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
        return bool(known.get("attributes")) or any(
            "num_categories" in (column["metadata"] or {}) for column in columns
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        return True
