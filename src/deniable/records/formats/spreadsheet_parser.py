"""Reads .xlsx and .ods in a confined process: values by python-calamine, and from the XML which cells are
formulas and what is hidden.

Sends the sheets first, then pieces of each sheet that is wanted: its place, in the first piece what is known
of it, and rows; all as JSON.
"""

from __future__ import annotations

import datetime
import io
import json
import math
import posixpath
import re
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any, NoReturn
from xml.parsers import expat

from python_calamine import CalamineSheet, SheetTypeEnum, SheetVisibleEnum, load_workbook

Refuse = Callable[[str], NoReturn]

_MOST_UNPACKED, _MOST_PARTS = 512 << 20, 10_000
_MOST_CELLS, _MOST_ROWS, _MOST_COLUMNS = 20_000_000, 1 << 20, 1 << 14
_MOST_CHARACTERS, _CHARACTERS_PER_BYTE = 64 << 20, 16
_ROWS_AT_ONCE, _CHARACTERS_AT_ONCE = 256, 1 << 20
_NUMBER = re.compile("[0-9]{1,9}")
_CELL = re.compile(r"\$?([A-Z]{1,3})\$?([0-9]{1,7})")
_MANIFEST = "META-INF/manifest.xml"
_TOO_MUCH = "too much for a spreadsheet to be read; save it as CSV first"
_PIVOT = "holds a pivot table, which keeps copies of cells; delete it first, or save the sheet as CSV"


def parse(file: io.BufferedReader, refuse: Refuse, *, sheet: str | None, every: bool) -> Iterator[bytes]:
    """Yield the sheets of a workbook, and the rows of the one that is named (the first if none is), or of
    ``every`` one."""
    content = file.read()
    archive, unpacked = _open(content, refuse)
    marks = (
        _marks_of_ods(archive, refuse)
        if "content.xml" in archive.namelist()
        else _marks_of_xlsx(archive, refuse)
    )
    book = load_workbook(_with_manifest(content))
    names = book.sheet_names
    if not names or len(marks) != len(names):
        refuse("has no sheet, or one that is not there; the file is damaged")
    if any(about.typ != SheetTypeEnum.WorkSheet for about in book.sheets_metadata):
        refuse(
            "holds a sheet that is a chart or of macros; delete it first, or save the sheet with the texts "
            "as CSV"
        )
    hidden = [about.visible != SheetVisibleEnum.Visible for about in book.sheets_metadata]
    yield json.dumps({"sheets": names, "hidden": hidden}).encode()
    left = _MOST_CHARACTERS + _CHARACTERS_PER_BYTE * unpacked
    for place, name in enumerate(names):
        if every or name == sheet or (sheet is None and not place):
            read, mark = book.get_sheet_by_index(place), marks[place]
            about: dict[str, Any] | None = {
                "rows": 0 if read.end is None else read.end[0] + 1,
                "hidden_rows": mark.hidden_rows,
                "hidden_columns": sorted(mark.hidden_columns),
            }
            for rows, characters in _pieces(read, mark):
                left -= characters
                if left < 0:
                    refuse(f"its cells share texts: {unpacked:,} bytes stand for far more text, {_TOO_MUCH}")
                yield json.dumps([place, about, rows]).encode()
                about = None


def _open(content: bytes, refuse: Refuse) -> tuple[zipfile.ZipFile, int]:
    """Return the archive that a workbook is, and how many bytes it says it has unpacked."""
    try:
        archive = zipfile.ZipFile(io.BytesIO(content))
    except Exception:
        refuse("not a spreadsheet, or a damaged one; one with a password cannot be read")
    parts = archive.infolist()
    unpacked = sum(part.file_size for part in parts)
    if len({part.filename.lower() for part in parts}) < len(parts) or len(parts) > _MOST_PARTS:
        refuse("has parts twice, or far too many of them; the file is damaged")
    if unpacked > _MOST_UNPACKED:
        refuse(f"unpacks to more than {_MOST_UNPACKED >> 20:,} MiB, {_TOO_MUCH}")
    if any("pivot" in part.filename.lower() for part in parts):
        refuse(_PIVOT)
    return archive, unpacked


def _with_manifest(content: bytes) -> io.BytesIO:
    """Return a workbook with the part that python-calamine looks for in .ods, and some writers leave out."""
    whole = io.BytesIO(content)
    with zipfile.ZipFile(whole, "a") as archive:
        if "mimetype" in archive.namelist() and _MANIFEST not in archive.namelist():
            archive.writestr(_MANIFEST, "<manifest/>")
    whole.seek(0)
    return whole


