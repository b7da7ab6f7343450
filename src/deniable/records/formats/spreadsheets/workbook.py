"""A workbook as its parser sends it: sheets, rows, and the values of cells."""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from deniable.errors import InvalidParameter, printable
from deniable.records.formats.confined.parent import parse_confined
from deniable.records.formats.source import FileSource

Value = str | int | float | bool | datetime.date | datetime.time | datetime.timedelta | None

_PARSER = Path(__file__).with_name("parser.py")
_NAMES_SHOWN = 20
_TIMES = {each.__name__: each.fromisoformat for each in (datetime.datetime, datetime.date, datetime.time)}


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

    def text(self, column: int) -> str | None:
        """Return the value in a column as text; None if the cell is empty."""
        return text_of(self.value(column))


@dataclass(frozen=True, kw_only=True)
class Sheet:
    """A sheet: its name, whether it is hidden, its last row, how many rows are hidden, and which columns are,
    counted from 0.

    Of sheets that are not read only the first two are known.
    """

    name: str
    hidden: bool
    last_row: int = 0
    hidden_rows: int = 0
    hidden_columns: tuple[int, ...] = ()


class Workbook:
    """A spreadsheet that is read front to back, once; ``sheet`` is the one with private text."""

    def __init__(self, source: FileSource, sheet: str | None, *, every: bool = False) -> None:
        """Open it, to read the rows of one sheet, or those of ``every`` sheet.

        :raises RecordError: if it is none, or takes too much memory.
        :raises InvalidParameter: if it has no sheet of that name, or two.
        """
        self._pieces = map(
            json.loads, parse_confined(source, _PARSER, "save it as CSV first", sheet=sheet, every=every)
        )
        about = next(self._pieces)
        self.sheets = [
            Sheet(name=name, hidden=hidden)
            for name, hidden in zip(about["sheets"], about["hidden"], strict=True)
        ]
        self.place = _choose([each.name for each in self.sheets], sheet, source.name)
        self._next: Any = next(self._pieces)

    @property
    def sheet(self) -> Sheet:
        """The sheet with private text."""
        return self.sheets[self.place]

    @property
    def others(self) -> list[Sheet]:
        """All other sheets."""
        return [each for place, each in enumerate(self.sheets) if place != self.place]

    def read_sheet(self) -> Sheet:
        """Return the sheet whose rows come next."""
        about = self._next
        name, hidden = self.sheets[about["sheet"]].name, self.sheets[about["sheet"]].hidden
        columns = tuple(about["hidden_columns"])
        read = Sheet(
            name=name,
            hidden=hidden,
            last_row=about["rows"],
            hidden_rows=about["hidden_rows"],
            hidden_columns=columns,
        )
        self.sheets[about["sheet"]] = read
        return read

    def rows(self) -> Iterator[SheetRow]:
        """Yield the rows of the next sheet that hold anything."""
        for piece in self._pieces:
            if isinstance(piece, dict):
                self._next = piece
                return
            for number, values, formulas in piece:
                yield SheetRow(number, [_value(each) for each in values], formulas)
        self._next = None

    def each_sheet(self) -> Iterator[tuple[Sheet, Iterator[SheetRow]]]:
        """Yield every sheet with its rows."""
        while self._next is not None:
            place = self._next["sheet"]
            self.read_sheet()
            yield self.sheets[place], self.rows()


def text_of(value: Value) -> str | None:
    """Return a value as text, as CSV has it; None if there is none."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, datetime.datetime):
        return value.isoformat(sep=" ")
    return value.isoformat() if isinstance(value, datetime.date | datetime.time) else str(value)


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
        there = ", ".join(printable(name) for name in names[:_NAMES_SHOWN]) + (
            " and more" if len(names) > _NAMES_SHOWN else ""
        )
        raise InvalidParameter(
            "sheet", wanted, f"{printable(source)} has the sheets {there}; name one of them"
        )
    return names.index(wanted)
