"""The small parts of an .xlsx file: which there are, and what of them may pass."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from deniable.records.formats.spreadsheets.archive import Archive, ArchiveWriter
from deniable.records.formats.spreadsheets.xml import (
    Attributes,
    Event,
    XmlWriter,
    children,
    escape_attribute,
    escape_text,
    local_name,
    read_xml,
    skip_element,
    text_until_end,
)

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_MAINS = (f"{MAIN} ", "http://purl.oclc.org/ooxml/spreadsheetml/main ")
_OFFICES = (f"{OFFICE} ", "http://purl.oclc.org/ooxml/officeDocument/relationships ")
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_TYPES = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_REFUSED = {
    "externalLink": "links to other workbooks and keeps copies of their cells; break the links first (Data, Edit Links)",
    "pivotCacheDefinition": "holds a pivot table, which keeps copies of cells; delete it first, or save the sheet as CSV",
    "pivotTable": "holds a pivot table, which keeps copies of cells; delete it first, or save the sheet as CSV",
    "chartsheet": "holds a sheet that is a chart; delete it first, or save the sheet with the texts as CSV",
    "dialogsheet": "holds a sheet that is a dialogue; delete it first, or save the sheet with the texts as CSV",
    "xlMacrosheet": "holds a sheet of macros; delete it first, or save the sheet with the texts as CSV",
}
_NUMBER = re.compile(r"[0-9]{1,6}")
_MOST_TEXTS = 2_000_000
"""An empty one takes a hundred times as much memory as room in the file."""
_COLUMN, _LINE = r"\$?[A-Z]{1,3}", r"\$?[0-9]{1,7}"
_OF_A_SHEET = re.compile(r"(?:'((?:[^']|'')+)'|([^\s'!,()\"]+))!")
_RANGE = rf"{_OF_A_SHEET.pattern}(?:{_COLUMN}{_LINE}(?::{_COLUMN}{_LINE})?|{_COLUMN}:{_COLUMN}|{_LINE}:{_LINE})"
_RANGES = re.compile(rf"{_RANGE}(?:,{_RANGE})*")


def main_name(name: str) -> str:
    """Return the name of an element of the main namespace, and nothing for any other."""
    return local_name(name) if name.startswith(_MAINS) else ""


@dataclass(frozen=True, kw_only=True)
class Sheet:
    """A sheet by its name, where it lies, and whether it is hidden."""

    name: str
    part: str
    state: str


@dataclass(frozen=True, kw_only=True)
class Parts:
    """Where the parts lie that a workbook is made of."""

    sheets: list[Sheet]
    shared: str | None
    styles: str | None
    from_1904: bool
    active: str | None
    names: list[tuple[str, str | None, str]]
    """What is printed of a sheet: the name, the number of the sheet it belongs to, and what it stands for."""


def relations(archive: Archive, part: str) -> dict[str, tuple[str, str]]:
    """Return the kind and the part of everything that a part refers to inside the file, by its id.

    :raises RecordError: if it refers to what keeps copies of cells.
    """
    folder, name = posixpath.split(part)
    where, found = posixpath.join(folder, "_rels", f"{name}.rels"), {}
    if where not in archive.sizes:
        return {}
    for event in read_xml(archive.chunks(where), archive.name, where):
        if event.kind == "start" and local_name(event.name) == "Relationship":
            about = event.attributes
            kind = about.get("Type", "").rpartition("/")[2]
            if kind in _REFUSED:
                archive.refuse(_REFUSED[kind])
            if about.get("TargetMode") != "External":
                target = posixpath.normpath(posixpath.join("/", folder, about.get("Target", ""))).lstrip("/")
                found[about.get("Id", "")] = (kind, target)
    return found


def find_parts(archive: Archive) -> Parts:
    """Return where everything lies.

    :raises RecordError: if it is no workbook, or holds what keeps copies of cells.
    """
    book = next((part for kind, part in relations(archive, "").values() if kind == "officeDocument"), None)
    if book is None or book not in archive.sizes:
        archive.refuse("is not an .xlsx workbook, or a damaged one")
    related = relations(archive, book)
    kinds = {kind: part for kind, part in related.values() if part in archive.sizes}
    sheets, names = [], []
    from_1904, active = False, None
    events = read_xml(archive.chunks(book), archive.name, book)
    root_of(events, "workbook", archive, book)
    for event in events:
        about, element = event.attributes, main_name(event.name)
        if event.kind != "start":
            continue
        if element == "sheet":
            kind, part = related.get(next((about[f"{each}id"] for each in _OFFICES if f"{each}id" in about), ""), ("", ""))
            if kind != "worksheet":
                archive.refuse("has a sheet that is not there; the file is damaged")
            sheets.append(Sheet(name=about.get("name", ""), part=part, state=about.get("state", "")))
        elif element == "workbookPr":
            from_1904 = about.get("date1904") in ("1", "true")
        elif element == "workbookView":
            active = about.get("activeTab")
        elif element == "definedName":
            names.append((about.get("name", ""), about.get("localSheetId"), text_until_end(events)))
    if not sheets:
        archive.refuse("has no sheet")
    check_once(archive, [each.part for each in sheets], [kinds[kind] for kind in ("sharedStrings", "styles") if kind in kinds])
    return Parts(
        sheets=sheets,
        shared=kinds.get("sharedStrings"),
        styles=kinds.get("styles"),
        from_1904=from_1904,
        active=active if active is not None and _NUMBER.fullmatch(active) else None,
        names=[each for each in names if _is_printed(*each, [sheet.name for sheet in sheets])],
    )


def root_of(events: Iterator[Event], name: str, archive: Archive, part: str) -> Attributes:
    """Read the start of a part, and return what it says.

    :raises RecordError: if it is a part of another kind, which might hold texts of cells.
    """
    root = next(events, None)
    if root is None or main_name(root.name) != name:
        archive.refuse(f"the part {part} is of another kind than the workbook says; the file is damaged")
    return root.attributes


def check_once(archive: Archive, *parts: list[str]) -> None:
    """Check that no part is there for two things: it would be released as the one, and pass as the other.

    :raises RecordError: if one is.
    """
    listed = [part for some in parts for part in some]
    if len(set(listed)) < len(listed):
        archive.refuse("has one part for two things, such as two sheets; the file is damaged")


def _is_printed(name: str, sheet: str | None, meaning: str, sheets: list[str]) -> bool:
    """Return whether a name says what of a sheet is printed. Any other could be that of a cell ("Create from Selection"), or quote one."""
    if name not in ("_xlnm.Print_Area", "_xlnm.Print_Titles") or sheet is None or not _NUMBER.fullmatch(sheet) or int(sheet) >= len(sheets):
        return False
    listed = _RANGES.fullmatch(meaning)
    return listed is not None and {(one or other).replace("''", "'") for one, other in _OF_A_SHEET.findall(meaning)} == {sheets[int(sheet)]}


def rich_text(events: Iterator[Event]) -> tuple[str, str]:
    """Return the text of a cell that has begun, and it as it is written again, with fonts and readings."""
    texts, written, depth, reading = [], [], 1, 0
    for event in events:
        name = main_name(event.name) if event.kind != "text" else ""
        if event.kind == "start":
            if not name:
                skip_element(events)
                continue
            depth, reading = depth + 1, reading + (name == "rPh")
            keep = ' xml:space="preserve"' if name == "t" else ""
            said = "".join(f' {key}="{escape_attribute(value)}"' for key, value in event.attributes.items() if " " not in key)
            written.append(f"<{name}{said}{keep}>")
        elif event.kind == "end":
            depth, reading = depth - 1, reading - (name == "rPh")
            if not depth:
                break
            written.append(f"</{name}>")
        else:
            written.append(escape_text(event.name))
            if not reading:
                texts.append(event.name)
    return "".join(texts), "".join(written)


class SharedTexts:
    """The texts that cells share, as they are read; and those that are written, in the order in which passing cells come to them."""

    def __init__(self, archive: Archive, part: str | None) -> None:
        self._texts: list[str] = []
        self._written: dict[int, str] = {}
        self._places: dict[str, int] = {}
        self._uses = 0
        if part is not None:
            self._read(archive, part)

    def _read(self, archive: Archive, part: str) -> None:
        events = read_xml(archive.chunks(part), archive.name, part)
        root_of(events, "sst", archive, part)
        for event in children(events):
            if main_name(event.name) != "si":
                skip_element(events)
                continue
            if len(self._texts) >= _MOST_TEXTS:
                archive.refuse(f"has more than {_MOST_TEXTS:,} different texts; save it as CSV first")
            text, written = rich_text(events)
            if written not in ("", _plain(text)):
                self._written[len(self._texts)] = written
            self._texts.append(text)

    def __len__(self) -> int:
        return len(self._texts)

    def text(self, place: int) -> str:
        """Return the text at a place."""
        return self._texts[place]

    def start_over(self) -> None:
        """Forget which texts are written."""
        self._places, self._uses = {}, 0

    def place_of(self, place: int) -> int:
        """Return where the text at a place stands among those that are written."""
        self._uses += 1
        return self._places.setdefault(self._written.get(place) or _plain(self._texts[place]), len(self._places))

    def write(self, file: BinaryIO) -> None:
        """Write the texts that passing cells have, and no others."""
        writer = XmlWriter(file)
        writer.start("sst", {"xmlns": MAIN, "count": str(self._uses), "uniqueCount": str(len(self._places))})
        for written in self._places:
            writer.raw(f"<si>{written}</si>")
        writer.end("sst")
        writer.close()


def _plain(text: str) -> str:
    return f'<t xml:space="preserve">{escape_text(text)}</t>'


TABLE: dict[str, tuple[str, ...]] = {
    "table": ("id", "name", "displayName", "ref", "headerRowCount", "totalsRowShown"),
    "autoFilter": ("ref",),
    "tableColumns": ("count",),
    "tableColumn": ("id", "name"),
    "tableStyleInfo": ("name", "showFirstColumn", "showLastColumn", "showRowStripes", "showColumnStripes"),
}
"""What of a table passes: nothing of what it is filtered or sorted by, and no formula but those of its cells."""
_OFFERED = re.compile(r"TableStyle(?:Light|Medium|Dark)[0-9]{1,2}")


def copy_table(events: Iterator[Event], writer: XmlWriter) -> None:
    """Write what of a table passes."""
    root = True
    for event in events:
        name = main_name(event.name) if event.kind != "text" else ""
        if event.kind == "end":
            writer.end(name)
        elif event.kind == "start" and (
            name not in TABLE or (name == "tableStyleInfo" and not _OFFERED.fullmatch(event.attributes.get("name", "")))
        ):
            skip_element(events)
        elif event.kind == "start":
            about = {key: event.attributes[key] for key in TABLE[name] if key in event.attributes}
            writer.start(name, {**({"xmlns": MAIN} if root else {}), **about})
            root = False


def write_book(target: ArchiveWriter, parts: Parts, *, tables: dict[int, int]) -> None:
    """Write what holds a workbook together: the list of its sheets, where everything lies, and of which kind it is.

    ``tables`` says how many tables each sheet has, by the place of the sheet.
    """
    overrides = {"xl/workbook.xml": "sheet.main", "xl/sharedStrings.xml": "sharedStrings"}
    related = [("sharedStrings", "sharedStrings.xml")]
    if parts.styles is not None:
        overrides["xl/styles.xml"] = "styles"
        related.append(("styles", "styles.xml"))
    for number in range(1, len(parts.sheets) + 1):
        overrides[f"xl/worksheets/sheet{number}.xml"] = "worksheet"
        related.append(("worksheet", f"worksheets/sheet{number}.xml"))
    for number in range(1, sum(tables.values()) + 1):
        overrides[f"xl/tables/table{number}.xml"] = "table"
    with target.open("[Content_Types].xml") as file:
        writer = XmlWriter(file)
        writer.start("Types", {"xmlns": f"{_PACKAGE}/content-types"})
        for ending, kind in (("rels", "application/vnd.openxmlformats-package.relationships+xml"), ("xml", "application/xml")):
            writer.element("Default", {"Extension": ending, "ContentType": kind})
        for part, kind in overrides.items():
            writer.element("Override", {"PartName": f"/{part}", "ContentType": f"{_TYPES}.{kind}+xml"})
        writer.end("Types")
        writer.close()
    write_relations(target, "_rels/.rels", [("officeDocument", "xl/workbook.xml")])
    write_relations(target, "xl/_rels/workbook.xml.rels", related)
    first = len(related) - len(parts.sheets) + 1
    with target.open("xl/workbook.xml") as file:
        writer = XmlWriter(file)
        writer.start("workbook", {"xmlns": MAIN, "xmlns:r": OFFICE})
        writer.element("workbookPr", {"date1904": "1"} if parts.from_1904 else {})
        writer.start("bookViews")
        writer.element("workbookView", {} if parts.active is None else {"activeTab": parts.active})
        writer.end("bookViews")
        writer.start("sheets")
        for number, sheet in enumerate(parts.sheets):
            hidden = {"state": sheet.state} if sheet.state in ("hidden", "veryHidden") else {}
            writer.element("sheet", {"name": sheet.name, "sheetId": str(number + 1), **hidden, "r:id": f"rId{first + number}"})
        writer.end("sheets")
        if parts.names:
            writer.start("definedNames")
            for name, local, meaning in parts.names:
                writer.element("definedName", {"name": name, **({} if local is None else {"localSheetId": local})}, meaning)
            writer.end("definedNames")
        writer.element("calcPr", {"fullCalcOnLoad": "1"})
        writer.end("workbook")
        writer.close()


def write_relations(target: ArchiveWriter, part: str, related: list[tuple[str, str]]) -> None:
    """Write what a part refers to, as rId1, rId2 and so on."""
    with target.open(part) as file:
        writer = XmlWriter(file)
        writer.start("Relationships", {"xmlns": f"{_PACKAGE}/relationships"})
        for number, (kind, where) in enumerate(related, 1):
            writer.element("Relationship", {"Id": f"rId{number}", "Type": f"{OFFICE}/{kind}", "Target": where})
        writer.end("Relationships")
        writer.close()
