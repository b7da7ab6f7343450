"""Spreadsheets as records: one row a record, under a row that names the columns.

A workbook repeats its cells in many places: last results of formulas, comments, charts, filters, properties.
So
a new workbook is written from the values of cells alone, and results of formulas, which may quote a private
cell, are left empty. ``spreadsheet_parser`` reads the file in a confined process.
"""

from __future__ import annotations

import datetime
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

from deniable.atomic import beside, open_regular
from deniable.errors import InvalidParameter, RecordError, printable
from deniable.records.formats.columns import (
    Field,
    Leaf,
    find_columns,
    find_numbered_columns,
    meant_columns,
    names_as_text,
    number_of,
    title_at,
)
from deniable.records.formats.columns import Value as FieldValue
from deniable.records.formats.confined_parent import parse_confined
from deniable.records.formats.layout import Layout
from deniable.records.formats.lines import LONGEST_RECORD
from deniable.records.formats.naming import Naming
from deniable.records.formats.reader import Reader, Row
from deniable.records.formats.source import FileSource
from deniable.records.formats.spreadsheet_writer import (
    LONGEST_CELL,
    Value,
    check_names,
    new_workbook,
    text_of,
    utf16_length,
)

_PARSER = Path(__file__).with_name("spreadsheet_parser.py")
_NAMES_SHOWN = 20
_TIMES = {each.__name__: each.fromisoformat for each in (datetime.datetime, datetime.date, datetime.time)}
_LEFT_OUT = "left out: formulas and their results, errors, and all that is not the value of a cell"
_CHANGED = "its rows are not those that were released; nothing is written. Was the file changed meanwhile?"
_TOO_LONG = f"a cell of a spreadsheet holds no more than {LONGEST_CELL:,} characters; save it as CSV first"


@dataclass(frozen=True, slots=True)
class SheetRow:
    """One row by its number in the sheet, the values of its cells from the first column on, and which of
    these a formula makes."""

    number: int
    values: list[Value] = field(repr=False)
    formulas: Sequence[int]

    def value(self, column: int) -> Value:
        """Return the value in a column, counted from 0."""
        return self.values[column] if column < len(self.values) else None


class Workbook:
    """A spreadsheet that is read front to back, once; ``place`` is that of the sheet with private text."""

    def __init__(self, source: FileSource, sheet: str | None, *, every: bool = False) -> None:
        """Open it, to read the rows of one sheet, or those of ``every`` sheet.

        :raises RecordError: if it is none, or takes too much memory.
        :raises InvalidParameter: if it has no sheet of that name, or two.
        """
        pieces = parse_confined(source, _PARSER, "save it as CSV first", sheet=sheet, every=every)
        self._pieces: Iterator[Any] = map(json.loads, pieces)
        about = next(self._pieces)
        self.names: list[str] = about["sheets"]
        self.hidden: list[bool] = about["hidden"]
        self.place = _choose(self.names, sheet, source.name)

    def each_sheet(self) -> Iterator[tuple[dict[str, Any], Iterator[SheetRow]]]:
        """Yield what is known of each sheet that is read, with its rows."""
        about = next(self._pieces, None)
        while about is not None:
            left: list[Any] = [None]
            yield about, self._rows_into(left)
            about = left[0]

    def _rows_into(self, left: list[Any]) -> Iterator[SheetRow]:
        """Yield the rows of a sheet that hold anything; ``left`` gets what is known of the next sheet."""
        for piece in self._pieces:
            if isinstance(piece, dict):
                left[0] = piece
                return
            for number, values, formulas in piece:
                yield SheetRow(number, [_value(each) for each in values], formulas)


