"""Workbooks of Excel with everything in them that could quote a private cell, written part by part."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_REL = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PKG = "http://schemas.openxmlformats.org/package/2006"


def rels(*related: tuple[str, str]) -> str:
    listed = "".join(
        f'<Relationship Id="rId{i}" Type="{_REL}/{kind}" Target="{part}"/>'
        for i, (kind, part) in enumerate(related, 1)
    )
    return f'<Relationships xmlns="{_PKG}/relationships">{listed}</Relationships>'


def leaky_parts(secret: str) -> dict[str, str]:
    """Return the parts of a workbook whose private cell B2 holds a secret word, which is quoted wherever
    Excel would quote it."""
    return {
        "[Content_Types].xml": f'<Types xmlns="{_PKG}/content-types"/>',
        "_rels/.rels": rels(("officeDocument", "xl/workbook.xml"), ("core-properties", "docProps/core.xml")),
        "docProps/core.xml": f"<p><title>{secret}</title></p>",
        "docProps/app.xml": f"<p>{secret}</p>",
        "docProps/thumbnail.jpeg": secret,
        "xl/workbook.xml": (
            f'<workbook xmlns="{MAIN}" xmlns:r="{_REL}"><workbookPr date1904="1" '
            f'codeName="{secret}"/><bookViews>'
            f'<workbookView activeTab="0"/></bookViews><sheets><sheet name="Notes" sheetId="1" r:id="rId1"/>'
            '<sheet name="Other" sheetId="2" r:id="rId2"/></sheets><definedNames><definedName '
            'name="_xlnm.Print_Area" localSheetId="0">'
            f"Notes!$A$1:$C$3</definedName><definedName name=\"{secret}\">Notes!$C$2</definedName>"
            f'<definedName name="n">{secret}</definedName>'
            f'<definedName name="_xlnm.Print_Titles" localSheetId="1">{secret}!$A:$A</definedName>'
            f'<definedName name="Said">"{secret}"</definedName><definedName '
            f'name="_xlnm._FilterDatabase">{secret}</definedName>'
            f'</definedNames><calcPr calcId="1"/><extLst><ext uri="x">{secret}</ext></extLst></workbook>'
        ),
        "xl/_rels/workbook.xml.rels": rels(
            ("worksheet", "worksheets/sheet1.xml"), ("worksheet", "worksheets/sheet2.xml"), ("sharedStrings", "sharedStrings.xml"),  # noqa: E501
            ("styles", "styles.xml"), ("theme", "theme/theme1.xml"), ("calcChain", "calcChain.xml"), ("vbaProject", "vbaProject.bin"),  # noqa: E501
        ),
        "xl/vbaProject.bin": secret,
        "xl/calcChain.xml": f'<calcChain xmlns="{MAIN}"><c r="C2" i="1"/></calcChain>',
        "xl/theme/theme1.xml": '<a:theme xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
                               'name="Office"/>',
        "xl/styles.xml": (
            f'<styleSheet xmlns="{MAIN}"><numFmts count="1"><numFmt numFmtId="164" '
            'formatCode="yyyy\\-mm\\-dd"/></numFmts><fonts count="1">'
            '<font/></fonts><fills count="1"><fill><patternFill/></fill></fills><borders '
            'count="1"><border/></borders>'
            '<cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="2"><xf/><xf '
            'numFmtId="164"/></cellXfs><cellStyles count="1">'
            '<cellStyle name="Normal" xfId="0"/></cellStyles><extLst><ext '
            f'uri="y">{secret}</ext></extLst></styleSheet>'
        ),
        "xl/sharedStrings.xml": (
            f'<sst xmlns="{MAIN}" count="7" uniqueCount="6"><si><t>id</t></si><si><t>{secret} '
            'fox</t></si><si><t>text</t></si>'
            f"<si><t>more</t></si><si><r><rPr><b/></rPr><t>{secret}</t></r><r><t xml:space=\"preserve\"> "
            "the</t></r></si>"
            '<si><r><rPr><i/></rPr><t>rich</t></r><r><t> stays</t></r></si></sst>'
        ),
        "xl/worksheets/sheet1.xml": (
            f'<worksheet xmlns="{MAIN}" xmlns:r="{_REL}" xmlns:x="urn:x" x:uid="{secret}"><sheetPr '
            f'codeName="{secret}" filterMode="1"/>'
            '<dimension ref="A1:D3"/><sheetViews><sheetView workbookViewId="0"><pane ySplit="1" '
            'topLeftCell="A2" state="frozen"/>'
            '</sheetView></sheetViews><sheetFormatPr defaultRowHeight="15"/><cols><col min="1" max="1" '
            'width="9" customWidth="1"/>'
            f'<col min="2" max="2" width="{len(secret)}.5" bestFit="1" customWidth="1"/><col min="3" max="4" '
            'width="11"/></cols><sheetData>'
            '<row r="1" spans="1:4"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>2</v></c><c r="C1" '
            't="s"><v>3</v></c></row>'
            f'<row r="2" ht="{len(secret)}.5" customHeight="1"><c r="A2"><v>1</v></c><c r="B2" t="s" '
            's="1"><v>1</v></c>'
            f'<c r="C2" t="str" s="1"><f>B2</f><v>{secret} fox</v></c><c r="D2" s="1"><v>45000</v></c></row>'
            f'<row r="3"><c r="A3"><v>2</v></c><c r="B3" t="s"><v>4</v></c><c r="C3" t="s"><v>5</v></c>'
            f'<c r="D3" t="b"><v>1</v></c><extLst><x:q>{secret}</x:q></extLst></row></sheetData>'
            '<autoFilter ref="A1:C3"><filterColumn colId="1"><filters><filter '
            f'val="{secret}"/></filters></filterColumn></autoFilter>'
            f'<scenarios><scenario name="s"><inputCells r="B2" val="{secret}"/></scenario></scenarios>'
            f'<mergeCells count="1"><mergeCell ref="E1:F1"/></mergeCells>'
            '<conditionalFormatting sqref="B2"><cfRule type="containsText" '
            f'text="{secret}"/></conditionalFormatting>'
            '<dataValidations><dataValidation type="list" '
            f'sqref="B2"><formula1>"{secret}"</formula1></dataValidation></dataValidations>'
            f'<hyperlinks><hyperlink ref="B2" display="{secret}" tooltip="{secret}"/></hyperlinks>'
            '<pageMargins left="1" right="1" top="1" bottom="1" header="1" '
            f'footer="1"/><headerFooter><oddHeader>{secret}</oddHeader>'
            '</headerFooter><drawing r:id="rId1"/><legacyDrawing r:id="rId2"/><tableParts><tablePart '
            'r:id="rId4"/></tableParts></worksheet>'
        ),
        "xl/worksheets/_rels/sheet1.xml.rels": rels(
            ("drawing", "../drawings/drawing1.xml"), ("vmlDrawing", "../drawings/vml.vml"), ("comments", "../comments1.xml"),  # noqa: E501
            ("table", "../tables/table1.xml"),
        ),
        "xl/tables/table1.xml": (
            f'<table xmlns="{MAIN}" id="1" name="T" displayName="T" ref="A1:C3" '
            f'comment="{secret}"><autoFilter ref="A1:C3"><filterColumn '
            f'colId="1"><filters><filter val="{secret}"/></filters></filterColumn></autoFilter><tableColumns '
            'count="3"><tableColumn id="1" '
            'name="id"/><tableColumn id="2" name="text"/><tableColumn id="3" '
            'name="more"/></tableColumns><tableStyleInfo name="S"/></table>'
        ),
        "xl/drawings/drawing1.xml": f"<d>{secret}</d>",
        "xl/drawings/vml.vml": f"<d>{secret}</d>",
        "xl/charts/chart1.xml": f"<c>{secret}</c>",
        "xl/comments1.xml": f"<c>{secret}</c>",
        "xl/worksheets/sheet2.xml": (
            f'<worksheet xmlns="{MAIN}"><sheetData><row r="1" ht="{len(secret)}"><c r="A1" '
            f't="str"><f>Notes!B2</f><v>{secret} fox</v></c>'
            '<c r="B1"><f t="shared" ref="B1:B2" si="0">1+1</f><v>2</v></c><c r="C1" '
            't="inlineStr"><is><t>kept</t></is></c>'
            '<c r="D1" t="e"><v>#N/A</v></c></row></sheetData></worksheet>'
        ),
        "customXml/item1.xml": f"<i>{secret}</i>",
    }  # fmt: skip


def sheet_parts(rows: Sequence[Sequence[str | int | None]]) -> dict[str, str]:
    """Return the parts of a workbook with these rows in one sheet, whose texts are shared as Excel shares
    them."""
    shared: dict[str, int] = {}
    written = []
    for number, row in enumerate(rows, 1):
        cells = []
        for place, value in enumerate(row):
            where = f"{'ABCDEFG'[place]}{number}"
            if isinstance(value, int):
                cells.append(f'<c r="{where}"><v>{value}</v></c>')
            elif value is not None:
                cells.append(f'<c r="{where}" t="s"><v>{shared.setdefault(value, len(shared))}</v></c>')
        written.append(f'<row r="{number}">{"".join(cells)}</row>')
    listed = "".join(f"<si><t>{escape(text)}</t></si>" for text in shared)
    return {
        "[Content_Types].xml": f'<Types xmlns="{_PKG}/content-types"/>',
        "_rels/.rels": rels(("officeDocument", "xl/workbook.xml")),
        "xl/workbook.xml": (
            f'<workbook xmlns="{MAIN}" xmlns:r="{_REL}"><sheets><sheet name="S" sheetId="1" '
            'r:id="rId1"/></sheets></workbook>'
        ),
        "xl/_rels/workbook.xml.rels": rels(
            ("worksheet", "worksheets/sheet1.xml"), ("sharedStrings", "sharedStrings.xml")
        ),
        "xl/sharedStrings.xml": f'<sst xmlns="{MAIN}">{listed}</sst>',
        "xl/worksheets/sheet1.xml": "<worksheet "
        f'xmlns="{MAIN}"><sheetData>{"".join(written)}</sheetData></worksheet>',
    }


def zipped(parts: Mapping[str, str | bytes]) -> bytes:
    """Return the parts as an archive."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(zipfile.ZipInfo(name, (2020, 1, 2, 3, 4, 6)), content)
    return out.getvalue()


def unzipped(content: bytes) -> dict[str, bytes]:
    """Return the parts of an archive."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}
