"""Parquet: columns that are not named pass with their types, nulls, order and metadata.

Arrow trusts what it reads, and a crafted file can end the process or stand for gigabytes. So
``parquet_parser`` reads the file in a confined process. A private column keeps its type, with one exception:
a dictionary of texts is released with int32 indices and without an order of its values. Released words can be
more
than the original's int8 indices can count, and an order of the private values would mean nothing for them.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from itertools import groupby, islice, repeat
from pathlib import Path
from typing import Any, NoReturn

import pyarrow as pa
import pyarrow.ipc as ipc

from deniable.errors import InvalidParameter, RecordError, printable
from deniable.noise.encoding import RecordId
from deniable.records.formats.columns import (
    Field,
    Leaf,
    fields_of,
    find_named_columns,
    parse_path,
    untouched_columns,
)
from deniable.records.formats.confined_parent import ParserFailed, parse_confined
from deniable.records.formats.layout import Layout, Roles
from deniable.records.formats.lines import LONGEST_RECORD
from deniable.records.formats.naming import Naming
from deniable.records.formats.parquet_partial import pack_stream, streams_to_parquet
from deniable.records.formats.parquet_texts import TextColumn, check_lengths, find_text_columns, split_by
from deniable.records.formats.reader import Reader, Row
from deniable.records.formats.source import FileSource
from deniable.release.columns import is_text

BYTES_AT_ONCE = 8 << 20
_ROWS_AT_ONCE, _FEW_ROWS_AT_ONCE = 2_048, 8
_PARSER = Path(__file__).with_name("parquet_parser.py")
_ADVICE = "if you trust it, write it again in smaller row groups, without dictionaries"
_SAYS_TYPES_ONLY = {b"ARROW:schema", b"PARQUET:field_id"}
_PANDAS = b"pandas"
# What Arrow raises for dates and times that Python does not have, and for fields of one name.
_NOT_IN_PYTHON = (ArithmeticError, LookupError, ValueError, pa.ArrowException)


class ParquetRows:
    """A Parquet file that is read front to back: its schema, its number of rows, and how columns are
    compressed."""

    def __init__(self, source: FileSource) -> None:
        """Open the file.

        :raises RecordError: if it is not a Parquet file.
        """
        self._source = source
        self._pieces = self._parse(0, _ROWS_AT_ONCE)
        about = json.loads(next(self._pieces))
        self.rows: int = about["rows"]
        self.compression: dict[str, str] | str = about["compression"]
        self.schema: pa.Schema = ipc.read_schema(pa.py_buffer(next(self._pieces)))

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows in batches, once.

        :raises RecordError: if the file is damaged, or decodes to far more than its size.
        """
        done = 0
        try:
            for batch in map(_batch_from, self._pieces):
                done += len(batch)
                yield batch
        except ParserFailed:  # long values that stand once in the file may be those of very many rows
            yield from map(_batch_from, islice(self._parse(done, _FEW_ROWS_AT_ONCE), 2, None))

    def _parse(self, skip: int, most_rows: int) -> Iterator[bytes]:
        limits = {"most_rows": most_rows, "most_bytes": BYTES_AT_ONCE}
        return parse_confined(self._source, _PARSER, _ADVICE, skip=skip, **limits)


def _batch_from(piece: bytes) -> pa.RecordBatch:
    with ipc.open_stream(pa.py_buffer(piece)) as stream:
        return stream.read_next_batch()


class _Part:
    """A record batch of the file: its columns without the private texts, and its values once they are
    asked for."""

    def __init__(self, batch: pa.RecordBatch, done: int, columns: list[Any]) -> None:
        self.batch: pa.RecordBatch | None = batch
        self.done, self.columns = done, columns
        self.values: list[tuple[str, list[Any]]] | None = None


