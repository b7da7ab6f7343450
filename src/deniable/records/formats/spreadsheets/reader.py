"""Spreadsheets as records: one row a record, under a row that names the columns."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

from deniable.atomic import beside, open_regular
from deniable.errors import RecordError, printable
from deniable.records.formats.layout import (
    Layout,
    find_columns,
    find_numbered_columns,
    meant_columns,
    names_as_text,
    number_of,
)
from deniable.records.formats.naming import Naming
from deniable.records.formats.reader import Batch, FinishedAtTheEnd, Row, RowReader
from deniable.records.formats.source import LONGEST_RECORD, FileSource
from deniable.records.formats.spreadsheets.workbook import SheetRow, Workbook
from deniable.records.formats.spreadsheets.writer import LONGEST_CELL, check_names, new_workbook, utf16_length

_LEFT_OUT = "left out: formulas and their results, errors, and all that is not the value of a cell"
_CHANGED = "its rows are not those that were released; nothing is written. Was the file changed meanwhile?"
_TOO_LONG = f"a cell of a spreadsheet holds no more than {LONGEST_CELL:,} characters; save it as CSV first"


class SpreadsheetReader(RowReader, FinishedAtTheEnd):
    """Reads the rows of one sheet. What it writes are the released texts alone; they are put into a new
    workbook at the end."""

    unit = "rows"

    def __init__(self, source: FileSource, layout: Layout, naming: Naming | None = None) -> None:
        """Open the spreadsheet, find its header and the columns.

        :raises RecordError: if it is none, or holds what keeps copies of cells.
        :raises InvalidParameter: if a sheet or a column is not there.
        """
        self._source, self._layout, self._name = source, layout, source.name
        self._book = Workbook(source, layout.sheet)
        self.sheet = self._book.read_sheet()
        check_names((each.name for each in self._book.sheets), source.name)
        self._naming, self._columns = naming, layout.columns
        rows = self._book.rows()
        first = next(rows, None)
        self._header = first.number if first is not None and layout.header else None
        self._private: list[int] = []
        self._id: int | None = None
        self._titles: list[str] = []
        if first is not None:
            self._titles = [first.text(column) or "" for column in range(len(first.values))]
            find = self._find_named if layout.header else self._find_numbered
            self._private = find(layout.columns, first)
            if naming is not None and naming.column is not None:
                self._id = find([naming.column], first)[0]
        self.total: int | None = self.sheet.last_row
        self.untouched: str | None = self._untouched()
        self.has_lists = False
        self._at = 0
        self._rows = self._records(rows if first is None else chain([first], rows))

    def hidden_titles(self) -> set[str]:
        """Return by which names hidden columns are given a role."""
        return {self._title(column) for column in self.sheet.hidden_columns}

    def position(self) -> int:
        """Return the number of the last row that was read."""
        return self._at

    def pack(self, pieces: list[Any]) -> bytes:
        """Return released texts as bytes: one list a row."""
        return b"".join(pieces)

    def finish(self, partial: Path, ends: list[int], finished: Path) -> None:
        """Write a workbook with the released texts of a partial file, which ends at the last of ``ends``.

        :raises RecordError: if the spreadsheet cannot be read any more, or its rows are not exactly those
            that were released.
        """
        try:
            with os.fdopen(open_regular(partial), "rb") as file, os.fdopen(_create(finished), "w+b") as sink:
                self._write(_lists(file, ends[-1]), sink, beside(finished, ".parts"))
        except Exception:
            finished.unlink(
                missing_ok=True
            )  # a workbook with the wrong texts, or half of one, is of no use to anybody
            raise

    def _write(self, lists: Iterator[list[str]], sink: BinaryIO, parts: Path) -> None:
        book = Workbook(self._source, self._layout.sheet, every=True)
        with new_workbook(sink, parts) as add_sheet:
            for place, (sheet, rows) in enumerate(book.each_sheet()):
                writer = add_sheet(sheet.name)
                for row in rows:
                    values = {
                        column: value for column, value in enumerate(row.values) if column not in row.formulas
                    }
                    if place == book.place and row.number != self._header:
                        private, texts = self._places(row), next(lists, None)
                        if texts is None or len(texts) != len(private):
                            self._refuse(row, _CHANGED)
                        values |= dict(zip(private, texts, strict=True))
                    if place == book.place:
                        values = self._without_dropped(values)
                    for column, value in sorted(values.items()):
                        if isinstance(value, str) and utf16_length(value) > LONGEST_CELL:
                            self._refuse(row, _TOO_LONG, sheet.name)
                        writer.write(row.number, column, value)
            if next(lists, None) is not None:
                raise RecordError(self._name, f"sheet {printable(book.sheet.name)}: {_CHANGED}")

    def _without_dropped(self, values: dict[int, Any]) -> dict[int, Any]:
        """Return the values of a row without those of columns that are left out; columns to their right move
        up."""
        if not self._layout.roles.drop:
            return values
        names = {column: self._title(column) for column in range(max(values, default=-1) + 1)}
        kept = [column for column, name in names.items() if name not in self._layout.roles.drop]
        return {place: values[column] for place, column in enumerate(kept) if column in values}

    def _title(self, column: int) -> str:
        """Return the name by which a column is given a role."""
        if not self._layout.header:
            return str(column + 1)
        return self._titles[column] if column < len(self._titles) else f"(cell {column + 1})"

    def _records(self, rows: Iterator[SheetRow]) -> Iterator[Row]:
        record = 0
        for row in rows:
            self._at = row.number
            if row.number == self._header:
                continue
            record += 1
            places = self._places(row)
            texts = tuple(row.text(place) or "" for place in places)
            weight = sum(map(len, texts))
            if weight > LONGEST_RECORD:
                self._refuse(row, f"a text is longer than {LONGEST_RECORD:,} characters; split it")
            others = (
                each
                for place, each in enumerate(row.values)
                if place not in self._private and isinstance(each, str)
            )
            if any(utf16_length(each) > LONGEST_CELL for each in others):
                self._refuse(row, _TOO_LONG)
            yield Row(row.number, texts, weight, self._names(row, places, record))

    def _places(self, row: SheetRow) -> list[int]:
        """Return which of a row's cells hold private text, in the order of the columns as they were named.

        :raises RecordError: if a formula makes one: its result is whatever was computed last.
        """
        if not set(self._private).isdisjoint(row.formulas):
            self._refuse(row, "a private text is made by a formula; paste its values in its place first")
        return [column for column in self._private if row.value(column) is not None]

    def _names(self, row: SheetRow, places: list[int], record: int) -> tuple[Any, ...]:
        if self._naming is None:
            return ()
        given = None if self._id is None or self._id in row.formulas else row.text(self._id)
        if not places and given is None:
            return ()  # a row of other things, such as a line under the table
        return self._naming.names(
            record, given, [self._columns[self._private.index(place)] for place in places]
        )

    def _batch(self, rows: list[Row], *, pause: bool) -> Batch:
        counts, numbers = [len(row.texts) for row in rows], [row.payload for row in rows]

        def write(released: list[str | None], records: int) -> bytes:
            texts, lines = iter(released), []
            for number, count in zip(numbers[:records], counts, strict=False):
                here = list(islice(texts, count))
                if any(utf16_length(text or "") > LONGEST_CELL for text in here):
                    self._refuse(SheetRow(number, [], ()), _TOO_LONG)
                lines.append(json.dumps(here).encode() + b"\n")
            return b"".join(lines)

        return Batch(
            first=self._done,
            counts=counts,
            texts=[text for row in rows for text in row.texts],
            writer=write,
            names=None if self._naming is None else [name for row in rows for name in row.names],
            pause=pause,
        )

    def _find_named(self, wanted: Sequence[str], first: SheetRow) -> list[int]:
        titles = self._titles
        header = (
            f"the header is row {first.number:,} of sheet {printable(self.sheet.name)}, the first that "
            "holds anything"
        )
        header += "; without one use --no-header, for another sheet --sheet"
        advice = meant_columns(set(wanted).difference(titles), titles) or header
        return find_columns(wanted, titles, self._name, there=number_of(len(titles), "column"), advice=advice)

    def _find_numbered(self, wanted: Sequence[str], first: SheetRow) -> list[int]:
        return find_numbered_columns(wanted, len(first.values), self._name)

    def _untouched(self) -> str:
        parts = [f"every other cell of the sheet {printable(self.sheet.name)}"]
        titles = (
            [*self._titles]
            if self._layout.header
            else [str(number) for number in range(1, len(self._titles) + 1)]
        )
        hidden = [
            titles[column] or f"(cell {column + 1})"
            for column in self.sheet.hidden_columns
            if column < len(titles)
        ]
        if hidden:
            parts.append(f"with {names_as_text(hidden)}, hidden there")
        if self.sheet.hidden_rows:
            parts.append(f"with {number_of(self.sheet.hidden_rows, 'row')} hidden there")
        if self._book.others:
            others = [f"{each.name} (hidden)" if each.hidden else each.name for each in self._book.others]
            parts.append(f"and every cell of {names_as_text(others).replace('the column', 'the sheet', 1)}")
        return f"{', '.join(parts)} ({_LEFT_OUT})"

    def _refuse(self, row: SheetRow, problem: str, sheet: str | None = None) -> NoReturn:
        raise RecordError(
            self._name, f"sheet {printable(sheet or self.sheet.name)}, row {row.number:,}: {problem}"
        )


def _lists(file: BinaryIO, length: int) -> Iterator[list[str]]:
    """Yield the released texts of each row."""
    read = 0
    while read < length:
        line = file.readline()
        read += len(line)
        yield json.loads(line)


def _create(path: Path) -> int:
    return open_regular(path, os.O_RDWR | os.O_CREAT | os.O_EXCL)
