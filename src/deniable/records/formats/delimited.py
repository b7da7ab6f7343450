"""CSV and TSV: cells pass as text, so that 007 and 1.50 stay what they are."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from deniable.errors import RecordError
from deniable.records.formats.columns import Field, Leaf, find_header_columns, title_at, untouched_columns
from deniable.records.formats.lines import LONGEST_RECORD, Lines
from deniable.records.formats.reader import Reader, Row


class DelimitedReader(Reader):
    """Reads rows of cells. Empty lines stay empty lines, and the line ends of the first line are used for
    all."""

    def begin(self) -> None:
        """Read the first row and find the columns."""
        layout, naming = self.layout, self.naming
        self.lines = Lines(self.source, layout.encoding)
        # The limit is one for the whole process, so it is raised and never lowered; records are held to our
        # own.
        csv.field_size_limit(max(csv.field_size_limit(), LONGEST_RECORD + 1))
        self._ends, self._starts, self._characters, self._begun = "\n", 1, 0, False
        self._cells = csv.reader(self._with_ends(), delimiter=layout.delimiter, strict=True)
        self._special = re.compile(f'[{re.escape(layout.delimiter)}"\r\n]').search
        first = self._next_row()
        self._first = [] if first is None or layout.header else [first]
        self._header = first if layout.header else None
        self.columns = self._titles = [title_at(self._header, place) for place in range(len(first or ()))]
        self._private: list[int] = []
        self._id: int | None = None
        if first is not None and not self.looks:  # an empty file has no columns to look for
            find = partial(find_header_columns, titles=self._titles, source=self.name, header=layout.header)
            self._private = find(layout.roles.text)
            self._id = None if naming is None or naming.column is None else find([naming.column])[0]
        kept = [place for place, title in enumerate(self._titles) if title not in layout.roles.drop]
        self.untouched = untouched_columns(
            [self._titles[place] for place in kept if place not in self._private]
        )
        self._written = kept if len(kept) < len(self._titles) else None

    def head(self) -> bytes:
        """Return the header, with a byte order mark if the input has one: some spreadsheets need it."""
        mark = "\ufeff" if self.lines is not None and self.lines.marked else ""
        return (mark + (self._line(self._header) if self._header is not None else "")).encode()

    def rows(self) -> Iterator[Row]:
        """Yield the rows one by one."""
        while (cells := self._first.pop() if self._first else self._next_row()) is not None:
            if not cells:
                yield Row(cells, (), 0, fields=iter(()))
                continue
            if len(cells) != len(self._titles) and not self.looks:
                problem = f"{len(cells):,} cells where the first row has {len(self._titles):,}"
                raise RecordError(self.name, problem, line=self._cells.line_num)
            weight = sum(map(len, cells))
            texts = tuple(cells[place] for place in self._private)
            given = None if self._id is None else cells[self._id]
            for place in self._private:
                cells[place] = ""
            yield Row(cells, texts, weight, self.layout.roles.text, given, self._fields(cells))

    def write(self, payloads: list[Any], released: list[str | None]) -> bytes:
        """Return the rows with the released texts in their cells."""
        texts = iter(released)
        written = []
        for cells in payloads:
            if cells:
                for place in self._private:
                    cells[place] = next(texts)
            written.append(self._line(cells))
        return "".join(written).encode()

    def _fields(self, cells: list[str]) -> Iterator[Field]:
        for place, cell in enumerate(cells):
            path = title_at(self._header, place)
            yield path, Leaf.NAMED if path in self.layout.roles.named else cell or None

    def _next_row(self) -> list[str] | None:
        """Return the cells of the next row; None if there is none."""
        self._starts, self._characters = self._cells.line_num + 1, 0
        try:
            row = next(self._cells, None)
        except csv.Error as error:
            problem = str(error)
            if "new-line character" in problem:
                problem = "a carriage return stands outside quotes"
            elif "unexpected end" in problem:
                problem = "a quote is opened in this row and never closed"
            raise RecordError(self.name, problem, line=self._starts) from None
        self._begun = True
        return row

    def _with_ends(self) -> Iterator[str]:
        for line in self.lines or ():
            if not self._begun:  # by the line that ends the first row: those before end inside a private cell
                self._ends = "\r\n" if line.endswith("\r") else "\n"
            self._characters += len(line) + 1
            if self._characters > LONGEST_RECORD:
                problem = (
                    f"this record is longer than {LONGEST_RECORD:,} characters; split it, or close the "
                    "quote that is opened in it"
                )
                raise RecordError(self.name, problem, line=self._starts)
            yield line + "\n"

    def _line(self, cells: Sequence[str]) -> str:
        if self._written is not None and cells:
            cells = [cells[place] for place in self._written]
        # csv.writer of Python 3.11 leaves a carriage return unquoted when lines end in a line feed; its
        # reader then fails.
        if len(cells) == 1 and not cells[0]:
            return '""' + self._ends
        quoted = ['"' + cell.replace('"', '""') + '"' if self._special(cell) else cell for cell in cells]
        return self.layout.delimiter.join(quoted) + self._ends