class ParquetReader(Reader):
    """Reads rows of a Parquet file; what it writes are Arrow tables."""

    unit = "rows"
    is_whole = True
    source: FileSource

    def __init__(
        self, source: FileSource, layout: Layout, naming: Naming | None = None, *, looks: bool = False
    ) -> None:
        """Open the file and find the columns.

        :raises RecordError: if it is not a Parquet file.
        :raises InvalidParameter: if a column is not there or does not hold text.
        """
        super().__init__(source, layout, naming, looks=looks)
        self._file = ParquetRows(source)
        self.total = self._file.rows
        schema = self._file.schema
        self._texts = [] if looks else find_text_columns(layout.columns, schema, source.name)
        private = {schema.field(column.place).name for column in self._texts}
        dropped = _places_to_drop(layout.roles, schema)
        self.schema: pa.Schema = _without_notes(schema, private, dropped=layout.roles.drop)
        self.untouched = _untouched(self.schema, self._texts, dropped)
        self.has_lists = any(column.has_lists for column in self._texts)
        for column in self._texts:
            field = self.schema.field(column.place)
            if pa.types.is_dictionary(field.type):
                released = field.with_type(pa.dictionary(pa.int32(), field.type.value_type))
                self.schema = self.schema.set(column.place, released)
        self._kept = [place for place in range(len(self.schema)) if place not in dropped]
        kept = [self.schema.field(place) for place in self._kept]
        self._written: pa.Schema = pa.schema(kept, metadata=self.schema.metadata)
        self._id = self._id_column()

    def position(self) -> int:
        """Return how many rows were read."""
        return self.done

    def columns(self) -> list[str]:
        """Return the paths of everything that the columns can hold, and that has no role."""
        named = self.layout.roles.named
        return [path for field in self.schema for path in _paths_of(field.name, field.type, named)]

    def rows(self) -> Iterator[Row]:
        """Yield the rows one by one.

        :raises RecordError: if the file is damaged, or a text is too long or not valid UTF-8.
        """
        done = 0
        for batch in self._file.batches():
            weight = batch.nbytes // max(1, len(batch))
            texts, part = [], _Part(batch, done, list(batch.columns))
            for column in self._texts:
                array = batch.column(column.place)
                positions = column.positions(array) if column.steps else [[()]] * len(batch)
                read = self._read(column, column.texts(array), done)
                texts.append((column, positions, split_by([len(each) for each in positions], read)))
                part.columns[column.place] = column.put(part.columns[column.place], column.empty(array))
            ids = repeat(None) if self._id is None else self._ids(batch.column(self._id), done)
            for row, name in zip(range(len(batch)), ids, strict=False):
                own = tuple(text for _, _, each in texts for text in next(each))
                names: tuple[RecordId, ...] = ()
                if self.naming is not None:
                    places = [place for column, at, _ in texts for place in column.places(at[row])]
                    names = self.naming.names(done + row + 1, name, places)
                counts = [len(at[row]) for _, at, _ in texts]
                columns = [column.name for column, at, _ in texts for _ in at[row]]
                yield Row((part, row, counts), own, weight, names, self._fields(part, row), columns)
            part.batch = part.values = None
            done += len(batch)

    def write(self, payloads: list[Any], released: list[str | None]) -> pa.Table:
        """Return the rows with the released texts in their columns."""
        texts, batches = iter(released), []
        for _, group in groupby(payloads, key=lambda payload: id(payload[0])):
            rows = list(group)
            part, first, _ = rows[0]
            arrays = [None if array is None else array.slice(first, len(rows)) for array in part.columns]
            by_column: list[list[str | None]] = [[] for _ in self._texts]
            for _, _, counts in rows:
                for taken, count in zip(by_column, counts, strict=True):
                    taken.extend(islice(texts, count))
            for column, taken in zip(self._texts, by_column, strict=True):
                kind = column.kind if column.steps else self.schema.field(column.place).type
                arrays[column.place] = column.put(arrays[column.place], _as_type(taken, kind))
            kept = [arrays[place] for place in self._kept]
            batches.append(pa.RecordBatch.from_arrays(kept, schema=self._written))
        return pa.Table.from_batches(batches, schema=self._written)

    def pack(self, pieces: list[Any]) -> bytes:
        """Return tables as one complete Arrow stream."""
        return pack_stream(
            [batch for piece in pieces if piece for batch in piece.to_batches()], self._written
        )

    def finish(self, partial: Path, ends: list[int], finished: Path) -> None:
        """Write the Arrow streams of a partial file as Parquet.

        :raises RecordError: if Arrow cannot write it.
        """
        private = [self.schema.field(column.place).name for column in self._texts if not column.steps]
        try:
            streams_to_parquet(partial, ends, self._file.compression, finished, private=private)
        except _NOT_IN_PYTHON:  # the library's own words could quote a value
            problem = "holds columns that cannot be written as Parquet again; leave them out of it"
            raise RecordError(self.name, problem) from None

    def has_notes(self, private: Collection[str] = ()) -> bool:
        """Return whether the file carries notes of its own, which a release copies."""
        roots = {str((parse_path(name).steps or (name,))[0]) for name in private} | set(private)
        places = [place for place, name in enumerate(self.schema.names) if name in roots]
        return _has_own_metadata(self.schema, places)

    def _id_column(self) -> int | None:
        if self.naming is None or self.naming.column is None:
            return None
        column = find_named_columns([self.naming.column], self.schema.names, self.name)[0]
        kind = self.schema.field(column).type
        kind = kind.value_type if pa.types.is_dictionary(kind) else kind
        fits = {
            str: is_text,
            int: pa.types.is_integer,
            float: pa.types.is_floating,
            bool: pa.types.is_boolean,
        }
        if not any(fits[each](kind) for each in self.naming.kinds):
            problem = f"holds {kind}; {self.naming.called}s are {self.naming.kinds_in_words}"
            raise InvalidParameter("record_id", self.naming.column, problem)
        return column

    def _fields(self, part: _Part, row: int) -> Iterator[Field]:
        named = self.layout.roles.named
        if part.values is None:
            assert part.batch is not None  # noqa: S101
            try:
                part.values = [
                    (name, [None] * len(part.batch) if name in named else _values(column))
                    for name, column in zip(part.batch.schema.names, part.batch.columns, strict=True)
                ]
            except UnicodeDecodeError:  # its message holds the value
                self._refuse_bytes("a value", part.batch, part.done)
        for name, values in part.values:
            yield from fields_of(name, values[row], named)

    def _ids(self, column: pa.Array, done: int) -> list[Any]:
        try:
            ids: list[Any] = column.to_pylist()
        except UnicodeDecodeError:
            self._refuse_bytes("an id", column, done)
        return ids

    def _read(self, column: TextColumn, texts: pa.Array, done: int) -> list[str | None]:
        """Return texts as text; ``done`` rows came before them."""
        try:
            check_lengths(texts, 0 if column.has_lists else done, self.name, LONGEST_RECORD)
            read: list[str | None] = texts.to_pylist()
        except (UnicodeDecodeError, pa.ArrowInvalid):
            self._refuse_bytes("a text", texts, done)
        return read

    def _refuse_bytes(self, what: str, rows: Any, done: int) -> NoReturn:
        where = f"records {done + 1:,} to {done + len(rows):,}"
        raise RecordError(self.name, f"{what} in {where} is not valid UTF-8") from None


def _values(column: pa.Array) -> list[Any]:
    try:
        return list(column.to_pylist())
    except UnicodeDecodeError:
        raise
    except _NOT_IN_PYTHON:
        return [_value(scalar) for scalar in column]


def _value(scalar: pa.Scalar) -> Any:
    """Return a value as far as Python has it."""
    try:
        return scalar.as_py()
    except UnicodeDecodeError:
        raise
    except _NOT_IN_PYTHON:
        if isinstance(scalar, pa.StructScalar):  # of fields of one name the last would hide the others
            names = [field.name for field in scalar.type]
            return {
                name: _value(scalar[i]) if names.count(name) == 1 else Leaf.OTHER
                for i, name in enumerate(names)
            }
        if isinstance(scalar, pa.ListScalar | pa.LargeListScalar) and not isinstance(scalar, pa.MapScalar):
            return [_value(each) for each in scalar]
        return Leaf.OTHER


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
    if _has_own_metadata(schema, private):
        parts.append("the file's own metadata")
    return " and ".join(parts) or None


def _has_own_metadata(schema: pa.Schema, private: Sequence[int]) -> bool:
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
