"""Workbooks of Excel (.xlsx): where their rows stand, and how they are written with released texts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from deniable.records.formats.spreadsheets.archive import Archive, ArchiveWriter
from deniable.records.formats.spreadsheets.cells import Cell, Release, Results, SheetRow, choose_sheet
from deniable.records.formats.spreadsheets.xlsx_parts import (
    MAIN,
    OFFICE,
    SharedTexts,
    check_once,
    copy_table,
    find_parts,
    main_name,
    relations,
    rich_text,
    root_of,
    write_book,
    write_relations,
)
from deniable.records.formats.spreadsheets.xlsx_styles import Styles
from deniable.records.formats.spreadsheets.xml import (
    NOT_IN_XML,
    Attributes,
    Event,
    XmlWriter,
    children,
    escape_text,
    read_xml,
    skip_element,
    text_until_end,
    write_attributes,
)

_SHEET: dict[str, tuple[str, ...]] = {
    "worksheet": (),
    "sheetPr": (),
    "tabColor": ("auto", "indexed", "rgb", "theme", "tint"),
    "outlinePr": ("applyStyles", "summaryBelow", "summaryRight", "showOutlineSymbols"),
    "pageSetUpPr": ("autoPageBreaks", "fitToPage"),
    "sheetViews": (),
    "sheetView": ("showFormulas", "showGridLines", "showRowColHeaders", "showZeros", "rightToLeft", "tabSelected", "zoomScale",
                  "zoomScaleNormal", "workbookViewId"),
    "pane": ("xSplit", "ySplit", "topLeftCell", "activePane", "state"),
    "selection": ("pane", "activeCell", "activeCellId", "sqref"),
    "sheetFormatPr": ("baseColWidth", "defaultColWidth", "defaultRowHeight", "outlineLevelRow", "outlineLevelCol"),
    "sheetData": (),
    "mergeCells": (),
    "mergeCell": ("ref",),
    "printOptions": ("horizontalCentered", "verticalCentered", "headings", "gridLines"),
    "pageMargins": ("left", "right", "top", "bottom", "header", "footer"),
    "pageSetup": ("paperSize", "scale", "fitToWidth", "fitToHeight", "pageOrder", "orientation"),
}  # fmt: skip
"""What of a sheet passes beside its rows. Filters, links, validations, conditional formats, comments and drawings can quote cells."""

_AROUND_A_ROW = ["worksheet", "sheetData", "row"]
_ROW = ("outlineLevel", "collapsed")
"""Of a row neither its height, which follows how long texts are, nor whether it is hidden, which may follow a filter on them."""
_FORMULA = ("t", "ref", "si", "aca", "ca", "bx", "dt2D", "dtr", "del1", "del2", "r1", "r2")
_KINDS = ("b", "d", "e", "n", "str")
_CELL = re.compile(r"([A-Z]{1,3})[0-9]{1,7}")
_AREA = re.compile(r"\$?([A-Z]{1,3})\$?([0-9]{1,7})(?::\$?([A-Z]{1,3})\$?([0-9]{1,7}))?")
_AREAS = re.compile(rf"{_AREA.pattern}(?: {_AREA.pattern})*")
_REFERENCES = ("ref", "sqref", "topLeftCell", "activeCell", "r1", "r2")
_VALUE = re.compile(
    r"-?[0-9.]{1,24}(?:E[+-]?[0-9]{1,3})?|[0-9A-Fa-f]{8}|true|false|frozen|frozenSplit|split|(?:top|bottom)(?:Left|Right)|portrait|landscape|"
    r"downThenOver|overThenDown|shared|array|dataTable|normal|default"
)
_ESCAPE = re.compile(r"_x((?![Dd][89A-Fa-f])[0-9A-Fa-f]{4})_")
_NUMBER = re.compile(r"[0-9]{1,9}")
_LAST_COLUMN, _LAST_ROW = 16_384, 1_048_576


class Xlsx:
    """A workbook of Excel, of which one sheet holds private text."""

    def __init__(self, archive: Archive, sheet: str | None) -> None:
        """Find the sheet, the first one unless another is named, and read the texts that cells share.

        :raises RecordError: if it is no workbook, or holds what keeps copies of cells.
        :raises InvalidParameter: if there is no such sheet.
        """
        self._archive, self._parts = archive, find_parts(archive)
        names = [each.name for each in self._parts.sheets]
        self._place = choose_sheet(names, sheet, archive.name)
        self.sheet, self.others = names[self._place], [name for i, name in enumerate(names) if i != self._place]
        tables = [part for each in self._parts.sheets for kind, part in relations(archive, each.part).values() if kind == "table"]
        check_once(archive, [each.part for each in self._parts.sheets], tables, [self._parts.shared or "", self._parts.styles or " "])
        self._shared = SharedTexts(archive, self._parts.shared)
        self._styles = Styles(archive, self._parts.styles)
        self._results = Results()
        self._read = 0

    def position(self) -> int:
        """Return how many bytes of the sheet were read."""
        return self._read

    def size(self) -> int:
        """Return how many bytes the sheet has."""
        return self._archive.sizes.get(self._parts.sheets[self._place].part, 0)

    def rows(self) -> Iterator[SheetRow]:
        """Yield the rows of the sheet that hold anything.

        :raises RecordError: if the sheet is damaged.
        """
        for found in self._walk(self._parts.sheets[self._place].part):
            if isinstance(found, SheetRow) and found.holds_anything:
                yield found

    def write(self, file: BinaryIO, release: Release, *, header: int | None, private: list[int]) -> None:
        """Write the workbook anew, each row of the sheet with its released texts."""
        self._shared.start_over()
        self._styles.start_over()
        parts, tables = self._parts, dict[int, int]()
        with ArchiveWriter(file) as target:
            for place, sheet in enumerate(parts.sheets):
                chosen = place == self._place
                kept = self._tables(sheet.part, header if chosen else None, all_of_them=not chosen)
                first, tables[place] = sum(tables.values()) + 1, len(kept)
                with target.open(f"xl/worksheets/sheet{place + 1}.xml") as sink:
                    columns = _Private(columns=private if chosen else [], header=header)
                    self._write_sheet(XmlWriter(sink), sheet.part, release if chosen else None, columns, tables=len(kept))
                related = []
                for number, part in enumerate(kept, first):
                    related.append(("table", f"../tables/table{number}.xml"))
                    with target.open(f"xl/tables/table{number}.xml") as sink:
                        writer = XmlWriter(sink)
                        copy_table(read_xml(self._archive.chunks(part), self._archive.name, part), writer)
                        writer.close()
                if related:
                    write_relations(target, f"xl/worksheets/_rels/sheet{place + 1}.xml.rels", related)
            with target.open("xl/sharedStrings.xml") as sink:
                self._shared.write(sink)
            if parts.styles is not None:
                with target.open("xl/styles.xml") as sink:
                    self._styles.write(sink)
            write_book(target, parts, tables=tables)

    def _tables(self, sheet: str, header: int | None, *, all_of_them: bool) -> list[str]:
        """Return the tables of a sheet that pass: where one names its columns, the names are those of the row that holds them."""
        kept = []
        for kind, part in relations(self._archive, sheet).values():
            if kind != "table" or part not in self._archive.sizes:
                continue
            events = read_xml(self._archive.chunks(part), self._archive.name, part)
            about = root_of(events, "table", self._archive, part)
            starts = _AREA.fullmatch(about.get("ref", ""))
            if starts is None or about.get("headerRowCount", "1") != "1" or about.get("totalsRowCount", "0") != "0":
                continue
            named = [
                _plain(event.attributes.get("name")) for event in events if event.kind == "start" and main_name(event.name) == "tableColumn"
            ]
            if (all_of_them or starts[2] == str(header)) and named == self._texts(sheet, starts, len(named)):
                kept.append(part)
        return kept

    def _texts(self, part: str, area: re.Match[str], count: int) -> list[str | None]:
        """Return the texts in the first row of an area."""
        for found in self._walk(part):
            if isinstance(found, SheetRow) and found.number >= int(area[2]):
                texts, first = found.texts() if found.number == int(area[2]) else [], _number_of(area[1]) - 1
                return [*texts[first : first + count]]
        return []

    def _walk(self, part: str) -> Iterator[Event | SheetRow]:
        """Yield what stands in a sheet: its rows, and the events of all else."""
        events = read_xml(self._counted(part), self._archive.name, part)
        self._results, number = Results(), 0
        around: list[str] = []
        for event in events:
            if event.kind == "start":
                around.append(main_name(event.name))
            elif event.kind == "end":
                around.pop()
            if event.kind == "start" and around[-1] == "row":
                if around != _AROUND_A_ROW:
                    self._archive.refuse(f"the part {part} has a row where none belongs; the file is damaged")
                around.pop()
                row = self._row(event.attributes, events, number + 1)
                number = row.number
                yield row
            else:
                yield event

    def _counted(self, part: str) -> Iterator[bytes]:
        self._read = 0
        for chunk in self._archive.chunks(part):
            self._read += len(chunk)
            yield chunk

    def _row(self, about: Attributes, events: Iterator[Event], expected: int) -> SheetRow:
        number = about.get("r", str(expected))
        if not _NUMBER.fullmatch(number) or not expected <= int(number) <= _LAST_ROW:
            self._archive.refuse(f"sheet {self.sheet!r}: a row after row {expected - 1:,} has a wrong number; the file is damaged")
        cells: list[Cell] = []
        for event in children(events):
            if main_name(event.name) == "c":
                cells.append(self._cell(event.attributes, events, cells[-1].column + 1 if cells else 1, int(number)))
            else:
                skip_element(events)
        style = about.get("s") if about.get("customFormat") in ("1", "true") else None
        return SheetRow(number=int(number), cells=cells, written=f'r="{number}"{write_attributes(_plain_values(about), _ROW)}', style=style)

    def _cell(self, about: Attributes, events: Iterator[Event], expected: int, row: int) -> Cell:
        value: str | None = None
        inline: tuple[str, str] | None = None
        formula: str | None = None
        for event in children(events):
            name = main_name(event.name)
            if name == "v":
                value = text_until_end(events)
            elif name == "is":
                inline = rich_text(events)
            elif name == "f":
                self._note_results(event.attributes, self._column(about.get("r"), expected, row), row)
                said = write_attributes(_plain_values(event.attributes), _FORMULA)
                formula = f"<f{said}>{escape_text(text_until_end(events))}</f>"
            else:
                skip_element(events)
        column = self._column(about.get("r"), expected, row)
        if formula is None and self._results.hold(row, column):
            formula = ""
        return self._made(about, value, inline, formula, column, row)

    def _note_results(self, about: Attributes, column: int, row: int) -> None:
        if about.get("t") not in ("array", "dataTable"):
            return
        area = _AREA.fullmatch(about.get("ref", ""))
        if area is None or (int(area[2]), _number_of(area[1])) != (row, column):
            self._archive.refuse(f"sheet {self.sheet!r}, row {row:,}: a formula fills cells that begin elsewhere; type it in again")
        self._results.add(row, column, int(area[4] or area[2]), _number_of(area[3] or area[1]))

    def _made(
        self, about: Attributes, value: str | None, inline: tuple[str, str] | None, formula: str | None, column: int, row: int
    ) -> Cell:
        style, kind = about.get("s"), about.get("t", "n")
        if formula is not None:
            return Cell(column=column, text=_plain(value), formula=True, written=formula, style=style)
        if kind == "inlineStr":
            text, written = inline or ("", "")
            return Cell(column=column, text=_plain(text), written=f' t="inlineStr"><is>{written}</is>', style=style)
        if value is None:
            return Cell(column=column, text=None, style=style)
        if kind == "s":
            if not _NUMBER.fullmatch(value.strip()) or int(value) >= len(self._shared):
                self._archive.refuse(f"sheet {self.sheet!r}, row {row:,}: a cell has a text that is not there; the file is damaged")
            return Cell(column=column, text=_plain(self._shared.text(int(value))), style=style, shared=int(value))
        if kind not in _KINDS:
            self._archive.refuse(f"sheet {self.sheet!r}, row {row:,}: a cell is of a kind that spreadsheets do not have")
        text = {"0": "FALSE", "1": "TRUE"}.get(value, value) if kind == "b" else value
        date = kind == "n" and self._styles.shows_dates(style)
        return Cell(column=column, text=_plain(text), written=f' t="{kind}"><v>{escape_text(value)}</v>', style=style, date=date)

    def _column(self, reference: str | None, expected: int, row: int) -> int:
        if reference is None:
            return expected
        found = _CELL.fullmatch(reference)
        column = _number_of(found[1]) if found else 0
        if not expected <= column <= _LAST_COLUMN:
            self._archive.refuse(f"sheet {self.sheet!r}, row {row:,}: a cell stands in no column, or not in its turn; the file is damaged")
        return column

    def _write_sheet(self, writer: XmlWriter, part: str, release: Release | None, private: _Private, *, tables: int) -> None:
        events = self._walk(part)
        inner = (event for event in events if not isinstance(event, SheetRow))
        root_of(inner, "worksheet", self._archive, part)
        writer.start("worksheet", {"xmlns": MAIN, "xmlns:r": OFFICE})
        for found in events:
            if isinstance(found, SheetRow):
                self._write_row(writer, found, release(found) if release is not None and found.holds_anything else {}, private)
                continue
            name = main_name(found.name) if found.kind != "text" else ""
            if found.kind == "start" and name == "cols":
                writer.raw(f"<cols>{listed}</cols>" if (listed := self._columns(inner, private.columns)) else "")
            elif found.kind == "start" and name not in _SHEET:
                skip_element(inner)
            elif found.kind == "start":
                self._check_references(found.attributes)
                writer.raw(f"<{name}{write_attributes(_plain_values(found.attributes), _SHEET[name])}>")
            elif found.kind == "end":
                if name == "worksheet" and tables:
                    listed = "".join(f'<tablePart r:id="rId{number}"/>' for number in range(1, tables + 1))
                    writer.raw(f'<tableParts count="{tables}">{listed}</tableParts>')
                writer.end(name)
        writer.close()

    def _check_references(self, about: Attributes) -> None:
        for key in _REFERENCES:
            if key in about and not _AREAS.fullmatch(about[key]):
                self._archive.refuse("refers to cells in a way that cannot be read; the file is damaged")

    def _columns(self, events: Iterator[Event], private: list[int]) -> str:
        """Return how columns look. Of private ones nothing is left that follows what stands in them, nor whether they look as others do."""
        written = []
        for event in children(events):
            about = _plain_values(event.attributes)
            skip_element(events)
            first, last = (int(about.get(key, "0")) if _NUMBER.fullmatch(about.get(key, "0")) else 0 for key in ("min", "max"))
            if main_name(event.name) != "col" or not 1 <= first <= last <= _LAST_COLUMN:
                continue
            said = write_attributes(about, ("hidden", "outlineLevel", "collapsed"))
            inside = sorted(column for column in set(private) if first <= column <= last)
            public = len(inside) <= last - first
            look = f' style="{self._styles.place_of(about["style"])}"' if public and "style" in about else ""
            if "width" in about and about.get("bestFit") not in ("1", "true"):
                look += f' width="{about["width"]}" customWidth="1"'
            for before, column in zip([first - 1, *inside], [*inside, last + 1], strict=True):
                if before in inside and said:
                    written.append(f'<col min="{before}" max="{before}"{said}/>')
                if before + 1 < column and (said or look):
                    written.append(f'<col min="{before + 1}" max="{column - 1}"{said}{look}/>')
        return "".join(written)

    def _write_row(self, writer: XmlWriter, row: SheetRow, released: dict[int, str], private: _Private) -> None:
        # Excel chooses how a cell looks by what is typed into it (a date, a link, a line break), and that stays when the text is deleted.
        hidden = private.columns if row.number != private.header else []
        cells = [
            (place, cell) for place, cell in enumerate(row.cells) if cell.text is not None or cell.formula or cell.column not in hidden
        ]
        look = "" if row.style is None else f' s="{self._styles.place_of(row.style)}" customFormat="1"'
        if not cells and not look and row.written == f'r="{row.number}"':
            return
        writer.raw(f"<row {row.written}{look}>")
        for place, cell in cells:
            style = "" if cell.style is None or cell.column in hidden else f' s="{self._styles.place_of(cell.style)}"'
            writer.raw(f'<c r="{column_name(cell.column)}{row.number}"{style}')
            if place in released:
                text = _ESCAPE.sub(r"_x005F_x\1_", NOT_IN_XML.sub("", released[place]))
                writer.raw(f' t="inlineStr"><is><t xml:space="preserve">{escape_text(text)}</t></is></c>')
            elif cell.shared is not None:
                writer.raw(f' t="s"><v>{self._shared.place_of(cell.shared)}</v></c>')
            elif cell.formula:
                writer.raw(f">{cell.written}</c>")
            else:
                writer.raw(f"{cell.written or '>'}</c>")
        writer.raw("</row>")


@dataclass(frozen=True, kw_only=True)
class _Private:
    """The columns of a sheet that hold private text, from 1, and the row that names them."""

    columns: list[int]
    header: int | None


def _plain_values(about: Attributes) -> Attributes:
    """Return the attributes that are references to cells, numbers or words of the format, and nothing that could be the text of a cell."""
    return {key: value for key, value in about.items() if (_AREAS if key in _REFERENCES else _VALUE).fullmatch(value)}


def _plain(text: str | None) -> str | None:
    """Return the text that people see, in which characters that XML cannot hold are not escaped."""
    return None if text is None else _ESCAPE.sub(lambda found: chr(int(found[1], 16)), text)


def _number_of(letters: str) -> int:
    column = 0
    for letter in letters:
        column = 26 * column + ord(letter) - 64
    return column


def column_name(column: int) -> str:
    """Return the letters of a column, counted from 1."""
    letters = ""
    while column:
        column, last = divmod(column - 1, 26)
        letters = chr(65 + last) + letters
    return letters
