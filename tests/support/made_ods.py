"""Spreadsheets of OpenDocument with everything in them that could quote a private cell, written part by
part."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from xml.sax.saxutils import escape

TYPE = "application/vnd.oasis.opendocument.spreadsheet"
_ODF = "urn:oasis:names:tc:opendocument:xmlns"
_NAMESPACES = {
    **{prefix: f"{_ODF}:{prefix}:1.0" for prefix in ("office", "style", "text", "table")},
    "number": f"{_ODF}:datastyle:1.0",
    "fo": f"{_ODF}:xsl-fo-compatible:1.0",
    "xlink": "http://www.w3.org/1999/xlink",
    "draw": f"{_ODF}:drawing:1.0",
    "dc": "http://purl.org/dc/elements/1.1/",
    "calcext": "urn:calcext",
}
_XMLNS = " ".join(f'xmlns:{prefix}="{uri}"' for prefix, uri in _NAMESPACES.items())
_MANIFEST = f'<manifest:manifest xmlns:manifest="{_ODF}:manifest:1.0" manifest:version="1.2"/>'


def content_of(spreadsheet: str, styles: str = "") -> str:
    return (
        "<office:document-content "
        f"{_XMLNS}><office:automatic-styles>{styles}</office:automatic-styles><office:body><office:spreadsheet>"
        f"{spreadsheet}</office:spreadsheet></office:body></office:document-content>"
    )


def ods_parts(rows: Sequence[Sequence[str | int | None]]) -> dict[str, str]:
    """Return the parts of a spreadsheet with these rows; equal ones that follow one another are written once,
    as LibreOffice does."""
    written = []
    for row, equal in groupby(rows):
        cells = []
        for value in row:
            if isinstance(value, int):
                cells.append(
                    '<table:table-cell office:value-type="float" '
                    f'office:value="{value}"><text:p>{value}</text:p></table:table-cell>'
                )
            elif value is None:
                cells.append("<table:table-cell/>")
            else:
                cells.append(
                    "<table:table-cell "
                    f'office:value-type="string"><text:p>{escape(value)}</text:p></table:table-cell>'
                )
        written.append(
            "<table:table-row "
            f'table:number-rows-repeated="{len(list(equal))}">{"".join(cells)}</table:table-row>'
        )
    return {
        "mimetype": TYPE,
        "META-INF/manifest.xml": _MANIFEST,
        "content.xml": content_of(f'<table:table table:name="S">{"".join(written)}</table:table>'),
    }


def leaky_ods(secret: str) -> dict[str, str]:
    """Return the parts of a spreadsheet whose private cell B2 holds a secret word, which is quoted wherever
    LibreOffice would quote it."""
    styles = (
        '<style:style style:name="ro1" style:family="table-row"><style:table-row-properties '
        f'style:row-height="{len(secret)}mm"/>'
        "</style:style>"
        '<style:style style:name="co1" style:family="table-column"><style:table-column-properties '
        f'style:column-width="{len(secret)}mm"/>'
        "</style:style>"
        '<number:date-style style:name="N1"><number:year '
        'number:style="long"/><number:text>-</number:text><number:month/>'
        "</number:date-style>"
        '<style:style style:name="ce1" style:family="table-cell" style:data-style-name="N1"><style:map '
        f'style:condition="{secret}"/>'
        '<style:table-cell-properties fo:background-color="#ff0000"/></style:style>'
    )
    table = (
        "<table:calculation-settings "
        f'table:null-year="{len(secret)}"/><table:content-validations><table:content-validation '
        'table:name="v" '
        f'table:condition="{secret}"/></table:content-validations>'
        f'<table:table table:name="Notes" table:print-ranges="{secret}"><office:forms>{secret}</office:forms>'
        f"<table:title>{secret}</table:title><table:shapes><draw:frame><draw:text-box><text:p>{secret}</text:p></draw:text-box></draw:frame>"
        '</table:shapes><table:table-column table:style-name="co1" '
        'table:number-columns-repeated="3"/><table:table-header-rows>'
        '<table:table-row table:style-name="ro1"><table:table-cell '
        'office:value-type="string"><text:p>id</text:p></table:table-cell>'
        "<table:table-cell "
        'office:value-type="string"><text:p>text</text:p></table:table-cell><table:table-cell '
        'office:value-type="string">'
        "<text:p>more</text:p></table:table-cell></table:table-row></table:table-header-rows>"
        '<table:table-row table:style-name="ro1"><table:table-cell office:value-type="float" '
        'office:value="1"><text:p>1</text:p>'
        '</table:table-cell><table:table-cell table:style-name="ce1" office:value-type="string" '
        'calcext:value-type="string" '
        f'table:content-validation-name="v"><office:annotation><dc:creator>{secret}</dc:creator><text:p>{secret}</text:p></office:annotation>'
        f'<text:p>{secret}<text:s text:c="2"/><text:span>fox</text:span></text:p></table:table-cell>'
        '<table:table-cell table:formula="of:=[.B2]" office:value-type="string" '
        f'office:string-value="{secret} fox"><text:p>{secret} fox'
        "</text:p></table:table-cell></table:table-row>"
        '<table:table-row><table:table-cell office:value-type="float" office:value="2"/><table:table-cell '
        'office:value-type="string" '
        f'office:string-value="{secret} the"/><table:table-cell table:style-name="ce1" '
        'office:value-type="date" '
        'office:date-value="2026-01-02">'
        f"<text:p>02.01.26</text:p></table:table-cell></table:table-row>"
        '<table:table-row table:number-rows-repeated="1048000"><table:table-cell '
        'table:number-columns-repeated="1000"/></table:table-row>'
        f'<table:named-expressions><table:named-range table:name="{secret}" '
        'table:cell-range-address="$Notes.$A$1:.$B$2"/>'
        '<table:named-expression table:name="Said" '
        f'table:expression="{secret}"/></table:named-expressions></table:table>'
        '<table:table table:name="Other"><table:table-row><table:table-cell table:formula="of:=[$Notes.B2]" '
        'office:value-type="string">'
        f"<text:p>{secret}</text:p></table:table-cell><table:table-cell "
        'office:value-type="string"><text:p>kept <text:a xlink:href="http://x">'
        "here</text:a></text:p></table:table-cell></table:table-row></table:table>"
        "<table:database-ranges><table:database-range><table:filter><table:filter-condition "
        f'table:value="{secret}"/></table:filter>'
        "</table:database-range></table:database-ranges>"
        "<calcext:conditional-formats><calcext:condition "
        f'calcext:value="{secret}"/></calcext:conditional-formats>'
    )
    return {
        "mimetype": TYPE,
        "content.xml": content_of(table, styles),
        "styles.xml": (
            f"<office:document-styles {_XMLNS}><office:styles><style:default-style "
            "style:family=\"table-cell\"/></office:styles>"
            f'<office:master-styles><style:master-page><style:header><text:p>{secret}</text:p></style:header></style:master-page>'
            "</office:master-styles></office:document-styles>"
        ),
        "meta.xml": f"<m>{secret}</m>",
        "settings.xml": f"<m>{secret}</m>",
        "Thumbnails/thumbnail.png": secret,
        "Object 1/content.xml": f"<m>{secret}</m>",
        "META-INF/manifest.xml": _MANIFEST.replace("/>", f' x="{secret}"/>'),
    }  # fmt: skip
