"""Spreadsheets as records: one row a record, under a row that names the columns.

A workbook repeats its cells in many places: last results of formulas, comments, charts, filters, properties.
So a new workbook is written by XlsxWriter from the values of cells alone, and results of formulas, which may
quote a private cell, are left empty. ``spreadsheet_parser`` reads the file in a confined process.
"""

from __future__ import annotations

import datetime
import json
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, NoReturn

from xlsxwriter import Workbook
from xlsxwriter.exceptions import XlsxWriterException

from deniable.atomic import beside, open_regular
from deniable.errors import InvalidParameter, RecordError, printable
from deniable.records.formats.columns import (
    Field,
    Leaf,
    find_header_columns,
    names_as_text,
    number_of,
    title_at,
)
from deniable.records.formats.columns import Value as FieldValue
from deniable.records.formats.confined_parent import parse_confined
from deniable.records.formats.lines import LONGEST_RECORD
from deniable.records.formats.reader import Reader, Row
from deniable.records.formats.source import FileSource

Value = str | int | float | bool | datetime.date | datetime.time | datetime.timedelta | None

LONGEST_CELL = 32_767
"""Characters, in UTF-16, that a cell may have; XlsxWriter would cut off the rest."""

_CREATED = datetime.datetime(2000, 1, 1)
_FIRST_DATE = datetime.date(1900, 3, 1)  # what Excel counts before it, no calendar has
_NOT_IN_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_FORMATS: Mapping[type, str] = {
    datetime.datetime: "yyyy-mm-dd hh:mm:ss",
    datetime.date: "yyyy-mm-dd",
    datetime.time: "hh:mm:ss",
    datetime.timedelta: "[h]:mm:ss",
}


_PARSER = Path(__file__).with_name("spreadsheet_parser.py")
_NAMES_SHOWN = 20
_TIMES = {each.__name__: each.fromisoformat for each in (datetime.datetime, datetime.date, datetime.time)}
_LEFT_OUT = "left out: formulas and their results, errors, and all that is not the value of a cell"
_EARLIER = "was begun by an earlier version of deniable; start over with force=True"
_TOO_LONG = f"a cell of a spreadsheet holds no more than {LONGEST_CELL:,} characters; save it as CSV first"


class SheetRow(NamedTuple):
    """One row by its number in the sheet, the values of its cells from the first column on, and which of
    these a formula makes."""

    number: int
    values: list[Value]
    formulas: Sequence[int]

    def __repr__(self) -> str:
        """Return the number; never content."""
        return f"<SheetRow {self.number:,}>"

    def value(self, column: int) -> Value:
        """Return the value in a column, counted from 0."""
        return self.values[column] if column < len(self.values) else None


Piece = tuple[int, dict[str, Any] | None, list[SheetRow]]
"""Rows of a sheet by its place; the first piece of a sheet says what is known of it."""


def read_workbook(
    source: FileSource, sheet: str | None, *, every: bool = False
) -> tuple[dict[str, Any], Iterator[Piece]]:
    """Return the sheets of a workbook, and the rows of one of them, or of ``every`` one."""
    pieces = map(
        json.loads, parse_confined(source, _PARSER, "save it as CSV first", sheet=sheet, every=every)
    )

    def rows(piece: list[Any]) -> list[SheetRow]:
        return [SheetRow(number, list(map(_value, values)), formulas) for number, values, formulas in piece]

    return next(pieces), ((place, about, rows(piece)) for place, about, piece in pieces)


