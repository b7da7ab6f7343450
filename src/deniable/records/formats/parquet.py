"""Parquet: columns that are not named pass with their types, nulls, order and metadata.

Arrow trusts what it reads, and a crafted file can end the process or stand for gigabytes. So
``parquet_parser`` reads the file in a confined process. A private column keeps its type, with one exception:
a dictionary of texts is released with int32 indices and without an order of its values. Released words can be
more
than the original's int8 indices can count, and an order of the private values would mean nothing for them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cache
from itertools import groupby, islice, repeat
from pathlib import Path
from typing import Any, NoReturn

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.ipc as ipc

from deniable.errors import InvalidParameter, RecordError, printable
from deniable.records.formats.columns import (
    EVERY,
    Field,
    Leaf,
    Slot,
    fields_of,
    find_named_columns,
    nested_slots,
    parse_path,
    untouched_columns,
)
from deniable.records.formats.columns import Path as ColumnPath
from deniable.records.formats.confined_parent import ParserFailed, parse_confined
from deniable.records.formats.layout import Roles
from deniable.records.formats.lines import LONGEST_RECORD
from deniable.records.formats.parquet_partial import pack_stream, streams_to_parquet
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


def read_parquet(source: FileSource) -> tuple[dict[str, Any], pa.Schema, Iterator[pa.RecordBatch]]:
    """Return the number of ``rows`` of a file with the ``compression`` of its columns, its schema, and its
    rows in batches, front to back.

    :raises RecordError: if it is not a Parquet file; while rows are read, if it is damaged, or decodes to far
        more than its size.
    """

    def parse(skip: int, most_rows: int) -> Iterator[bytes]:
        limits = {"most_rows": most_rows, "most_bytes": BYTES_AT_ONCE}
        return parse_confined(source, _PARSER, _ADVICE, skip=skip, **limits)

    def batches() -> Iterator[pa.RecordBatch]:
        done = 0
        try:
            for batch in map(_batch_from, pieces):
                done += len(batch)
                yield batch
        except ParserFailed:  # long values that stand once in the file may be those of very many rows
            yield from map(_batch_from, islice(parse(done, _FEW_ROWS_AT_ONCE), 2, None))

    pieces = parse(0, _ROWS_AT_ONCE)
    about = json.loads(next(pieces))
    return about, ipc.read_schema(pa.py_buffer(next(pieces))), batches()


def _batch_from(piece: bytes) -> pa.RecordBatch:
    with ipc.open_stream(pa.py_buffer(piece)) as stream:
        return stream.read_next_batch()


class ParquetReader(Reader):
    """Reads rows of a Parquet file; what it writes are Arrow tables."""

    unit = "rows"
    is_whole = True
    source: FileSource

    def begin(self) -> None:
        """Open the file and find the columns."""
        layout = self.layout
        about, schema, self._batches = read_parquet(self.source)
        self.total, self._compression = about["rows"], about["compression"]
        self._texts = [] if self.looks else find_text_columns(layout.roles.text, schema, self.source.name)
        self._private = {place: schema.field(place).name for place, _ in self._texts}
        private, dropped = set(self._private.values()), _places_to_drop(layout.roles, schema)
        self.schema: pa.Schema
        self.schema, has_notes = _without_notes(schema, private, dropped=layout.roles.drop)
        self.untouched = _untouched(self.schema, self._texts, dropped, has_notes=has_notes)
        self.has_lists = any(EVERY in path.steps for _, path in self._texts)
        for place in self._private:
            field = self.schema.field(place)
            if pa.types.is_dictionary(field.type):
                released = field.with_type(pa.dictionary(pa.int32(), field.type.value_type))
                self.schema = self.schema.set(place, released)
        self._kept = [place for place in range(len(self.schema)) if place not in dropped]
        kept = [self.schema.field(place) for place in self._kept]
        self._written: pa.Schema = pa.schema(kept, metadata=self.schema.metadata)
        named = layout.roles.named
        self.columns = [path for field in self.schema for path in _paths_of(field.name, field.type, named)]
        self._id = self._id_column()

    def position(self) -> int:
        """Return how many rows were read."""
        return self.done

    def rows(self) -> Iterator[Row]:
        """Yield the rows one by one."""
        done = 0
        for batch in self._batches:
            weight = batch.nbytes // max(1, len(batch))
            private = [self._texts_of(batch.column(place), done) for place in self._private]
            ids = repeat(None) if self._id is None else self._ids(batch.column(self._id), done)
            columns = [None if i in self._private else column for i, column in enumerate(batch.columns)]
            fields = self._fields(batch, done)
            for row, given in zip(range(len(batch)), ids, strict=False):
                record = {
                    name: values[row] for name, values in zip(self._private.values(), private, strict=True)
                }
                slots: list[Slot] = []
                for _, path in self._texts:
                    plain = (Slot(record, path.name, path.name),)
                    slots += nested_slots(record, path, under_null=True) if path.steps else plain
                texts = tuple(self._text(slot, done + row + 1) for slot in slots)
                for slot in slots:
                    slot.holder[slot.key] = None
                payload, places = (columns, row, record, slots), [slot.place for slot in slots]
                yield Row(payload, texts, weight, places, given, fields(row))
            done += len(batch)

    def write(self, payloads: list[Any], released: list[str | None]) -> pa.Table:
        """Return the rows with the released texts in their columns."""
        texts, batches = iter(released), []
        for _, group in groupby(payloads, key=lambda payload: id(payload[0])):
            rows = list(group)
            columns, first, _, _ = rows[0]
            arrays = [None if array is None else array.slice(first, len(rows)) for array in columns]
            for _, _, _, slots in rows:
                for slot in slots:
                    slot.holder[slot.key] = next(texts)
            for place, name in self._private.items():
                values = [record[name] for _, _, record, _ in rows]
                try:
                    arrays[place] = _as_type(values, self.schema.field(place).type)
                except (*_NOT_IN_PYTHON, TypeError):
                    self._refuse_beside(name)
            kept = [arrays[place] for place in self._kept]
            batches.append(pa.RecordBatch.from_arrays(kept, schema=self._written))
        return pa.Table.from_batches(batches, schema=self._written)

    def pack(self, pieces: list[Any]) -> bytes:
        """Return tables as one complete Arrow stream."""
        return pack_stream(
            [batch for piece in pieces if piece for batch in piece.to_batches()], self._written
        )

    def finish(self, partial: Path, ends: list[int], finished: Path) -> None:
        """Write the Arrow streams of a partial file as Parquet."""
        private = [self._private[place] for place, path in self._texts if not path.steps]
        try:
            streams_to_parquet(partial, ends, self._compression, finished, private=private)
        except _NOT_IN_PYTHON:  # the library's own words could quote a value
            problem = "holds columns that cannot be written as Parquet again; leave them out of it"
            raise RecordError(self.name, problem) from None

    def has_notes(self, private: Collection[str] = ()) -> bool:
        """Return whether the file carries notes of its own, which a release copies."""
        roots = {str((parse_path(name).steps or (name,))[0]) for name in private}
        return _without_notes(self.schema, roots.union(private))[1]

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

    def _fields(self, batch: pa.RecordBatch, done: int) -> Callable[[int], Iterator[Field]]:
        """Return what yields the fields of a row; values are read once they are asked for."""
        named = self.layout.roles.named

        @cache
        def values() -> list[tuple[str, list[Any]]]:
            try:
                return [
                    (name, [None] * len(batch) if name in named else _values(column))
                    for name, column in zip(batch.schema.names, batch.columns, strict=True)
                ]
            except UnicodeDecodeError:  # its message holds the value
                self._refuse_bytes("a value", batch, done)

        def fields(row: int) -> Iterator[Field]:
            for name, each in values():
                yield from fields_of(name, each[row], named)

        return fields

    def _ids(self, column: pa.Array, done: int) -> list[Any]:
        try:
            ids: list[Any] = column.to_pylist()
        except UnicodeDecodeError:
            self._refuse_bytes("an id", column, done)
        return ids

    def _texts_of(self, column: pa.Array, done: int) -> list[Any]:
        """Return the values of a column that is private text or holds it; ``done`` rows came before them."""
        plain = column.type.value_type if isinstance(column, pa.DictionaryArray) else column.type
        try:
            if is_text(plain):
                self._check_lengths(column, done)
            else:
                column = column.cast(_plain_type(column.type))
            values: list[Any] = column.to_pylist()
        except (UnicodeDecodeError, pa.ArrowInvalid):
            self._refuse_bytes("a text", column, done)
        except _NOT_IN_PYTHON:
            self._refuse_beside("a column")
        return values

    def _check_lengths(self, column: pa.Array, done: int) -> None:
        """Check the lengths of texts before they are read: many rows can share one."""
        texts = column.dictionary if isinstance(column, pa.DictionaryArray) else column
        if texts.nbytes <= LONGEST_RECORD:
            return
        lengths = pc.utf8_length(
            texts.cast(pa.large_string())
        )  # not every type of text can be measured as it is
        if texts is not column:
            lengths = lengths.take(column.indices)
        too_long = pc.index(pc.greater(lengths, LONGEST_RECORD), True).as_py()
        if too_long >= 0:
            self._refuse_long(done + too_long + 1)

    def _text(self, slot: Slot, record: int) -> str | None:
        text: str | None = slot.holder[slot.key]
        if text is not None and len(text) > LONGEST_RECORD:
            self._refuse_long(record)
        return text

    def _refuse_beside(self, column: str) -> NoReturn:
        problem = (
            f"{printable(column)} has values beside its texts that Python cannot hold; leave them out of it"
        )
        raise RecordError(self.name, problem) from None

    def _refuse_long(self, record: int) -> NoReturn:
        problem = f"a text is longer than {LONGEST_RECORD:,} characters; split it"
        raise RecordError(self.name, problem, record=record)

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


def _plain_type(kind: pa.DataType) -> pa.DataType:
    """Return the type without extensions, and with whole numbers in place of dates and times: Python does not
    have all of these."""
    if isinstance(kind, pa.BaseExtensionType):
        return _plain_type(kind.storage_type)
    if pa.types.is_temporal(kind) and kind.bit_width in (32, 64):
        return pa.int32() if kind.bit_width == 32 else pa.int64()
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_plain_type(field.type)) for field in kind])
    if _is_list(kind):
        make = pa.large_list if pa.types.is_large_list(kind) else pa.list_
        return make(kind.value_field.with_type(_plain_type(kind.value_type)))
    return kind


def _as_type(values: list[Any], kind: pa.DataType) -> pa.Array:
    if not pa.types.is_dictionary(kind):
        return pa.array(values, type=_plain_type(kind)).cast(kind)
    return pa.array(values, type=kind.value_type).dictionary_encode()


def find_text_columns(wanted: Sequence[str], schema: pa.Schema, source: str) -> list[tuple[int, ColumnPath]]:
    """Return the places of the columns that hold the texts that are asked for, with the paths to these: a
    column of just that name, and one that the path of the name leads into."""
    if not wanted:
        find_named_columns(wanted, schema.names, source)
    found = []
    for name in wanted:
        path = parse_path(name)
        nested = bool(path.steps) and path.steps[0] in schema.names
        if name in schema.names or not nested:
            found.append(_resolve(ColumnPath(name=name, steps=(name,)), schema, source))
        if nested:
            found.append(_resolve(path, schema, source))
    if len(set(found)) != len(found):
        raise InvalidParameter("columns", list(wanted), "a column is named twice")
    return found


def _resolve(path: ColumnPath, schema: pa.Schema, source: str) -> tuple[int, ColumnPath]:
    """Return the place of the column of a path, and the path as far as the texts, which names them to a key:
    a list of texts is named alike whether the list or its elements were asked for."""
    place = find_named_columns([str(path.steps[0])], schema.names, source)[0]
    whole = kind = schema.field(place).type
    for step in path.steps[1:]:
        if step is EVERY and _is_list(kind):
            kind = kind.value_type
        elif step is not EVERY and pa.types.is_struct(kind) and len(kind.get_all_field_indices(step)) == 1:
            kind = kind.field(step).type
        else:
            raise InvalidParameter(
                "columns",
                path.name,
                f"leads nowhere in {whole}; a field of a struct is named .field, elements of a list []",
            )
    is_whole = len(path.steps) == 1
    if is_whole and _is_list(kind) and is_text(kind.value_type):
        return place, ColumnPath(name=f"{path.name}[]", steps=(*path.steps, EVERY))
    if not is_text(kind.value_type if pa.types.is_dictionary(kind) and is_whole else kind):
        advice = "; name what is text in it, as in visit.note or visits[].note" if kind.num_fields else ""
        raise InvalidParameter("columns", path.name, f"holds {kind}, not text{advice}")
    return place, ColumnPath(name=path.name) if is_whole else path


def _is_list(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind))


def _places_to_drop(roles: Roles, schema: pa.Schema) -> list[int]:
    """Return where the columns stand that are left out."""
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


def _untouched(
    schema: pa.Schema, texts: Sequence[tuple[int, ColumnPath]], dropped: list[int], *, has_notes: bool
) -> str | None:
    left_out = {*dropped, *(place for place, _ in texts)}
    parts = [untouched_columns([name for i, name in enumerate(schema.names) if i not in left_out])]
    for place in dict.fromkeys(place for place, path in texts if path.steps):
        name, inside = schema.field(place).name, [path.name for each, path in texts if each == place]
        if any(each != f"{name}[]" for each in inside):
            parts.append(f"all of {printable(name)} but {', '.join(map(printable, inside))}")
    parts += ["the file's own metadata"] if has_notes else []
    return " and ".join(filter(None, parts)) or None


def _without_notes(
    schema: pa.Schema, private: Collection[str], *, dropped: Collection[str] = ()
) -> tuple[pa.Schema, bool]:
    """Return a schema in which pandas does not note how many different values a private column has, nor that
    there were dropped ones; and whether it carries more than types: notes of its own on the file or a column.
    """
    notes = dict(schema.metadata or {})
    pandas = notes.pop(_PANDAS, None)
    has_own = any(set(found) - _SAYS_TYPES_ONLY for found in (notes, *_of_fields(schema)))
    if pandas is None:
        return schema, has_own
    try:
        before, now = json.loads(pandas), json.loads(pandas)
        has_own = has_own or bool(now.get("attributes"))
        now["columns"] = [column for column in now["columns"] if column["field_name"] not in dropped]
        if dropped:
            now["index_columns"] = [index for index in now["index_columns"] if index not in dropped]
        for column in now["columns"]:
            about = column["metadata"] or {}
            if column["field_name"] in private and "num_categories" in about:
                del about["num_categories"]
                column["metadata"] = about or None
    except (ValueError, KeyError, TypeError, AttributeError):
        return schema, True  # it is not what pandas writes: the receipt says that it is released
    if now == before:
        return schema, has_own
    return schema.with_metadata({**(schema.metadata or {}), _PANDAS: json.dumps(now).encode()}), has_own


def _of_fields(fields: pa.Schema | pa.DataType) -> Iterator[dict[bytes, bytes]]:
    count = len(fields) if isinstance(fields, pa.Schema) else fields.num_fields
    for i in range(count):
        field = fields.field(i)
        yield field.metadata or {}
        yield from _of_fields(field.type)
