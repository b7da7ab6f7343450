"""Spreadsheets as records: one row a record, under a row that names the columns."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

from deniable.atomic import open_regular
from deniable.errors import RecordError
from deniable.records.formats.layout import Layout, find_columns, find_numbered_columns, meant_columns, names_as_text, number_of
from deniable.records.formats.naming import Naming
from deniable.records.formats.reader import Batch, FinishedAtTheEnd, Row, RowReader
from deniable.records.formats.source import LONGEST_RECORD, FileSource
from deniable.records.formats.spreadsheets.archive import Archive
from deniable.records.formats.spreadsheets.cells import SheetRow, Workbook

_LEFT_OUT = (
    "left out: results of formulas, names of ranges, heights and hiding of rows, widths and formats of private cells, comments, charts, "
    "pictures, links, themes, "
    "filters, validations, conditional formats, properties of the file"
)


_CHANGED = "its rows are not those that were released; nothing is written. Was the file changed meanwhile?"


def open_workbook(source: FileSource, kind: str, sheet: str | None) -> Workbook:
    """Open a spreadsheet of a kind, ``xlsx`` or ``ods``.

    :raises RecordError: if it is none, or holds what keeps copies of cells.
    :raises InvalidParameter: if it has no sheet of that name.
    """
    archive = Archive(source.reopen(), source.name)
    if kind == "ods":
        from deniable.records.formats.spreadsheets.ods import Ods

        return Ods(archive, sheet)
    from deniable.records.formats.spreadsheets.xlsx import Xlsx

    return Xlsx(archive, sheet)


class SpreadsheetReader(RowReader, FinishedAtTheEnd):
    """Reads the rows of one sheet. What it writes are the released texts alone; they are put into a copy of the file at the end."""

    unit = "bytes"

    def __init__(self, source: FileSource, layout: Layout, naming: Naming | None = None) -> None:
        """Open the spreadsheet, find its header and the columns.

        :raises RecordError: if it is none, or holds what keeps copies of cells.
        :raises InvalidParameter: if a sheet or a column is not there.
        """
        self._name = source.name
        self._book = open_workbook(source, layout.format, layout.sheet)
        self._naming, self._columns = naming, layout.columns
        first = next(self._book.rows(), None)
        self._header = first.number if first is not None and layout.header else None
        self._private: list[int] = []
        self._id: int | None = None
        if first is not None:
            find = self._find_named if layout.header else self._find_numbered
            self._private = find(layout.columns, first)
            if naming is not None and naming.column is not None:
                self._id = find([naming.column], first)[0]
        self.total: int | None = self._book.size()
        self.untouched: str | None = self._untouched(layout.format)
        self.has_lists = False
        self._rows = self._records()

    def position(self) -> int:
        """Return how many bytes of the sheet were read."""
        return self._book.position()

    def pack(self, pieces: list[Any]) -> bytes:
        """Return released texts as bytes: one list a row."""
        return b"".join(pieces)

    def finish(self, partial: Path, ends: list[int], finished: Path) -> None:
        """Write a copy of the spreadsheet with the released texts of a partial file, which ends at the last of ``ends``.

        :raises RecordError: if the spreadsheet cannot be read any more, or its rows are not exactly those that were released.
        """
        try:
            self._finish(partial, ends, finished)
        except Exception:
            finished.unlink(missing_ok=True)  # a workbook with the wrong texts, or half of one, is of no use to anybody
            raise

    def _finish(self, partial: Path, ends: list[int], finished: Path) -> None:
        with os.fdopen(open_regular(partial), "rb") as file, os.fdopen(_create(finished), "w+b") as sink:
            lists = _lists(file, ends[-1])

            def release(row: SheetRow) -> dict[int, str]:
                if row.number == self._header:
                    return {}
                places, texts = self._places(row), next(lists, None)
                if texts is None or len(texts) != len(places):
                    self._refuse(row, _CHANGED)
                return dict(zip(places, texts, strict=True))

            self._book.write(sink, release, header=self._header, private=self._private)
            if next(lists, None) is not None:
                raise RecordError(self._name, f"sheet {self._book.sheet!r}: {_CHANGED}")

    def _records(self) -> Iterator[Row]:
        record = 0
        for row in self._book.rows():
            if row.number == self._header:
                continue
            record += 1
            places = self._places(row)
            texts = tuple(row.cells[place].text or "" for place in places)
            weight = sum(map(len, texts))
            if weight > LONGEST_RECORD:
                self._refuse(row, f"a text is longer than {LONGEST_RECORD:,} characters; split it")
            yield Row(None, texts, weight, self._names(row, places, record))

    def _places(self, row: SheetRow) -> list[int]:
        """Return which of a row's cells hold private text, in the order of the columns as they were named.

        :raises RecordError: if a formula makes one: it could quote anything.
        """
        places = [
            place
            for column in self._private
            for place, cell in enumerate(row.cells)
            if cell.column == column and (cell.text is not None or cell.formula)
        ]
        for place in places:
            if row.cells[place].formula:
                self._refuse(row, "a private text is made by a formula, which would stay in the file; paste its values in its place first")
        return places

    def _names(self, row: SheetRow, places: list[int], record: int) -> tuple[Any, ...]:
        if self._naming is None:
            return ()
        given = None if self._id is None else next((cell.text for cell in row.cells if cell.column == self._id), None)
        if not places and (given is None or self._id is None):
            return ()  # a row of other things, such as a line under the table
        columns = [self._columns[self._private.index(row.cells[place].column)] for place in places]
        return self._naming.names(record, given, columns)

    def _batch(self, rows: list[Row], *, pause: bool) -> Batch:
        counts = [len(row.texts) for row in rows]

        def write(released: list[str | None], records: int) -> bytes:
            texts = iter(released)
            return b"".join(json.dumps(list(islice(texts, count))).encode() + b"\n" for count in counts[:records])

        return Batch(
            first=self._done,
            counts=counts,
            texts=[text for row in rows for text in row.texts],
            writer=write,
            names=None if self._naming is None else [name for row in rows for name in row.names],
            pause=pause,
        )

    def _find_named(self, wanted: Sequence[str], first: SheetRow) -> list[int]:
        names = first.texts()
        header = f"the header is row {first.number:,} of sheet {self._book.sheet!r}, the first that holds anything"
        advice = meant_columns(set(wanted).difference(names), names) or f"{header}; without one use --no-header, for another sheet --sheet"
        there = number_of(len(names), "column")
        return [place + 1 for place in find_columns(wanted, names, self._name, there=there, advice=advice)]

    def _find_numbered(self, wanted: Sequence[str], first: SheetRow) -> list[int]:
        return [place + 1 for place in find_numbered_columns(wanted, max(cell.column for cell in first.cells), self._name)]

    def _untouched(self, kind: str) -> str:
        others = f", and every cell of {_sheets_as_text(self._book.others)}" if self._book.others else ""
        left_out = f"{_LEFT_OUT}, fonts, colours and borders" if kind == "ods" else _LEFT_OUT
        return f"every other cell, formula and format of the sheet {self._book.sheet!r}{others} ({left_out})"

    def _refuse(self, row: SheetRow, problem: str) -> NoReturn:
        raise RecordError(self._name, f"sheet {self._book.sheet!r}, row {row.number:,}: {problem}")


def _sheets_as_text(names: list[str]) -> str:
    return names_as_text(names).replace("the columns", "the sheets", 1).replace("the column", "the sheet", 1)


def _lists(file: BinaryIO, length: int) -> Iterator[list[str]]:
    """Yield the released texts of each row."""
    read = 0
    while read < length:
        line = file.readline()
        read += len(line)
        yield json.loads(line)


def _create(path: Path) -> int:
    return open_regular(path, os.O_RDWR | os.O_CREAT | os.O_EXCL)