class _Marks:
    """What the XML of a sheet says beside values: which cells a formula makes, and what is hidden. Rows count
    from 1, columns from 0."""

    def __init__(self, refuse: Refuse) -> None:
        self.formulas: defaultdict[int, set[int]] = defaultdict(set)
        self.hidden_columns: set[int] = set()
        self.hidden_rows = 0
        self._areas: list[tuple[int, int, int, int]] = []
        self._first, self._last, self._count = (_MOST_ROWS, _MOST_COLUMNS), (0, 0), 0
        self._refuse = refuse

    def cells(self, row: int, column: int, *, formula: bool, rows: int = 1, columns: int = 1) -> None:
        """Note cells that hold something; those that the formula of another cell fills hold its results."""
        last = (row + rows - 1, column + columns - 1)
        if not 1 <= row <= last[0] <= _MOST_ROWS or last[1] >= _MOST_COLUMNS:
            self._refuse("has more rows or columns than a sheet has; the file is damaged")
        self._first = (min(self._first[0], row), min(self._first[1], column))
        self._last = (max(self._last[0], last[0]), max(self._last[1], last[1]))
        if (self._last[0] - self._first[0] + 1) * (self._last[1] - self._first[1] + 1) > _MOST_CELLS:
            self._refuse(f"a sheet spans more than {_MOST_CELLS:,} cells, {_TOO_MUCH}")
        self._areas = [area for area in self._areas if area[2] >= row]
        if formula or self._areas:
            for each in range(row, last[0] + 1):
                self.formulas[each].update(
                    at for at in range(column, last[1] + 1) if formula or self._filled(each, at)
                )

    def fill(self, row: int, column: int, last_row: int, last_column: int) -> None:
        """Note that a formula fills the cells from a row and column to others."""
        self._areas.append((row, column, last_row, last_column))

    def _filled(self, row: int, column: int) -> bool:
        return any(area[0] <= row <= area[2] and area[1] <= column <= area[3] for area in self._areas)


def _walk(
    archive: zipfile.ZipFile,
    part: str,
    refuse: Refuse,
    start: Callable[[str, dict[str, str]], None],
    end: Callable[[str], None],
) -> None:
    """Call ``start`` and ``end`` for each element of a part, with names that have no prefix."""
    parser = expat.ParserCreate()
    parser.StartElementHandler = lambda name, about: start(
        _bare(name), {_bare(key): value for key, value in about.items()}
    )
    parser.EndElementHandler = lambda name: end(_bare(name))
    # Entities could stand for anything.
    parser.StartDoctypeDeclHandler = lambda *_: refuse(
        "declares a document type in its XML; the file is damaged"
    )
    try:
        with archive.open(part) as file:
            while chunk := file.read(1 << 16):
                parser.Parse(chunk, False)
            parser.Parse(b"", True)
    except (
        KeyError,
        expat.ExpatError,
        zipfile.BadZipFile,
        EOFError,
        NotImplementedError,
        OSError,
        RuntimeError,
        ValueError,
    ):
        refuse("a part of it is damaged, not there, or has a password")


def _bare(name: str) -> str:
    return name.rpartition(":")[2]


def _nothing(_name: str) -> None:
    """Do nothing at the end of an element."""


def _marks_of_xlsx(archive: zipfile.ZipFile, refuse: Refuse) -> list[_Marks]:
    related: dict[str, str] = {}
    sheets: list[str] = []

    def relation(name: str, about: dict[str, str]) -> None:
        if name == "Relationship":
            related[about.get("Id", "")] = posixpath.normpath(
                posixpath.join("/xl", about.get("Target", ""))
            ).lstrip("/")

    def sheet(name: str, about: dict[str, str]) -> None:
        if name == "sheet":
            sheets.append(related.get(about.get("id", ""), ""))

    if "xl/workbook.xml" not in archive.namelist():
        refuse("is not a workbook, or a damaged one")
    _walk(archive, "xl/_rels/workbook.xml.rels", refuse, relation, _nothing)
    _walk(archive, "xl/workbook.xml", refuse, sheet, _nothing)
    if len({part.lower() for part in sheets}) < len(sheets):
        refuse("has one part for two sheets; the file is damaged")
    return [_marks_of_sheet(archive, part, refuse) for part in sheets]