class SpreadsheetReader(Reader):
    """Reads the rows of one sheet. What it writes are the released texts alone; they are put into a new
    workbook at the end."""

    unit = "rows"
    is_whole = True
    source: FileSource

    def __init__(
        self, source: FileSource, layout: Layout, naming: Naming | None = None, *, looks: bool = False
    ) -> None:
        """Open the spreadsheet, find its header and the columns.

        :raises RecordError: if it is none, or holds what keeps copies of cells.
        :raises InvalidParameter: if a sheet or a column is not there.
        """
        super().__init__(source, layout, naming, looks=looks)
        self._book = Workbook(source, layout.sheet)
        self.sheet = self._book.names[self._book.place]
        self.others = [name for place, name in enumerate(self._book.names) if place != self._book.place]
        about, rows = next(self._book.each_sheet())
        self.hidden_rows, self._hidden_columns = about["hidden_rows"], about["hidden_columns"]
        self.total = about["rows"]
        first = next(rows, None)
        self._titles = None
        if first is not None and layout.header:
            self._titles = [text_of(value) or "" for value in first.values]
        self._header = first.number if self._titles is not None and first is not None else None
        self._width = 0 if first is None else len(first.values)
        self._private: list[int] = []
        self._id: int | None = None
        if not looks:
            check_names(self._book.names, source.name)
        if first is not None and not looks:
            self._private = self._find(layout.columns, first)
            self._id = (
                None if naming is None or naming.column is None else self._find([naming.column], first)[0]
            )
        self.untouched = self._untouched()
        self._at = 0
        self._sheet_rows = rows if first is None or layout.header else chain([first], rows)

    def position(self) -> int:
        """Return the number of the last row that was read."""
        return self._at * self.done // self._looked_at if self.done < self._looked_at else self._at

    def why_hidden(self, column: str) -> str | None:
        """Return why a column holds what nobody sees who opens the workbook; None if it does not."""
        if column in {title_at(self._titles, place) for place in self._hidden_columns}:
            return "hidden"
        return "has hidden rows" if self.hidden_rows else None

    def rows(self) -> Iterator[Row]:
        """Yield the rows one by one.

        :raises RecordError: if a formula makes a private text, or a text or a cell is too long.
        """
        for record, row in enumerate(self._sheet_rows, 1):
            self._at = row.number
            places = self._places(row)
            texts = tuple(text_of(row.value(place)) or "" for place in places)
            weight = sum(map(len, texts))
            if weight > LONGEST_RECORD:
                self._refuse(row.number, f"a text is longer than {LONGEST_RECORD:,} characters; split it")
            if not self.looks:
                self._check_cells(row)
            payload = (row.number, len(texts))
            columns = [self.layout.columns[self._private.index(place)] for place in places]
            yield Row(payload, texts, weight, self._names(row, columns, record), self._fields(row), columns)

    def write(self, payloads: list[Any], released: list[str | None]) -> bytes:
        """Return released texts as bytes: one list a row."""
        texts, lines = iter(released), []
        for number, count in payloads:
            own = list(islice(texts, count))
            if any(utf16_length(text or "") > LONGEST_CELL for text in own):
                self._refuse(number, _TOO_LONG)
            lines.append(json.dumps(own).encode() + b"\n")
        return b"".join(lines)

    def finish(self, partial: Path, ends: list[int], finished: Path) -> None:
        """Write a workbook with the released texts of a partial file, which ends at the last of ``ends``.

        :raises RecordError: if the spreadsheet cannot be read any more, or its rows are not exactly those
            that were released.
        """
        descriptor = open_regular(finished, os.O_RDWR | os.O_CREAT | os.O_EXCL)
        try:
            with os.fdopen(descriptor, "w+b") as sink, os.fdopen(open_regular(partial), "rb") as file:
                self._write_workbook(_lists(file, ends[-1]), sink, beside(finished, ".parts"))
        except Exception:
            # A workbook with the wrong texts, or half of one, is of no use to anybody.
            finished.unlink(missing_ok=True)
            raise

    def _write_workbook(self, lists: Iterator[list[str]], sink: BinaryIO, parts: Path) -> None:
        book = Workbook(self.source, self.layout.sheet, every=True)
        with new_workbook(sink, parts) as add_sheet:
            for about, rows in book.each_sheet():
                name, is_private = book.names[about["sheet"]], about["sheet"] == book.place
                writer = add_sheet(name)
                for row in rows:
                    values = {
                        place: each for place, each in enumerate(row.values) if place not in row.formulas
                    }
                    if is_private and row.number != self._header:
                        private, texts = self._places(row), next(lists, None)
                        if texts is None or len(texts) != len(private):
                            self._refuse(row.number, _CHANGED)
                        values |= dict(zip(private, texts, strict=True))
                    if is_private:
                        values = self._without_dropped(values)
                    for column, value in sorted(values.items()):
                        if isinstance(value, str) and utf16_length(value) > LONGEST_CELL:
                            self._refuse(row.number, _TOO_LONG, name)
                        writer.write(row.number, column, value)
            if next(lists, None) is not None:
                raise RecordError(self.name, f"sheet {printable(self.sheet)}: {_CHANGED}")

    def _without_dropped(self, values: dict[int, Any]) -> dict[int, Any]:
        """Return the values of a row without those of columns that are left out; columns to their right move
        up."""
        dropped = self.layout.roles.drop
        kept = [
            place
            for place in range(max(values, default=-1) + 1)
            if title_at(self._titles, place) not in dropped
        ]
        return {place: values[column] for place, column in enumerate(kept) if column in values}

    def _fields(self, row: SheetRow) -> Iterator[Field]:
        for place, value in enumerate(row.values):
            path = title_at(self._titles, place)
            cell: FieldValue = value if isinstance(value, datetime.date) else text_of(value)
            if place in row.formulas:
                cell = Leaf.FORMULA
            if cell is not None:
                yield path, Leaf.NAMED if path in self.layout.roles.named else cell

    def _check_cells(self, row: SheetRow) -> None:
        for place, value in enumerate(row.values):
            if place not in self._private and isinstance(value, str) and utf16_length(value) > LONGEST_CELL:
                self._refuse(row.number, _TOO_LONG)

    def _places(self, row: SheetRow) -> list[int]:
        """Return which of a row's cells hold private text, in the order of the columns as they were named.

        :raises RecordError: if a formula makes one: its result is whatever was computed last.
        """
        if not set(self._private).isdisjoint(row.formulas):
            self._refuse(
                row.number, "a private text is made by a formula; paste its values in its place first"
            )
        return [column for column in self._private if row.value(column) is not None]

    def _names(self, row: SheetRow, columns: list[str], record: int) -> tuple[Any, ...]:
        if self.naming is None:
            return ()
        given = None if self._id is None or self._id in row.formulas else text_of(row.value(self._id))
        if not columns and given is None:
            return ()  # a row of other things, such as a line under the table
        return self.naming.names(record, given, columns)

    def _find(self, wanted: Sequence[str], first: SheetRow) -> list[int]:
        if self._titles is None:
            return find_numbered_columns(wanted, self._width, self.name)
        advice = meant_columns(set(wanted).difference(self._titles), self._titles) or (
            f"the header is row {first.number:,} of sheet {printable(self.sheet)}, the first that holds "
            "anything; without one use --no-header, for another sheet --sheet"
        )
        there = number_of(self._width, "column")
        return find_columns(wanted, self._titles, self.name, there=there, advice=advice)

    def _untouched(self) -> str:
        parts = [f"every other cell of the sheet {printable(self.sheet)}"]
        hidden = [
            title_at(self._titles, place) or f"(cell {place + 1})"
            for place in self._hidden_columns
            if place < self._width
        ]
        if hidden:
            parts.append(f"with {names_as_text(hidden)}, hidden there")
        if self.hidden_rows:
            parts.append(f"with {number_of(self.hidden_rows, 'row')} hidden there")
        if self.others:
            sheets = enumerate(zip(self._book.names, self._book.hidden, strict=True))
            others = [
                f"{name} (hidden)" if hides else name
                for at, (name, hides) in sheets
                if at != self._book.place
            ]
            parts.append(f"and every cell of {names_as_text(others, 'sheet')}")
        return f"{', '.join(parts)} ({_LEFT_OUT})"

    def _refuse(self, row: int, problem: str, sheet: str | None = None) -> NoReturn:
        raise RecordError(self.name, f"sheet {printable(sheet or self.sheet)}, row {row:,}: {problem}")


def _value(sent: Any) -> Value:
    if not isinstance(sent, list):
        return sent  # type: ignore[no-any-return]
    kind, value = sent
    return datetime.timedelta(seconds=value) if kind == "timedelta" else _TIMES[kind](value)


def _choose(names: Sequence[str], wanted: str | None, source: str) -> int:
    """Return the place of the sheet of that name, or of the first one if none is named."""
    if wanted is None:
        return 0
    if names.count(wanted) != 1:
        more = " and more" if len(names) > _NAMES_SHOWN else ""
        there = ", ".join(map(printable, names[:_NAMES_SHOWN])) + more
        problem = f"{printable(source)} has the sheets {there}; name one of them"
        raise InvalidParameter("sheet", wanted, problem)
    return names.index(wanted)


def _lists(file: BinaryIO, length: int) -> Iterator[list[str]]:
    """Yield the released texts of each row."""
    while file.tell() < length:
        yield json.loads(file.readline())
