"""Workbooks of Excel (.xlsx): where their rows stand, and how they are written with released texts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO

from deniable.records.formats.spreadsheets.archive import Archive, ArchiveWriter
from deniable.records.formats.spreadsheets.cells import Cell, Release, Results, SheetRow, choose_sheet
from deniable.records.formats.spreadsheets.xlsx_parts import (
    MAIN,
    OFFICE,
    TABLE,
    SharedTexts,
    copy_listed,
    find_parts,
    main_name,
    relations,
    rich_text,
    write_book,
    write_relations,
)
from deniable.records.formats.spreadsheets.xml import (
    NOT_IN_XML,
    Attributes,
    Event,
    XmlWriter,
    children,
    escape_attribute,
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
    "dimension": ("ref",),
    "sheetViews": (),
    "sheetView": ("showFormulas", "showGridLines", "showRowColHeaders", "showZeros", "rightToLeft", "tabSelected", "zoomScale",
                  "zoomScaleNormal", "workbookViewId"),
    "pane": ("xSplit", "ySplit", "topLeftCell", "activePane", "state"),
    "selection": ("pane", "activeCell", "activeCellId", "sqref"),
    "sheetFormatPr": ("baseColWidth", "defaultColWidth", "defaultRowHeight", "outlineLevelRow", "outlineLevelCol"),
    "cols": (),
    "col": ("min", "max", "style", "hidden", "outlineLevel", "collapsed"),
    "mergeCells": (),
    "mergeCell": ("ref",),
    "printOptions": ("horizontalCentered", "verticalCentered", "headings", "gridLines"),
    "pageMargins": ("left", "right", "top", "bottom", "header", "footer"),
    "pageSetup": ("paperSize", "scale", "fitToWidth", "fitToHeight", "pageOrder", "orientation"),
}  # fmt: skip
"""What of a sheet passes beside its rows. Filters, links, validations, conditional formats, comments and drawings can quote cells."""

_AROUND_A_ROW = ["worksheet", "sheetData", "row"]
_ROW = ("s", "customFormat", "outlineLevel", "collapsed")
"""Of a row neither its height, which follows how long texts are, nor whether it is hidden, which may follow a filter on them."""
_FORMULA = ("t", "ref", "si", "aca", "ca", "bx", "dt2D", "dtr", "del1", "del2", "r1", "r2")
_KINDS = ("b", "d", "e", "n", "str")
_CELL = re.compile(r"([A-Z]{1,3})[0-9]{1,7}")
_AREA = re.compile(r"[A-Z]{1,3}[0-9]{1,7}:([A-Z]{1,3})([0-9]{1,7})")
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
        for each in self._parts.sheets:
            relations(archive, each.part)  # says what cannot be read before anything is
        self._shared = SharedTexts(archive, self._parts.shared)
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
        parts, tables = self._parts, dict[int, int]()
        with ArchiveWriter(file) as target:
            for place, sheet in enumerate(parts.sheets):
                chosen = place == self._place
                kept = self._tables(sheet.part, header if chosen else None, all_of_them=not chosen)
                first, tables[place] = sum(tables.values()) + 1, len(kept)
                with target.open(f"xl/worksheets/sheet{place + 1}.xml") as sink:
                    self._write_sheet(XmlWriter(sink), sheet.part, release if chosen else None, private if chosen else [], tables=len(kept))
                related = []
                for number, part in enumerate(kept, first):
                    related.append(("table", f"../tables/table{number}.xml"))
                    with target.open(f"xl/tables/table{number}.xml") as sink:
                        writer = XmlWriter(sink)
                        copy_listed(read_xml(self._archive.chunks(part), self._archive.name, part), writer, TABLE)
                        writer.close()
                if related:
                    write_relations(target, f"xl/worksheets/_rels/sheet{place + 1}.xml.rels", related)
            with target.open("xl/sharedStrings.xml") as sink:
                self._shared.write(sink)
            if parts.styles is not None:
                with target.open("xl/styles.xml") as sink:
                    writer = XmlWriter(sink)
                    copy_listed(read_xml(self._archive.chunks(parts.styles), self._archive.name, parts.styles), writer, None)
                    writer.close()
            if parts.theme is not None:
                target.add("xl/theme/theme1.xml", self._archive.read(parts.theme))
            write_book(target, parts, tables=tables)

    def _tables(self, sheet: str, header: int | None, *, all_of_them: bool) -> list[str]:
        """Return the tables of a sheet that pass: where one names its columns, the names are those of the row that holds them."""
        kept = []
        for kind, part in relations(self._archive, sheet).values():
            if kind != "table" or part not in self._archive.sizes:
                continue
            about = next(iter(read_xml(self._archive.chunks(part), self._archive.name, part))).attributes
            starts = re.match(r"[A-Z]+([0-9]+):", about.get("ref", ""))
            named = starts is not None and header is not None and starts[1] == str(header) and about.get("headerRowCount", "1") == "1"
            if (all_of_them or named) and about.get("totalsRowCount", "0") == "0":
                kept.append(part)
        return kept

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
        said = write_attributes(about, _ROW)
        return SheetRow(number=int(number), cells=cells, written=f'<row r="{number}"{said}>')

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
                said = write_attributes(event.attributes, _FORMULA)
                formula = f"<f{said}>{escape_text(text_until_end(events))}</f>"
            else:
                skip_element(events)
        column = self._column(about.get("r"), expected, row)
        if formula is None and self._results.hold(row, column):
            formula = ""
        return self._made(about, value, inline, formula, column, row)

    def _note_results(self, about: Attributes, column: int, row: int) -> None:
        area = _AREA.fullmatch(about.get("ref", ""))
        if about.get("t") in ("array", "dataTable") and area is not None:
            self._results.add(row, column, int(area[2]), _number_of(area[1]))

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
        return Cell(column=column, text=_plain(text), written=f' t="{kind}"><v>{escape_text(value)}</v>', style=style)

    def _column(self, reference: str | None, expected: int, row: int) -> int:
        if reference is None:
            return expected
        found = _CELL.fullmatch(reference)
        column = _number_of(found[1]) if found else 0
        if not expected <= column <= _LAST_COLUMN:
            self._archive.refuse(f"sheet {self.sheet!r}, row {row:,}: a cell stands in no column, or not in its turn; the file is damaged")
        return column

    def _write_sheet(self, writer: XmlWriter, part: str, release: Release | None, private: list[int], *, tables: int) -> None:
        dropped = 0
        for found in self._walk(part):
            if isinstance(found, SheetRow):
                self._write_row(writer, found, release(found) if release is not None and found.holds_anything else {})
                continue
            name = main_name(found.name) if found.kind != "text" else ""
            if found.kind == "text":
                continue
            if dropped or (found.kind == "start" and name not in _SHEET and name != "sheetData"):
                dropped += 1 if found.kind == "start" else -1
            elif found.kind == "start":
                writer.start(name, self._attributes(name, found.attributes, private))
            else:
                if name == "worksheet" and tables:
                    listed = "".join(f'<tablePart r:id="rId{number}"/>' for number in range(1, tables + 1))
                    writer.raw(f'<tableParts count="{tables}">{listed}</tableParts>')
                writer.end(name)
        writer.close()

    @staticmethod
    def _attributes(name: str, about: Attributes, private: list[int]) -> Attributes:
        kept = {key: about[key] for key in _SHEET.get(name, ()) if key in about}
        if name == "worksheet":
            return {"xmlns": MAIN, "xmlns:r": OFFICE}
        if name == "col" and "width" in about and about.get("bestFit") not in ("1", "true"):
            first, last = (int(about.get(key, "0")) if _NUMBER.fullmatch(about.get(key, "0")) else 0 for key in ("min", "max"))
            if not any(first <= column <= last for column in private):  # a width follows how long texts are
                kept |= {"width": about["width"], "customWidth": "1"}
        return kept

    def _write_row(self, writer: XmlWriter, row: SheetRow, released: dict[int, str]) -> None:
        writer.raw(row.written)
        for place, cell in enumerate(row.cells):
            # Excel chooses how a cell looks by what is typed into it: a date, a link, a line break.
            style = "" if cell.style is None or place in released else f' s="{escape_attribute(cell.style)}"'
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