def _marks_of_sheet(archive: zipfile.ZipFile, part: str, refuse: Refuse) -> _Marks:
    marks, at, inside = _Marks(refuse), [0, -1], False

    def place(given: str) -> tuple[int, int]:
        found = _CELL.fullmatch(given)
        if found is None:
            refuse("refers to cells in a way that cannot be read; the file is damaged")
        column = 0
        for letter in found[1]:
            column = 26 * column + ord(letter) - 64
        return int(found[2]), column - 1

    def start(name: str, about: dict[str, str]) -> None:
        nonlocal inside
        if name == "row":
            given = about.get("r", str(at[0] + 1))
            at[:] = [int(given) if _NUMBER.fullmatch(given) else 0, -1]
            marks.hidden_rows += about.get("hidden") in ("1", "true")
        elif name == "c":
            inside, at[:] = True, place(about["r"]) if "r" in about else (at[0], at[1] + 1)
            marks.cells(at[0], at[1], formula=False)
        elif name == "f" and inside:
            marks.cells(at[0], at[1], formula=True)
            if about.get("t") in ("array", "dataTable"):
                first, _, last = about.get("ref", "A1").partition(":")
                marks.fill(*place(first), *place(last or first))
        elif (
            name == "col"
            and all(_NUMBER.fullmatch(about.get(key, "")) for key in ("min", "max"))
            and about.get("hidden") in ("1", "true")
        ):
            marks.hidden_columns.update(range(int(about["min"]) - 1, min(int(about["max"]), _MOST_COLUMNS)))

    def end(name: str) -> None:
        nonlocal inside
        inside = inside and name != "c"

    _walk(archive, part, refuse, start, end)
    return marks


def _marks_of_ods(archive: zipfile.ZipFile, refuse: Refuse) -> list[_Marks]:
    sheets: list[_Marks] = []
    at, row, column_at, depth = [0, 0], (0, False), 0, 0
    hides = ("collapse", "filter")

    def number(about: dict[str, str], key: str) -> int:
        given = about.get(key, "1")
        if not _NUMBER.fullmatch(given) or int(given) < 1:
            refuse("a cell is repeated a wrong number of times; the file is damaged")
        return int(given)

    def start(name: str, about: dict[str, str]) -> None:
        nonlocal row, column_at, depth
        if name in ("data-pilot-tables", "tracked-changes"):
            refuse(
                _PIVOT
                if name == "data-pilot-tables"
                else "holds recorded changes; accept them and end the recording first"
            )
        if name == "table":
            depth += 1
            if depth > 1:
                refuse("has a sheet inside another; delete it first, or save the sheet as CSV")
            sheets.append(_Marks(refuse))
            at[:], row, column_at = [0, 0], (0, False), 0
        elif not depth:
            return
        elif name == "table-column":
            times = number(about, "number-columns-repeated")
            if about.get("visibility") in hides:
                sheets[-1].hidden_columns.update(range(column_at, min(column_at + times, _MOST_COLUMNS)))
            column_at += times
        elif name == "table-row":
            at[:] = [at[0] + row[0], 0]
            row = (number(about, "number-rows-repeated"), about.get("visibility") in hides)
        elif name in ("table-cell", "covered-table-cell"):
            times = number(about, "number-columns-repeated")
            if "formula" in about or "value-type" in about:
                sheets[-1].cells(at[0] + 1, at[1], formula="formula" in about, rows=row[0], columns=times)
                if row[1]:
                    sheets[-1].hidden_rows += row[0]
                    row = (row[0], False)
            if "number-matrix-rows-spanned" in about:
                rows, columns = (
                    number(about, "number-matrix-rows-spanned"),
                    number(about, "number-matrix-columns-spanned"),
                )
                sheets[-1].fill(at[0] + 1, at[1], at[0] + rows, at[1] + columns - 1)
            at[1] += times

    def end(name: str) -> None:
        nonlocal depth
        depth -= name == "table"

    _walk(archive, "content.xml", refuse, start, end)
    return sheets


def _pieces(sheet: CalamineSheet, marks: _Marks) -> Iterator[tuple[list[Any], int]]:
    """Yield the rows that hold anything, some at a time, with the number of characters in them."""
    rows: list[Any] = []
    characters = 0
    first = 0 if sheet.start is None else sheet.start[1]
    for number, values in enumerate(sheet.iter_rows(), 1):
        formulas = sorted(marks.formulas.get(number, ()))
        plain = [None] * first + [_plain(value) for value in values]
        plain += [None] * (max(formulas, default=0) + 1 - len(plain))
        while plain and plain[-1] is None and (not formulas or len(plain) - 1 > formulas[-1]):
            plain.pop()
        if plain:
            rows.append([number, plain, formulas])
            characters += sum(len(value) for value in plain if isinstance(value, str))
        if len(rows) >= _ROWS_AT_ONCE or characters >= _CHARACTERS_AT_ONCE:
            yield rows, characters
            rows, characters = [], 0
    yield rows, characters


def _plain(value: Any) -> Any:
    """Return a value as JSON has it: a date or a time as its type and text, a number without a fraction as a
    whole one."""
    if isinstance(value, datetime.datetime | datetime.date | datetime.time):
        return [type(value).__name__, value.isoformat()]
    if isinstance(value, datetime.timedelta):
        return ["timedelta", value.total_seconds()]
    if isinstance(value, float):
        if not math.isfinite(value):
            return str(value)
        return int(value) if value.is_integer() and abs(value) < 1e15 else value
    return None if value == "" else value
