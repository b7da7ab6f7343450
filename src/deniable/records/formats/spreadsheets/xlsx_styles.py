"""How cells of an .xlsx file look: written anew from what passing cells use, in the order in which they come to it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from deniable.records.formats.spreadsheets.archive import Archive
from deniable.records.formats.spreadsheets.xlsx_parts import MAIN, main_name, root_of
from deniable.records.formats.spreadsheets.xml import Attributes, Event, XmlWriter, children, escape_attribute, read_xml, skip_element

_LISTS = ("fonts", "fills", "borders")
_ELEMENTS = {
    *("font", "b", "i", "strike", "condense", "extend", "outline", "shadow", "u", "vertAlign", "sz", "color", "name", "family"),
    *("charset", "scheme", "fill", "patternFill", "fgColor", "bgColor", "gradientFill", "stop", "alignment", "protection"),
    *("border", "left", "right", "top", "bottom", "start", "end", "diagonal", "vertical", "horizontal"),
}
_VALUE = re.compile(r"[\w .,#%+-]{0,100}")
_NUMBER = re.compile(r"[0-9]{1,6}")
_OWN_FORMATS = 164
_DATES = {*range(14, 18), 22, *range(27, 37), *range(50, 59)}
"""The formats of dates that every program has, those of East Asia among them."""
_NOT_A_DATE = re.compile(r'"[^"]*"|\\.|_.|\*.|\[[^\]]*\]')
"""What of a format is shown as it is, or is a colour, a language or a condition."""
_MOST = 100_000
_FILLS = ('<fill><patternFill patternType="none"/></fill>', '<fill><patternFill patternType="gray125"/></fill>')
"""Every program takes the first two for these, whatever stands there."""
_NO_BORDER = "<border><left/><right/><top/><bottom/><diagonal/></border>"
_FONT = '<font><sz val="11"/><name val="Calibri"/></font>'


@dataclass(frozen=True, kw_only=True, slots=True)
class _Look:
    """How cells look: the format of numbers by its code (by its number if every program has it), and all else as it is written."""

    code: str | None
    number: int
    font: str
    fill: str
    border: str
    more: str


class Styles:
    """How cells look, as it is read; and what is written of it. Nothing is left of a look that private cells alone have."""

    def __init__(self, archive: Archive, part: str | None) -> None:
        self._archive, self._part = archive, part
        self._codes: dict[str, str] = {}
        self._lists: dict[str, list[str]] = {kind: [] for kind in _LISTS}
        self._looks: list[_Look] = []
        if part is not None:
            self._read(part)
        self.start_over()

    def start_over(self) -> None:
        """Forget what is written."""
        self._written: dict[str, int] = {}
        self._formats: dict[str, int] = {}
        self._used: dict[str, dict[str, int]] = {"fonts": {}, "fills": dict(zip(_FILLS, range(2), strict=True)), "borders": {_NO_BORDER: 0}}
        self.place_of("0")

    def shows_dates(self, given: str | None) -> bool:
        """Return whether numbers that look so are shown as dates, with a day or a year in them."""
        look = self._find(given or "0")
        if look is None or look.code is None:
            return look is not None and look.number in _DATES
        return any(letter in _NOT_A_DATE.sub("", look.code).lower() for letter in "dy")

    def place_of(self, given: str) -> int:
        """Return the number under which a look is written; that of the first one if there is none."""
        look = self._find(given)
        if look is None:
            return 0
        number = look.number
        if look.code is not None:
            number = self._formats.setdefault(look.code, _OWN_FORMATS + len(self._formats))
        font, fill, border = (
            self._used[kind].setdefault(written, len(self._used[kind]))
            for kind, written in (("fonts", look.font), ("fills", look.fill), ("borders", look.border))
        )
        # Without these some programs take what the style of the workbook says.
        applied = "".join(
            f' apply{what}="1"'
            for what, said in (("NumberFormat", number), ("Font", font), ("Fill", fill), ("Border", border), ("Alignment", look.more))
            if said
        )
        whole = f'<xf numFmtId="{number}" fontId="{font}" fillId="{fill}" borderId="{border}" xfId="0"{applied}>{look.more}</xf>'
        return self._written.setdefault(whole, len(self._written))

    def write(self, file: BinaryIO) -> None:
        """Write the looks that passing cells have, and no others."""
        writer = XmlWriter(file)
        writer.start("styleSheet", {"xmlns": MAIN})
        if self._formats:
            writer.start("numFmts", {"count": str(len(self._formats))})
            for code, number in self._formats.items():
                writer.element("numFmt", {"numFmtId": str(number), "formatCode": code})
            writer.end("numFmts")
        for kind in _LISTS:
            self._write_list(writer, kind, list(self._used[kind]) or [_FONT])
        plain = '<xf numFmtId="0" fontId="0" fillId="0" borderId="0"/>'
        self._write_list(writer, "cellStyleXfs", [plain])
        self._write_list(writer, "cellXfs", list(self._written) or [plain])
        self._write_list(writer, "cellStyles", ['<cellStyle name="Normal" xfId="0" builtinId="0"/>'])
        writer.end("styleSheet")
        writer.close()

    @staticmethod
    def _write_list(writer: XmlWriter, name: str, written: list[str]) -> None:
        writer.start(name, {"count": str(len(written))})
        for each in written:
            writer.raw(each)
        writer.end(name)

    def _find(self, given: str) -> _Look | None:
        """Return a look by its number, the first one if no look has it; None if the workbook has none."""
        place = int(given) if _NUMBER.fullmatch(given) else 0
        return self._looks[place if place < len(self._looks) else 0] if self._looks else None

    def _read(self, part: str) -> None:
        events = read_xml(self._archive.chunks(part), self._archive.name, part)
        root_of(events, "styleSheet", self._archive, part)
        for event in children(events):
            name = main_name(event.name)
            if name not in (*_LISTS, "numFmts", "cellXfs"):
                skip_element(events)
                continue
            for count, inner in enumerate(children(events)):
                if count >= _MOST:
                    self._archive.refuse(f"the part {part} has more than {_MOST:,} {name}; save the sheet as CSV first")
                if name == "numFmts":
                    self._codes[inner.attributes.get("numFmtId", "")] = inner.attributes.get("formatCode", "General")
                    skip_element(events)
                elif name == "cellXfs":
                    self._looks.append(self._look(inner.attributes, "".join(self._inside(events))))
                else:
                    self._lists[name].append(self._copied(inner, events))

    def _look(self, about: Attributes, more: str) -> _Look:
        number = about.get("numFmtId", "0")
        return _Look(
            code=self._codes.get(number),
            number=int(number) if _NUMBER.fullmatch(number) and int(number) < _OWN_FORMATS else 0,
            font=self._listed("fonts", about.get("fontId"), _FONT),
            fill=self._listed("fills", about.get("fillId"), _FILLS[0]),
            border=self._listed("borders", about.get("borderId"), _NO_BORDER),
            more=more,
        )

    def _listed(self, kind: str, given: str | None, otherwise: str) -> str:
        place, there = int(given) if given is not None and _NUMBER.fullmatch(given) else 0, self._lists[kind]
        if kind == "fills" and place < len(_FILLS):
            return _FILLS[place]
        return there[place] if place < len(there) else otherwise

    def _copied(self, event: Event, events: Iterator[Event]) -> str:
        """Return an element that has begun as it is written again; nothing if it does not pass."""
        name = main_name(event.name)
        if name not in _ELEMENTS:
            skip_element(events)
            return ""
        said = "".join(
            f' {key}="{escape_attribute(value)}"' for key, value in event.attributes.items() if " " not in key and _VALUE.fullmatch(value)
        )
        return f"<{name}{said}>{''.join(self._inside(events))}</{name}>"

    def _inside(self, events: Iterator[Event]) -> Iterator[str]:
        for event in children(events):
            yield self._copied(event, events)
