"""Spreadsheets of OpenDocument (.ods), as LibreOffice writes them: where their rows stand, and how they are written with released texts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import BinaryIO

from deniable.records.formats.spreadsheets.archive import Archive, ArchiveWriter
from deniable.records.formats.spreadsheets.cells import Cell, Release, Results, SheetRow, choose_sheet
from deniable.records.formats.spreadsheets.ods_parts import (
    REFUSED,
    TYPE,
    copy_element,
    odf_attributes,
    odf_name,
    passes,
    root_attributes,
    write_manifest,
)
from deniable.records.formats.spreadsheets.ods_styles import PART, Styles
from deniable.records.formats.spreadsheets.xml import (
    NOT_IN_XML,
    Event,
    XmlWriter,
    children,
    escape_text,
    read_xml,
    skip_element,
    write_attributes,
)

_CONTENT = "content.xml"
_AROUND_SHEETS = ["office:document-content", "office:body", "office:spreadsheet"]
_AROUND_ROWS = [*_AROUND_SHEETS, "table:table"]
_AROUND_A_ROW = {"table:table-rows", "table:table-header-rows", "table:table-row-group"}
_CELLS = ("table:table-cell", "table:covered-table-cell")
_LAST_COLUMN, _LAST_ROW = 16_384, 1_048_576
_MOST_EQUAL_ROWS = 100_000
_MOST_CELLS = 5_000_000
"""Cells, of all sheets together, that are equal to the one before and not written in the file: a small one can say it has many."""
_NUMBER = re.compile(r"[0-9]{1,9}")
_KEPT_OF_A_CELL = (
    "table:number-columns-spanned",
    "table:number-rows-spanned",
    "table:number-matrix-columns-spanned",
    "table:number-matrix-rows-spanned",
    "table:protect",
)
_MATRIX = ("table:number-matrix-rows-spanned", "table:number-matrix-columns-spanned")
_VALUES = ("office:value-type", "office:value", "office:date-value", "office:time-value", "office:boolean-value", "office:currency")
_KEPT = {
    "table:table": ("table:name",),
    "table:table-column-group": ("table:display",),
    "table:table-row-group": ("table:display",),
}
"""Attributes of elements around rows; the other elements there have none that pass."""


class Ods:
    """A spreadsheet of OpenDocument, of which one sheet holds private text.

    Equal cells and rows that follow one another are written once there, with a number; here each is one of its own.
    """

    def __init__(self, archive: Archive, sheet: str | None) -> None:
        """Find the sheet, the first one unless another is named.

        :raises RecordError: if it is no spreadsheet, or holds what keeps copies of cells.
        :raises InvalidParameter: if there is no such sheet.
        """
        self._archive = archive
        kind = archive.read("mimetype").strip() if "mimetype" in archive.sizes else b""
        if _CONTENT not in archive.sizes or kind != TYPE.encode():
            archive.refuse("is not an .ods spreadsheet, or a damaged one")
        names = list(self._sheet_names())
        if not names:
            archive.refuse("has no sheet")
        self._results = Results()
        self._at, self._styles, self._private = -1, Styles(archive), list[int]()
        self._place, self._read = choose_sheet(names, sheet, archive.name), 0
        self.sheet, self.others = names[self._place], [name for place, name in enumerate(names) if place != self._place]

    def position(self) -> int:
        """Return how many bytes of the sheets were read."""
        return self._read

    def size(self) -> int:
        """Return how many bytes the sheets have."""
        return self._archive.sizes[_CONTENT]

    def rows(self) -> Iterator[SheetRow]:
        """Yield the rows of the sheet that hold anything.

        :raises RecordError: if the sheet is damaged.
        """
        self._private = []
        for found in self._walk():
            if isinstance(found, SheetRow) and self._at == self._place and found.holds_anything:
                yield found

    def write(self, file: BinaryIO, release: Release, *, header: int | None, private: list[int]) -> None:  # noqa: ARG002 - of every kind
        """Write the spreadsheet anew, each row of the sheet with its released texts."""
        self._styles, self._private = Styles(self._archive), private
        with ArchiveWriter(file) as target:
            target.add("mimetype", TYPE.encode(), stored=True)
            with target.open(_CONTENT) as sink:
                self._write_content(XmlWriter(sink), release)
            self._styles.write(target)
            write_manifest(target, [_CONTENT, PART])

    def _sheet_names(self) -> Iterator[str]:
        for event in self._events():
            if event.kind == "start" and odf_name(event.name) == "table:table":
                yield odf_attributes(event.attributes).get("table:name", "")

    def _events(self) -> Iterator[Event]:
        """Yield what stands in the document; a sheet or a row that is not where it belongs might be counted here and not there.

        :raises RecordError: if one is not, or something keeps copies of cells.
        """
        around: list[str] = []
        for event in read_xml(self._counted(), self._archive.name, _CONTENT):
            if event.kind == "start":
                name = odf_name(event.name)
                if name in REFUSED:
                    self._archive.refuse(REFUSED[name])
                if name == "table:table" and around != _AROUND_SHEETS:
                    inside = "inside another" if name in around else "where none belongs"
                    self._archive.refuse(f"has a sheet {inside}, which cannot be read")
                if name == "table:table-row" and (around[:4] != _AROUND_ROWS or not _AROUND_A_ROW.issuperset(around[4:])):
                    self._archive.refuse("has a row where none belongs, which cannot be read")
                around.append(name)
            elif event.kind == "end":
                around.pop()
            yield event

    def _walk(self) -> Iterator[Event | SheetRow]:
        """Yield what stands in the document: the rows of all sheets, and the events of all else."""
        events, number, self._at, self._column, self._expanded = self._events(), 0, -1, 1, 0
        for event in events:
            name = odf_name(event.name) if event.kind == "start" else ""
            if name == "table:table":
                self._results, number, self._column = Results(), 0, 1
                self._at += 1
            if name != "table:table-row":
                yield event
                continue
            row, times = self._row(event, events, number + 1)
            if not row.holds_anything:
                yield replace(row, times=times)
            elif times > _MOST_EQUAL_ROWS:
                self._archive.refuse(f"sheet {self.sheet!r}, row {row.number:,}: stands there {times:,} times; delete what is not needed")
            else:
                self._count((times - 1) * len(row.cells))
                for more in range(times):
                    yield replace(row, number=row.number + more)
            number += times

    def _counted(self) -> Iterator[bytes]:
        self._read = 0
        for chunk in self._archive.chunks(_CONTENT):
            self._read += len(chunk)
            yield chunk

    def _row(self, event: Event, events: Iterator[Event], number: int) -> tuple[SheetRow, int]:
        """Return a row that has begun, and how many times it stands there."""
        about = odf_attributes(event.attributes)
        times = self._number(about.get("table:number-rows-repeated", "1"), _LAST_ROW, number)
        cells, column = list[Cell](), 1
        for inner in children(events):
            name = odf_name(inner.name)
            if name not in _CELLS:
                skip_element(events)
                continue
            found, repeated = self._cell(name, inner, events, column, number)
            cells += found
            column += repeated
            if column > _LAST_COLUMN + 1:
                self._archive.refuse(f"sheet {self.sheet!r}, row {number:,}: has far too many cells; the file is damaged")
        return SheetRow(number=number, cells=cells), times

    def _count(self, cells: int) -> None:
        self._expanded += cells
        if self._expanded > _MOST_CELLS:
            self._archive.refuse(f"has more than {_MOST_CELLS:,} cells that say the same as those before; delete what is not needed")

    def _look(self, style: str | None, column: int, key: str = "table:style-name") -> str:
        """Return what a cell says of how it looks: nothing in a private column, where that may follow what was typed."""
        if self._at == self._place and column in self._private:
            return ""
        name = self._styles.place_of(style)
        return f' {key}="{name}"' if name else ""

    def _runs(self, column: int, times: int) -> Iterator[tuple[int, int]]:
        """Yield the beginnings and lengths of equal cells or columns, private ones each by itself."""
        if self._at != self._place or not self._private:
            yield column, times
            return
        apart = sorted(each for each in set(self._private) if column <= each < column + times)
        for before, after in zip([column - 1, *apart], [*apart, column + times], strict=True):
            if before in apart:
                yield before, 1
            if before + 1 < after:
                yield before + 1, after - before - 1

    def _cell(self, name: str, event: Event, events: Iterator[Event], column: int, row: int) -> tuple[list[Cell], int]:
        """Return a cell that has begun, as often as it stands there, and how often that is; an empty one is returned once."""
        about = odf_attributes(event.attributes)
        times = self._number(about.get("table:number-columns-repeated", "1"), _LAST_COLUMN, row)
        text, written = self._content(events)
        if about.get("office:value-type", "string") != "string":  # what is shown is rounded, or a date as people write it
            text = next((about[key] for key in _VALUES[1:5] if key in about), text)
        elif "office:string-value" in about:
            text = about["office:string-value"]
        plain, style = name + write_attributes(about, _KEPT_OF_A_CELL), about.get("table:style-name")
        looks = {start: self._look(style, start) for start, _ in self._runs(column, times)}

        def copies(inside: str, *, formula: bool, plain: str, value: str = "") -> list[Cell]:
            self._count(times - 1)
            written = [
                (start + more, f"<{plain}{looks[start]}{value}>{inside}</{name}>")
                for start, length in self._runs(column, times)
                for more in range(length)
            ]
            return [Cell(column=at, text=text, formula=formula, written=whole, style=plain) for at, whole in written]

        if "table:formula" in about:
            more_rows, more_columns = (self._number(about.get(key, "1"), _LAST_ROW, row) - 1 for key in _MATRIX)
            self._results.add(row, column, row + more_rows, column + more_columns)
        elif text is not None and self._results.hold(row, column):
            return copies("", formula=True, plain=plain), times
        if "table:formula" in about:
            return copies("", formula=True, plain=plain, value=write_attributes(about, ["table:formula"])), times
        if text is None:
            runs = [(start, f' table:number-columns-repeated="{most}"' if most > 1 else "") for start, most in self._runs(column, times)]
            return [Cell(column=at, text=None, written=f"<{plain}{looks[at]}{repeated}></{name}>") for at, repeated in runs], times
        values = write_attributes(about, (*_VALUES, "office:string-value"))
        return copies(written, formula=False, plain=plain, value=values), times

    def _content(self, events: Iterator[Event]) -> tuple[str | None, str]:
        """Return the text in a cell that has begun, None if there is no paragraph, and it as it is written again."""
        paragraphs, written = list[str](), list[str]()
        for event in children(events):
            name, about = odf_name(event.name), odf_attributes(event.attributes)
            if name in ("text:p", "text:h"):
                seen: list[str] = []
                written.append(copy_element(_noting(events, seen), name, about))
                paragraphs.append("".join(seen))
            else:
                skip_element(events)
        return "\n".join(paragraphs) if paragraphs else None, "".join(written)

    def _number(self, given: str, most: int, row: int) -> int:
        if not _NUMBER.fullmatch(given) or not 1 <= int(given) <= most:
            self._archive.refuse(f"sheet {self.sheet!r}, row {row:,}: is repeated a wrong number of times; the file is damaged")
        return int(given)

    def _write_content(self, writer: XmlWriter, release: Release) -> None:
        events, same = self._walk(), _Same(writer)
        inner = (event for event in events if not isinstance(event, SheetRow))
        for found in events:
            name = odf_name(found.name) if isinstance(found, Event) and found.kind != "text" else ""
            if isinstance(found, SheetRow):
                chosen = self._at == self._place and found.holds_anything
                whole = _written(found, release(found) if chosen else {})
                if found.holds_anything:
                    same.end()
                    writer.raw(f"<table:table-row>{whole}</table:table-row>")
                else:
                    same.add("table:table-row", "", whole, "rows", found.times)
            elif found.kind == "start" and name == "table:table-column":
                self._write_column(odf_attributes(found.attributes), same)
                skip_element(inner)
            elif found.kind == "end":
                same.end()
                writer.end(name)
            elif found.kind == "start":
                about = odf_attributes(found.attributes)
                same.end()
                if name == "office:document-content":
                    writer.start(name, root_attributes())
                elif name.startswith(("style:", "number:")):
                    self._styles.read(found, inner)
                elif not passes(name):
                    skip_element(inner)
                else:
                    writer.start(name, {key: about[key] for key in _KEPT.get(name, ()) if key in about})
        writer.close()

    def _write_column(self, about: dict[str, str], same: _Same) -> None:
        times = self._number(about.get("table:number-columns-repeated", "1"), _LAST_COLUMN, 0)
        for start, length in self._runs(self._column, times):
            shown = write_attributes(about, ["table:visibility"])
            look = self._look(about.get("table:default-cell-style-name"), start, "table:default-cell-style-name")
            same.add("table:table-column", f"{shown}{look}", "", "columns", length)
        self._column += times


class _Same:
    """Writes equal elements that follow one another once, with a number, whichever way they were told apart before."""

    def __init__(self, writer: XmlWriter) -> None:
        self._writer = writer
        self._last: tuple[str, str, str, str] | None = None
        self._times = 0

    def add(self, name: str, said: str, inside: str, what: str, times: int) -> None:
        """Add an element that stands there a number of times."""
        if self._last != (name, said, inside, what):
            self.end()
            self._last = (name, said, inside, what)
        self._times += times

    def end(self) -> None:
        """Write what was added."""
        if self._last is not None:
            name, said, inside, what = self._last
            repeated = f' table:number-{what}-repeated="{self._times}"' if self._times > 1 else ""
            self._writer.raw(f"<{name}{said}{repeated}>{inside}</{name}>")
        self._last, self._times = None, 0


def _noting(events: Iterator[Event], seen: list[str]) -> Iterator[Event]:
    """Yield the events of a paragraph, and note the text that people see in it."""
    for event in events:
        if event.kind == "text":
            seen.append(event.name)
        elif event.kind == "start":
            name = odf_name(event.name)
            if name == "text:s":
                count = odf_attributes(event.attributes).get("text:c", "1")
                seen.append(" " * (min(int(count), 1_000) if _NUMBER.fullmatch(count) else 1))
            elif name in ("text:tab", "text:line-break"):
                seen.append("\t" if name == "text:tab" else "\n")
        yield event


def _written(row: SheetRow, released: dict[int, str]) -> str:
    """Return the cells of a row as they are written."""
    cells = []
    for place, cell in enumerate(row.cells):
        if place in released:
            text = escape_text(NOT_IN_XML.sub("", released[place]))
            name = (cell.style or "").split(" ", 1)[0]
            cells.append(f'<{cell.style} office:value-type="string"><text:p>{text}</text:p></{name}>')
        else:
            cells.append(cell.written)
    return "".join(cells)
