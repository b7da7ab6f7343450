"""Rows and cells of a sheet, as both kinds of spreadsheet have them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import BinaryIO, Protocol

from deniable.errors import InvalidParameter, printable

_NAMES_SHOWN = 20


@dataclass(frozen=True, kw_only=True, slots=True)
class Cell:
    """One cell: its column from 1, the text in it (None if it is empty), whether a formula makes it, and how it is written again.

    ``date`` says that the text is a number of days which is shown as a date.
    """

    column: int
    text: str | None = field(repr=False)
    formula: bool = False
    written: str = field(default="", repr=False)
    style: str | None = None
    shared: int | None = None
    date: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class SheetRow:
    """One row by its number in the sheet, and its cells in order; ``written`` is how its element begins."""

    number: int
    cells: list[Cell] = field(repr=False)
    written: str = field(default="", repr=False)
    style: str | None = None
    times: int = 1

    @property
    def holds_anything(self) -> bool:
        """Whether a cell is not empty."""
        return any(cell.text is not None or cell.formula for cell in self.cells)

    def texts(self) -> list[str]:
        """Return the texts of the cells from the first column to the last, empty where there is none."""
        found = [""] * max((cell.column for cell in self.cells), default=0)
        for cell in self.cells:
            found[cell.column - 1] = cell.text or ""
        return found


class Results:
    """Cells that a formula of another cell fills: they hold its last results, and no formula of their own."""

    def __init__(self) -> None:
        self._areas: list[tuple[int, int, int, int]] = []

    def add(self, row: int, column: int, last_row: int, last_column: int) -> None:
        """Note that a formula fills the cells from a row and column to others."""
        if (last_row, last_column) != (row, column):
            self._areas.append((row, column, last_row, last_column))

    def hold(self, row: int, column: int) -> bool:
        """Return whether a cell is filled by the formula of another. Rows come in order: areas that end above are forgotten."""
        if self._areas:
            self._areas = [area for area in self._areas if area[2] >= row]
        return any(area[1] <= column <= area[3] for area in self._areas if area[0] <= row)


Release = Callable[[SheetRow], dict[int, str]]
"""Gives the released texts of a row's cells, by their place among its cells; all other cells pass."""


class Workbook(Protocol):
    """A spreadsheet of one kind, of which one sheet holds private text."""

    sheet: str
    others: list[str]

    def rows(self) -> Iterator[SheetRow]:
        """Yield the rows of the sheet that hold anything."""

    def write(self, file: BinaryIO, release: Release, *, header: int | None, private: list[int]) -> None:
        """Write the spreadsheet anew, each row of the sheet with its released texts.

        ``header`` is the number of the row that names the columns, and ``private`` the columns, from 1, that hold private text.
        """

    def position(self) -> int:
        """Return how many bytes of the sheet were read."""

    def size(self) -> int:
        """Return how many bytes the sheet has."""


def choose_sheet(names: Sequence[str], wanted: str | None, source: str) -> int:
    """Return the place of the sheet of that name, or of the first one if none is named.

    :raises InvalidParameter: if there is none of that name, or two.
    """
    if wanted is None:
        return 0
    if names.count(wanted) != 1:
        there = ", ".join(printable(name) for name in names[:_NAMES_SHOWN]) + (" and more" if len(names) > _NAMES_SHOWN else "")
        raise InvalidParameter("sheet", wanted, f"{printable(source)} has the sheets {there}; name one of them")
    return names.index(wanted)
