"""Every field of the first records of a file, in any format: its path, and what it holds."""

from __future__ import annotations

import datetime
import decimal
import enum
import json
import re
from collections.abc import Collection, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from deniable.errors import RecordError
from deniable.records.formats.delimited import Cells
from deniable.records.formats.folder import FolderSource
from deniable.records.formats.json_array import Elements
from deniable.records.formats.layout import FOLDER, SPREADSHEETS, Layout
from deniable.records.formats.paths import Leaf, Pairs, leaves
from deniable.records.formats.source import FileSource, Lines, Source

if TYPE_CHECKING:
    import pyarrow as pa


class Other(enum.Enum):
    """What stands for a value that is not looked into: bytes, times, maps, dates that no calendar has, what
    is nested too deeply."""

    VALUE = "other"
    FORMULA = "formula"


class Unnamed(str):
    """The path of cells that the header has no name for: no ``--column`` takes it."""

    __slots__ = ()


Value = str | float | bool | datetime.date | Other | Leaf | None
Field = tuple[str | None, Value]
"""The path of a value, as ``--column`` takes it, and the value."""

WHOLE_LINE = None
"""The path of a text that has none: a line, or a file of a folder. No name of a column is the same, also not
an empty one."""

_LONE = re.compile("[\ud800-\udfff]")


def read_fields(source: Source, layout: Layout, *, most: int | None) -> Iterator[list[Field]]:
    """Yield the fields of the first ``most`` records of a file; what stands in a column that has a role is
    ``Leaf.NAMED``.

    :raises RecordError: if a record cannot be read.
    """
    yield from islice(_records(source, layout, layout.roles.named), most)


def _records(source: Source, layout: Layout, named: Collection[str]) -> Iterator[list[Field]]:
    if layout.format == FOLDER and isinstance(source, FolderSource):
        return ([(WHOLE_LINE, source.text(place, layout.encoding))] for place in range(len(source.files)))
    if layout.format in ("csv", "tsv"):
        return _rows(source, layout, named)
    if layout.format in ("jsonl", "json"):
        return _objects(source, layout, named)
    if layout.format in SPREADSHEETS and isinstance(source, FileSource):
        return _cells(source, layout, named)
    if layout.format == "parquet" and isinstance(source, FileSource):
        return _parquet_rows(source, named)
    return ([(WHOLE_LINE, line.removesuffix("\r"))] for line in Lines(source, layout.encoding))


def _rows(source: Source, layout: Layout, named: Collection[str]) -> Iterator[list[Field]]:
    rows = Cells(Lines(source, layout.encoding), layout.delimiter)
    names = rows.next_row() if layout.header else None
    while (cells := rows.next_row()) is not None:
        paths = [_name(names, place) for place in range(len(cells))]
        yield [
            (path, Leaf.NAMED if path in named else cell or None)
            for path, cell in zip(paths, cells, strict=True)
        ]


def _name(names: list[str] | None, place: int) -> str:
    return (
        str(place + 1)
        if names is None
        else names[place]
        if place < len(names)
        else Unnamed(f"(cell {place + 1})")
    )


def _objects(source: Source, layout: Layout, named: Collection[str]) -> Iterator[list[Field]]:
    lines = Elements(source, layout.encoding) if layout.format == "json" else Lines(source, layout.encoding)
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            record = json.loads(
                line, parse_constant=_refuse_constant, object_pairs_hook=Pairs
            )  # a key may stand there twice
        except (ValueError, RecursionError):  # the library's own words could quote the text
            record = None
        if not isinstance(record, Pairs):
            raise RecordError(source.name, "not a JSON object", record=number)
        fields = [field for key, value in record for field in _flat(key, value, named)]
        if any(_LONE.search(path) for path, _ in fields if path):
            raise RecordError(
                source.name,
                "a key holds half a character (a lone surrogate), which no text may",
                record=number,
            )
        yield fields


def _refuse_constant(name: str) -> None:
    raise ValueError(name)  # NaN and Infinity, which are no JSON, and which a release refuses


def _flat(path: str, value: Any, named: Collection[str]) -> Iterator[Field]:
    for where, leaf in leaves(path, value, named):
        if leaf is None or leaf is Leaf.NAMED or isinstance(leaf, str | bool | int | float | datetime.date):
            yield where, leaf
        else:
            yield where, float(leaf) if isinstance(leaf, decimal.Decimal) else Other.VALUE


def _cells(source: FileSource, layout: Layout, named: Collection[str]) -> Iterator[list[Field]]:
    from deniable.records.formats.spreadsheets.workbook import SheetRow, Workbook, text_of

    def value_at(row: SheetRow, place: int) -> Value:
        value = row.values[place]
        return (
            Other.FORMULA
            if place in row.formulas
            else value
            if isinstance(value, datetime.date)
            else text_of(value)
        )

    names: list[str] | None = None
    for row in Workbook(source, layout.sheet).rows():
        if layout.header and names is None:
            names = [text_of(value) or "" for value in row.values]
            continue
        places = [
            place for place, value in enumerate(row.values) if value is not None or place in row.formulas
        ]
        paths = [_name(names, place) for place in places]
        yield [
            (path, Leaf.NAMED if path in named else value_at(row, place))
            for path, place in zip(paths, places, strict=True)
        ]


def _parquet_rows(source: FileSource, named: Collection[str]) -> Iterator[list[Field]]:
    from deniable.records.formats.parquet_files.rows import ParquetRows

    done = 0
    for batch in ParquetRows(source).batches():
        columns = zip(batch.schema.names, batch.columns, strict=True)
        try:
            values = [
                (name, [None] * len(batch) if name in named else _values(column)) for name, column in columns
            ]
        except UnicodeDecodeError:
            where = f"records {done + 1:,} to {done + len(batch):,}"
            raise RecordError(source.name, f"holds what cannot be read as text in {where}") from None
        done += len(batch)
        for row in range(len(batch)):
            yield [field for name, column in values for field in _flat(name, column[row], named)]


def _values(column: pa.Array) -> list[Any]:
    import pyarrow as pa

    try:
        return list(column.to_pylist())
    except UnicodeDecodeError:
        raise
    except (
        ArithmeticError,
        LookupError,
        ValueError,
        pa.ArrowException,
    ):  # dates and times that Python does not have, fields of one name
        return [_value(scalar) for scalar in column]


def _value(scalar: pa.Scalar) -> Any:
    """Return a value as far as Python can say it."""
    import pyarrow as pa

    try:
        return scalar.as_py()
    except UnicodeDecodeError:
        raise
    except (ArithmeticError, LookupError, ValueError, pa.ArrowException):
        if isinstance(scalar, pa.StructScalar):
            # Of fields of one name the last would hide the others.
            names = [field.name for field in scalar.type]
            return {
                name: _value(scalar[i]) if names.count(name) == 1 else Other.VALUE
                for i, name in enumerate(names)
            }
        if isinstance(scalar, pa.ListScalar | pa.LargeListScalar) and not isinstance(scalar, pa.MapScalar):
            return [_value(each) for each in scalar]
        return Other.VALUE
