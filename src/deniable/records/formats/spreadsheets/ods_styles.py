"""How numbers and dates look in an .ods file: written anew from what passing cells use, in the order in which they come to it.

Fonts, colours and borders are left out: in these files they stand in styles that cells share, private ones or not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from deniable.records.formats.spreadsheets.archive import Archive, ArchiveWriter
from deniable.records.formats.spreadsheets.ods_parts import copy_element, odf_attributes, odf_name, root_attributes
from deniable.records.formats.spreadsheets.xml import Event, XmlWriter, read_xml, skip_element

PART = "styles.xml"
_LISTS = ("office:document-styles", "office:document-content", "office:styles", "office:automatic-styles")
_UNNAMED = "@"
_MOST = 100_000
_DEEPEST = 20


class Styles:
    """Formats of numbers by the styles of cells that have them."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self._formats: dict[str, str] = {}
        self._styles: dict[str, tuple[str, str]] = {}
        self._used: dict[str, int] = {}
        if PART in archive.sizes:
            events = read_xml(archive.chunks(PART), archive.name, PART)
            for event in events:
                if event.kind == "start" and odf_name(event.name) not in _LISTS:
                    self.read(event, events)

    def read(self, event: Event, events: Iterator[Event]) -> None:
        """Read an element that has begun to its end, and remember it if it is a style.

        :raises RecordError: if there are far too many.
        """
        name, about = odf_name(event.name), odf_attributes(event.attributes)
        own = about.get("style:name", "")
        if name.startswith("number:"):
            self._formats[own] = copy_element(events, name, {"style:name": _UNNAMED, **_without_name(about)})
        else:
            skip_element(events)
            if name == "style:style" and about.get("style:family") == "table-cell":
                self._styles[own] = (about.get("style:data-style-name", ""), about.get("style:parent-style-name", ""))
        if len(self._styles) + len(self._formats) > _MOST:
            self._archive.refuse(f"has more than {_MOST:,} styles; save the sheet as CSV first")

    def place_of(self, style: str | None) -> str:
        """Return the name under which the format of a style is written, and nothing if it has none."""
        for _ in range(_DEEPEST):
            found, parent = self._styles.get(style or "", ("", ""))
            if found in self._formats:
                return f"ce{self._used.setdefault(self._formats[found], len(self._used) + 1)}"
            style = parent
        return ""

    def write(self, target: ArchiveWriter) -> None:
        """Write the formats that passing cells have, and no others."""
        with target.open(PART) as file:
            writer = XmlWriter(file)
            writer.start("office:document-styles", root_attributes())
            writer.start("office:styles")
            for written, number in self._used.items():
                writer.raw(written.replace(f'style:name="{_UNNAMED}"', f'style:name="N{number}"', 1))
                about = {"style:name": f"ce{number}", "style:family": "table-cell", "style:data-style-name": f"N{number}"}
                writer.element("style:style", about)
            writer.end("office:styles")
            writer.end("office:document-styles")
            writer.close()


def _without_name(about: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in about.items() if key.startswith("number:") and key != "number:title"}
