"""The parts of an .ods file: which there are, and what of them may pass."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from deniable.records.formats.spreadsheets.archive import ArchiveWriter
from deniable.records.formats.spreadsheets.xml import Attributes, Event, XmlWriter, escape_text, skip_element, write_attributes

TYPE = "application/vnd.oasis.opendocument.spreadsheet"
_ODF = "urn:oasis:names:tc:opendocument:xmlns"
NAMESPACES = {
    "office": f"{_ODF}:office:1.0",
    "style": f"{_ODF}:style:1.0",
    "text": f"{_ODF}:text:1.0",
    "table": f"{_ODF}:table:1.0",
    "number": f"{_ODF}:datastyle:1.0",
    "fo": f"{_ODF}:xsl-fo-compatible:1.0",
    "svg": f"{_ODF}:svg-compatible:1.0",
    "xlink": "http://www.w3.org/1999/xlink",
    "of": f"{_ODF}:of:1.2",
    "oooc": "http://openoffice.org/2004/calc",
    "msoxl": "http://schemas.microsoft.com/office/excel/formula",
}
"""By the prefix that is written. The last three stand before formulas, inside attributes."""

_PREFIXES = {uri: prefix for prefix, uri in NAMESPACES.items()}
_MANIFEST = f"{_ODF}:manifest:1.0"

_LINKS = "links to other documents and keeps copies of their cells; break the links first (Edit, Links to External Files)"
REFUSED = {
    "table:tracked-changes": "holds recorded changes, and with them what stood in cells before; accept them and end the recording first",
    "table:data-pilot-tables": "holds a pivot table, which keeps copies of cells; delete it first, or save the sheet as CSV",
    "table:dde-links": _LINKS,
    "table:table-source": _LINKS,
    "table:cell-range-source": _LINKS,
}

_PASS = {
    *(f"office:{name}" for name in ("document-content", "automatic-styles")),
    *(f"office:{name}" for name in ("body", "spreadsheet")),
    *(f"table:{name}" for name in ("table", "table-column", "table-columns", "table-header-columns", "table-column-group")),
    *(f"table:{name}" for name in ("table-rows", "table-header-rows", "table-row-group")),
    *(f"text:{name}" for name in ("p", "h", "span", "s", "tab", "line-break", "a")),
}
"""What passes beside styles. Comments, names of ranges, filters, validations, conditions and drawings can quote a cell."""

_KEPT_IN_TEXT = ("text:c", "xlink:href", "xlink:type")
"""Attributes of what stands in a cell; not styles of text, of which private cells have some as well."""


def odf_name(name: str) -> str:
    """Return the name of an element or an attribute with the prefix that is written, and nothing if its namespace does not pass."""
    uri, _, local = name.rpartition(" ")
    prefix = _PREFIXES.get(uri)
    return "" if prefix is None else f"{prefix}:{local}"


def odf_attributes(about: Attributes) -> dict[str, str]:
    """Return the attributes whose namespaces pass, by their names with prefix."""
    named = {odf_name(key): value for key, value in about.items()}
    named.pop("", None)
    return named


def passes(name: str) -> bool:
    """Return whether an element may pass."""
    return name in _PASS or name.startswith("number:")


def root_attributes() -> dict[str, str]:
    """Return what the first element of a part declares."""
    return {**{f"xmlns:{prefix}": uri for prefix, uri in NAMESPACES.items()}, "office:version": "1.2"}


def copy_element(events: Iterator[Event], name: str, about: Mapping[str, str]) -> str:
    """Return an element that has begun as it is written again, with all in it that passes."""
    written, open_names = [_start(name, about)], [name]
    for event in events:
        if event.kind == "text":
            written.append(escape_text(event.name))
        elif event.kind == "end":
            written.append(f"</{open_names.pop()}>")
            if not open_names:
                break
        else:
            inner, attributes = odf_name(event.name), odf_attributes(event.attributes)
            if passes(inner):
                open_names.append(inner)
                written.append(_start(inner, attributes))
            else:
                skip_element(events)
    return "".join(written)


def _start(name: str, about: Mapping[str, str]) -> str:
    said = write_attributes(about, _KEPT_IN_TEXT if name.startswith("text:") else about)
    return f"<{name}{said}>"


def write_manifest(target: ArchiveWriter, parts: list[str]) -> None:
    """Write which parts there are."""
    with target.open("META-INF/manifest.xml") as file:
        writer = XmlWriter(file)
        writer.start("manifest:manifest", {"xmlns:manifest": _MANIFEST, "manifest:version": "1.2"})
        for part, kind in [("/", TYPE), *((part, "text/xml") for part in parts)]:
            writer.element("manifest:file-entry", {"manifest:full-path": part, "manifest:media-type": kind})
        writer.end("manifest:manifest")
        writer.close()