class SpreadsheetReader(Reader):
    """Reads the rows of one sheet. What it writes are rows of JSON, which are put into a new workbook at the
    end."""

    unit = "rows"
    is_whole = True
    source: FileSource

    def begin(self) -> None:
        """Open the spreadsheet, find its header and the columns."""
        layout, naming = self.layout, self.naming
        about, pieces = read_workbook(self.source, layout.sheet)
        self._sheets, self._sheets_hidden = about["sheets"], about["hidden"]
        self._place = _choose(self._sheets, layout.sheet, self.source.name)
        self.sheet = self._sheets[self._place]
        self.others = [name for place, name in enumerate(self._sheets) if place != self._place]
        _, known, begin = next(pieces)
        about = known or {}
        rows = chain(begin, (row for _, _, rows in pieces for row in rows))
        self.hidden_rows = about["hidden_rows"]
        self.total = about["rows"]
        first = next(rows, None)
        self._header = first if layout.header else None
        self._titles = (
            None if self._header is None else [text_of(value) or "" for value in self._header.values]
        )
        self._width = 0 if first is None else len(first.values)
        self._hidden_columns: list[int] = about["hidden_columns"]
        self.hidden = {title_at(self._titles, place) for place in self._hidden_columns}
        self._private: list[int] = []
        self._id: int | None = None
        if not self.looks:
            check_names(self._sheets, self.source.name)
        if first is not None and not self.looks:
            self._private = self._find(layout.roles.text, first)
            if naming is not None and naming.column is not None:
                self._id = self._find([naming.column], first)[0]
        self.untouched = self._untouched()
        self._at = 0
        self._sheet_rows = rows if first is None or layout.header else chain([first], rows)

    def position(self) -> int:
        """Return the number of the last row that was read; what was only looked at is not done yet."""
        return self._at * self.done // self._looked_at if self.done < self._looked_at else self._at

    def rows(self) -> Iterator[Row]:
        """Yield the rows one by one."""
        for row in self._sheet_rows:
            self._at = row.number
            if not set(self._private).isdisjoint(row.formulas):  # its result is whatever was computed last
                problem = "a private text is made by a formula; paste its values in its place first"
                self._refuse(row.number, problem)
            places = [place for place in self._private if row.value(place) is not None]
            texts = tuple(text_of(row.value(place)) or "" for place in places)
            weight = sum(map(len, texts))
            if weight > LONGEST_RECORD:
                self._refuse(row.number, f"a text is longer than {LONGEST_RECORD:,} characters; split it")
            given = None if self._id is None or self._id in row.formulas else text_of(row.value(self._id))
            columns = [self.layout.roles.text[self._private.index(place)] for place in places]
            is_record = bool(columns) or given is not None  # or other things, such as a line under the table
            for place in places:
                row.values[place] = None
            yield Row((row, places), texts, weight, columns if is_record else None, given, self._fields(row))

    def head(self) -> bytes:
        """Return the row that names the columns."""
        return b"" if self._header is None else self._line(self._header, {})

    def write(self, payloads: list[Any], released: list[str | None]) -> bytes:
        """Return rows with the released texts in their cells: one a line."""
        texts = iter(released)
        return b"".join(
            self._line(row, dict(zip(places, islice(texts, len(places)), strict=True)))
            for row, places in payloads
        )

    def finish(self, partial: Path, ends: list[int], finished: Path) -> None:
        """Write a workbook with the rows of a partial file, which ends at the last of ``ends``, and with the
        sheets that are kept."""
        descriptor = open_regular(finished, os.O_RDWR | os.O_CREAT | os.O_EXCL)
        try:
            with os.fdopen(descriptor, "w+b") as sink, os.fdopen(open_regular(partial), "rb") as file:
                self._write_workbook(file, ends[-1], sink, beside(finished, ".parts"))
        except Exception:
            finished.unlink(missing_ok=True)  # half of a workbook is of no use to anybody
            raise

    def _write_workbook(self, file: BinaryIO, length: int, sink: BinaryIO, parts: Path) -> None:
        sheets: Iterable[Piece] = [(self._place, None, [])]
        if self.others:
            _, sheets = read_workbook(self.source, self.layout.sheet, every=True)
        with new_workbook(sink, parts) as add_sheet:
            writers: dict[int, Any] = {}
            for place, _, rows in sheets:
                name = self._sheets[place]
                if place != self._place and name in self.layout.roles.drop_sheets:
                    continue
                if place not in writers:
                    writers[place] = add_sheet(name)
                if place == self._place:
                    while file.tell() < length:
                        number, *cells = json.loads(file.readline()) or [None]
                        if not isinstance(number, int):
                            raise RecordError(self.name, _EARLIER)
                        for column, value in cells:
                            writers[place](number, column, _value(value))
                    continue
                for row in rows:
                    for column, value in self._cells(row, {}, name):
                        writers[place](row.number, column, value)

    def _line(self, row: SheetRow, texts: Mapping[int, str | None]) -> bytes:
        """Return a row as it is written, with texts at some of its places; columns to the right of those that
        are left out move up."""
        dropped, cells = self.layout.roles.drop, dict(self._cells(row, texts, self.sheet))
        kept = [place for place in range(len(row.values)) if title_at(self._titles, place) not in dropped]
        moved = [(column, cells[place]) for column, place in enumerate(kept) if place in cells]
        return json.dumps((row.number, *moved), default=_sent).encode() + b"\n"

    def _cells(self, row: SheetRow, texts: Mapping[int, Any], sheet: str) -> Iterator[tuple[int, Value]]:
        """Yield the places of a row with their values; what a formula makes is left empty."""
        for place, value in enumerate(row.values):
            if place not in row.formulas:
                cell = texts.get(place, value)
                if isinstance(cell, str) and utf16_length(cell) > LONGEST_CELL:
                    self._refuse(row.number, _TOO_LONG, sheet)
                yield place, cell

    def _fields(self, row: SheetRow) -> Iterator[Field]:
        for place, value in enumerate(row.values):
            path = title_at(self._titles, place)
            cell: FieldValue = value if isinstance(value, datetime.date) else text_of(value)
            if place in row.formulas:
                cell = Leaf.FORMULA
            if cell is not None:
                yield path, Leaf.NAMED if path in self.layout.roles.named else cell

    def _find(self, wanted: Sequence[str], first: SheetRow) -> list[int]:
        titles = self._titles or [title_at(None, place) for place in range(self._width)]
        or_else = (
            f"the header is row {first.number:,} of sheet {printable(self.sheet)}, the first that holds "
            "anything; without one use --no-header, for another sheet --sheet"
        )
        return find_header_columns(wanted, titles, self.name, header=self.layout.header, or_else=or_else)

    def _untouched(self) -> str:
        parts = [f"every other cell of the sheet {printable(self.sheet)}"]
        inside = [place for place in self._hidden_columns if place < self._width]
        if inside:
            hidden = [title_at(self._titles, place) or f"(cell {place + 1})" for place in inside]
            parts.append(f"with {names_as_text(hidden)}, hidden there")
        if self.hidden_rows:
            parts.append(f"with {number_of(self.hidden_rows, 'row')} hidden there")
        if self.others:
            sheets = zip(self._sheets, self._sheets_hidden, strict=True)
            shown = [f"{name} (hidden)" if hides else name for name, hides in sheets]
            dropped = self.layout.roles.drop_sheets
            others = [
                each
                for place, each in enumerate(shown)
                if place != self._place and self._sheets[place] not in dropped
            ]
            parts += [f"and every cell of {names_as_text(others, 'sheet')}"] if others else []
        return f"{', '.join(parts)} ({_LEFT_OUT})"

    def _refuse(self, row: int, problem: str, sheet: str | None = None) -> NoReturn:
        raise RecordError(self.name, f"sheet {printable(sheet or self.sheet)}, row {row:,}: {problem}")


