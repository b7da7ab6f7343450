"""CSV and TSV: cells pass as text, so that 007 and 1.50 stay what they are."""

from __future__ import annotations

import csv
import re
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from deniable.errors import RecordError, UndecidedColumns
from deniable.noise.encoding import RecordId
from deniable.records.formats.layout import (
    Layout,
    find_header_columns,
    find_numbered_columns,
    untouched_columns,
)
from deniable.records.formats.naming import Naming
from deniable.records.formats.reader import LineReader, Row
from deniable.records.formats.source import LONGEST_RECORD, Lines, Source


class Cells:
    """The rows of a file, each as its cells. ``ends`` is how the first one ends, and ``line`` where the last
    one that was read does."""

    def __init__(self, lines: Lines, delimiter: str) -> None:
        # The limit is one for the whole process, so it is raised and never lowered; records are held to our
        # own.
        csv.field_size_limit(max(csv.field_size_limit(), LONGEST_RECORD + 1))
        self.ends, self._in_first_row = "\n", True
        self._name, self._starts, self._characters = lines.name, 1, 0
        self._reader = csv.reader(self._with_ends(lines), delimiter=delimiter, strict=True)

    @property
    def line(self) -> int:
        """The number of the line that was read last."""
        return self._reader.line_num

    def next_row(self) -> list[str] | None:
        """Return the cells of the next row; None if there is none.

        :raises RecordError: if its quotes are wrong or it is too long, with the line.
        """
        self._starts, self._characters = self._reader.line_num + 1, 0
        try:
            row = next(self._reader, None)
        except csv.Error as error:
            problem = str(error)
            if "new-line character" in problem:
                problem = "a carriage return stands outside quotes"
            elif "unexpected end" in problem:
                problem = "a quote is opened in this row and never closed"
            raise RecordError(self._name, problem, line=self._starts) from None
        self._in_first_row = False
        return row

    def _with_ends(self, lines: Lines) -> Iterator[str]:
        for line in lines:
            if (
                self._in_first_row
            ):  # by the line that ends it: those before end inside of a cell, which may be private
                self.ends = "\r\n" if line.endswith("\r") else "\n"
            self._characters += len(line) + 1
            if self._characters > LONGEST_RECORD:
                problem = (
                    f"this record is longer than {LONGEST_RECORD:,} characters; split it, or close "
                    "the quote that is opened in it"
                )
                raise RecordError(self._name, problem, line=self._starts)
            yield line + "\n"


class DelimitedReader(LineReader):
    """Reads rows of cells. Empty lines stay empty lines, and the line ends of the first line are used for
    all."""

    def __init__(self, source: Source, layout: Layout, naming: Naming | None = None) -> None:
        """Read the first row and find the columns.

        :raises InvalidParameter: if a column is not there.
        """
        lines = Lines(source, layout.encoding)
        self._cells = Cells(lines, layout.delimiter)
        self._delimiter = layout.delimiter
        self._special = re.compile(f'[{re.escape(layout.delimiter)}"\r\n]')
        super().__init__(source, lines, naming)
        first = self._cells.next_row()
        self._head = first if layout.header else None
        self._first = None if layout.header else first
        self._width = len(first or ())
        self._columns, self._roles = layout.columns, layout.roles
        self._id: int | None = None
        named_by = None if naming is None else naming.column
        if first is None:
            self._private: list[int] = []  # an empty file has no columns to look for, and nothing to release
        elif layout.header:
            self._private = find_header_columns(layout.columns, first, source.name)
            self._id = None if named_by is None else find_header_columns([named_by], first, source.name)[0]
        else:
            self._private = find_numbered_columns(layout.columns, self._width, source.name)
            self._id = (
                None if named_by is None else find_numbered_columns([named_by], self._width, source.name)[0]
            )
        self._titles = list(first or ()) if layout.header else [str(i + 1) for i in range(self._width)]
        dropped = [i for i, title in enumerate(self._titles) if title in layout.roles.drop]
        self.untouched = untouched_columns(self._titles, [*self._private, *dropped])
        self._written = [i for i in range(self._width) if i not in dropped] if dropped else None

    def let_pass(self, columns: Collection[str], judged: str) -> None:
        """Refuse the columns that have no role and are not among these.

        :raises UndecidedColumns: if there are any.
        """
        undecided = [
            title for title in self._titles if title not in self._roles.named and title not in columns
        ]
        if undecided:
            raise UndecidedColumns(self._name, dict.fromkeys(undecided, "no role"), judged=judged)

    def head(self) -> list[bytes]:
        """Return the header, with a byte order mark if the input has one: some spreadsheets need it."""
        mark = "\ufeff" if self._lines.marked else ""
        return [(mark + (self._line(self._head) if self._head is not None else "")).encode()]

    def rows(self) -> Iterator[Row]:
        """Yield the rows one by one.

        :raises RecordError: if a row has a wrong number of cells or wrong quotes, with the line.
        """
        cells = self._first if self._first is not None else self._cells.next_row()
        record = 0
        while cells is not None:
            record += 1
            if cells and len(cells) != self._width:
                problem = f"{len(cells):,} cells where the first row has {self._width:,}"
                raise RecordError(self._name, problem, line=self._cells.line)
            weight = sum(map(len, cells))
            texts = tuple(cells[i] for i in self._private) if cells else ()
            if cells:
                for i in self._private:
                    cells[i] = ""
            yield Row(cells, texts, weight, self._names(record, cells))
            cells = self._cells.next_row()

    def write(self, payloads: list[Any], released: list[str | None]) -> bytes:
        """Return the rows with the released texts in their cells."""
        texts = iter(released)
        written = []
        for cells in payloads:
            if cells:
                for i in self._private:
                    cells[i] = next(texts)
            written.append(self._line(cells))
        return "".join(written).encode()

    def _names(self, record: int, cells: list[str]) -> tuple[RecordId, ...]:
        if self._naming is None or not cells:
            return ()
        return self._naming.names(record, None if self._id is None else cells[self._id], self._columns)

    def _line(self, cells: Sequence[str]) -> str:
        if self._written is not None and cells:
            cells = [cells[i] for i in self._written]
        # csv.writer of Python 3.11 leaves a carriage return unquoted when lines end in a line feed; its
        # reader then fails.
        if len(cells) == 1 and not cells[0]:
            return '""' + self._cells.ends
        special = self._special.search
        return (
            self._delimiter.join(
                ['"' + cell.replace('"', '""') + '"' if special(cell) else cell for cell in cells]
            )
            + self._cells.ends
        )