def _value(sent: Any) -> Value:
    if not isinstance(sent, list):
        return sent  # type: ignore[no-any-return]
    kind, value = sent
    return datetime.timedelta(seconds=value) if kind == "timedelta" else _TIMES[kind](value)


def _sent(value: Any) -> list[Any]:
    """Return a date or a time as JSON has it: ``_value`` reads it."""
    if isinstance(value, datetime.timedelta):
        return ["timedelta", value.total_seconds()]
    return [type(value).__name__, value.isoformat()]


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


def text_of(value: Value) -> str | None:
    """Return a value as text, as CSV has it; None if there is none."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, datetime.datetime):
        return value.isoformat(sep=" ")
    return value.isoformat() if isinstance(value, datetime.date | datetime.time) else str(value)


def utf16_length(text: str) -> int:
    """Return the length of a text as spreadsheets count it."""
    return len(text) + sum(character > "\uffff" for character in text)


def check_names(names: Iterable[str], source: str) -> None:
    """Check that sheets may have these names in an .xlsx file."""
    book = Workbook()
    for number, name in enumerate(names, 1):
        try:
            book.add_worksheet(name)
        except XlsxWriterException:
            problem = (
                f"sheet {number:,} has a name that .xlsx does not allow (at most 31 characters, none "
                "of []:*?/\\); rename it"
            )
            raise RecordError(source, problem) from None


def _write_cell(sheet: Any, formats: Mapping[type, Any], row: int, column: int, value: Value) -> None:
    """Write a value; rows count from 1, columns from 0."""
    at = (row - 1, column)
    day = value.date() if isinstance(value, datetime.datetime) else value
    if isinstance(day, datetime.date) and day < _FIRST_DATE:
        value = text_of(value)
    if isinstance(value, str):
        text = _NOT_IN_XML.sub("", value)
        if text.startswith("<r>") and text.endswith("</r>"):  # XlsxWriter would take it for XML of its own
            sheet.write_rich_string(*at, text[:1], formats[str], text[1:])
        elif text:
            sheet.write_string(*at, text)
    elif isinstance(value, bool):
        sheet.write_boolean(*at, value)
    elif isinstance(value, int | float):
        sheet.write_number(*at, value)
    elif value is not None:
        sheet.write_datetime(*at, value, formats[type(value)])


@contextmanager
def new_workbook(file: BinaryIO, parts: Path) -> Iterator[Any]:
    """Lend a function that adds a sheet of some name to a new workbook in a file, and returns what writes its
    cells, row by row; ``parts`` is a folder that is used meanwhile."""
    shutil.rmtree(parts, ignore_errors=True)
    parts.mkdir(mode=0o700)
    book = Workbook(file, {"constant_memory": True, "tmpdir": str(parts), "use_zip64": True})
    try:
        book.set_properties({"created": _CREATED})
        formats = {kind: book.add_format({"num_format": shown}) for kind, shown in _FORMATS.items()} | {
            str: book.add_format()
        }
        yield lambda name: partial(_write_cell, book.add_worksheet(name), formats)
        try:
            book.close()
        except XlsxWriterException as error:
            raise next((each for each in error.args if isinstance(each, OSError)), error) from error
    finally:
        for sheet in book.worksheets():
            sheet.row_data_fh.close()
        shutil.rmtree(parts, ignore_errors=True)
