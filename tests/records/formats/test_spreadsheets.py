"""Spreadsheets: private cells are released, other values stay, and nothing in the file quotes what stood in a
private cell."""

from __future__ import annotations

import datetime
import io
import zipfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import openpyxl
import pandas
import pytest
from openpyxl.styles import Font

from deniable import InvalidParameter, Keyed, Multivariate, Privatizer
from deniable.embeddings.embedding import Embedding
from deniable.errors import RecordError
from deniable.records import privatize_stream
from deniable.records.formats.layout import Roles, make_layout
from deniable.records.formats.opening import open_source
from deniable.records.formats.source import FileSource
from deniable.records.formats.spreadsheet import read_workbook
from deniable.records.reading import read_texts, rewrite_file
from tests.support.keeping import keep_all as privatize_file
from tests.support.made_ods import content_of, leaky_ods, ods_parts
from tests.support.made_xlsx import MAIN, leaky_parts, rels, sheet_parts, unzipped, zipped

ROWS: list[list[Any]] = [
    ["id", "text", "when", "amount"],
    ["a", "the, quick", datetime.date(2026, 1, 2), 1.5],
    ["b", None, datetime.datetime(2026, 1, 3, 4, 5, 6), 2],
    [],
    ["c", "fox! brown", datetime.time(7, 8), True],
    ["d", None, datetime.timedelta(hours=30), "an <r>odd</r>"],
    ["e", 7, None, '<r>a "quoted" & <odd> text</r>'],
]
FORMATS = ("xlsx", "ods")


def made(path: Path, rows: list[list[Any]] = ROWS, *, others: bool = True) -> Path:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = "Notes"
    for row in rows:
        sheet.append(row)
    if others:
        book.create_sheet("Other").append(["text", 3])
    book.save(path)
    return path


def cells(path: Path, sheet: str = "Notes") -> list[list[Any]]:
    return [[cell.value for cell in row] for row in openpyxl.load_workbook(path)[sheet].iter_rows()]


def leaky(path: Path, secret: str) -> Path:
    """Write a workbook whose private cell holds a secret, which is quoted wherever Excel or LibreOffice would
    quote it."""
    path.write_bytes(zipped(leaky_parts(secret) if path.suffix == ".xlsx" else leaky_ods(secret)))
    return path


def released(embedding: Embedding, source: Path, target: Path, **options: Any) -> bytes:
    private = Privatizer(Multivariate(embedding, epsilon=1.0), randomness=Keyed(bytes(32)), unknown="redact")
    privatize_file(private, source, target, columns=["text"], record_id="id", force=True, **options)
    return target.read_bytes()


def test_private_cells_are_released_and_all_other_values_stay(
    embedding: Embedding, tmp_path: Path, leftovers: Callable[[Path], list[str]]
) -> None:
    private = Privatizer(Multivariate(embedding, epsilon=1e6), unknown="drop")
    source, target = made(tmp_path / "in.xlsx"), tmp_path / "out.xlsx"
    receipt = privatize_file(private, source, target, columns=["text"])
    before, after = cells(source), cells(target)
    assert [row[1] for row in after] == ["text", "the quick", None, None, "fox brown", None, None]
    assert [[*row[:1], *row[2:]] for row in after] == [[*row[:1], *row[2:]] for row in before]
    assert cells(target, "Other") == [["text", 3]]
    assert leftovers(target) == []
    assert receipt is not None
    assert "every cell of the sheet Other" in receipt.public[-1]
    assert "left out: formulas and their results" in receipt.public[-1]


def test_ods_is_read_and_written_as_xlsx(private: Privatizer, tmp_path: Path) -> None:
    frame = pandas.DataFrame(
        {"id": [1, 2, 3], "text": ["the, quick", "", "fox!"], "when": pandas.to_datetime(["2026-01-02"] * 3)}
    )
    with pandas.ExcelWriter(tmp_path / "in.ods", engine="odf") as writer:
        frame.to_excel(writer, sheet_name="Notes", index=False)
        frame.to_excel(writer, sheet_name="Other", index=False)
    with pytest.raises(InvalidParameter) as refused:
        privatize_file(private, tmp_path / "in.ods", tmp_path / "out.ods", columns=["text"])
    assert refused.value.name == "output"
    assert "out.ods.xlsx" in refused.value.problem
    privatize_file(private, tmp_path / "in.ods", tmp_path / "out.xlsx", columns=["text"])
    when = datetime.datetime(2026, 1, 2)
    assert cells(tmp_path / "out.xlsx") == [
        ["id", "text", "when"],
        [1, "the quick", when],
        [2, None, when],
        [3, "fox", when],
    ]
    assert cells(tmp_path / "out.xlsx", "Other")[1] == [1, "the, quick", when]


@pytest.mark.parametrize("kind", FORMATS)
def test_nothing_in_the_file_quotes_a_private_cell(private: Privatizer, tmp_path: Path, kind: str) -> None:
    """Results of formulas are quotes as well: of these cells nothing is left."""
    privatize_file(
        private, leaky(tmp_path / f"in.{kind}", "qzxsecret"), tmp_path / "out.xlsx", columns=["text"]
    )
    for part, content in unzipped((tmp_path / "out.xlsx").read_bytes()).items():
        assert b"qzx" not in content, part
    notes, others = cells(tmp_path / "out.xlsx"), cells(tmp_path / "out.xlsx", "Other")
    assert notes[0][:3] == ["id", "text", "more"]
    assert [row[0] for row in notes] == ["id", 1, 2]
    assert notes[1][2] is None
    assert "kept" in (others[0][1] if kind == "ods" else others[0][2])
    when = notes[2][2] if kind == "ods" else notes[1][3]
    assert when == (
        datetime.datetime(2026, 1, 2) if kind == "ods" else datetime.datetime(2027, 3, 16)
    )  # counted from 1904


@pytest.mark.parametrize("kind", FORMATS)
def test_the_bytes_do_not_depend_on_how_long_or_how_often_private_words_are(
    tmp_path: Path, embedding: Embedding, kind: str
) -> None:
    seen = [
        released(embedding, leaky(tmp_path / f"in.{kind}", secret), tmp_path / "out.xlsx")
        for secret in ("q", "qzx" * 4_000, "rich", "kept")
    ]
    assert all(each == seen[0] for each in seen)


def test_the_bytes_do_not_depend_on_looks_equal_texts_or_the_time(
    tmp_path: Path, embedding: Embedding, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    for texts in (["qzx", "qzx", "qzx"], ["zyx", "xyz", "yzx"]):
        source = made(
            tmp_path / "in.xlsx",
            [["id", "text", "n"], *[[i, text, "x"] for i, text in enumerate(texts)]],
            others=False,
        )
        if texts[0] == "zyx":
            book = openpyxl.load_workbook(source)
            sheet = book["Notes"]
            sheet["B2"].font, sheet["B3"].number_format, sheet.column_dimensions["B"].width = (
                Font(bold=True),
                "qzx0.0",
                44,
            )
            sheet.row_dimensions[3].height, book.properties.title = 60, "qzx"
            book.save(source)
            monkeypatch.setenv("TZ", "Pacific/Auckland")
        seen.append(released(embedding, source, tmp_path / "out.xlsx"))
    assert seen[0] == seen[1]


def test_what_a_formula_of_another_cell_fills_in_does_not_pass(private: Privatizer, tmp_path: Path) -> None:
    """Spilled cells of an array formula hold its last results, and no formula of their own."""
    text = '<c r="{}" t="str"><v>{}</v></c>'
    rows = [
        text.format("A1", "id") + text.format("B1", "text"),
        text.format("B2", "fox")
        + '<c r="D2" t="str"><f t="array" ref="$D$2:E$3">B1:C2</f><v>qzx</v></c>'
        + text.format("E2", "qzx"),
        "".join(text.format(cell, "other" if cell == "C3" else "qzx") for cell in ("C3", "D3", "E3")),
        text.format("D4", "below"),
    ]
    listed = "".join(f'<row r="{number}">{row}</row>' for number, row in enumerate(rows, 1))
    parts = {
        **sheet_parts([]),
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{MAIN}"><sheetData>{listed}</sheetData></worksheet>',
    }
    (tmp_path / "in.xlsx").write_bytes(zipped(parts))
    cell = '<table:table-cell office:value-type="string"><text:p>{}</text:p></table:table-cell>'
    matrix = (
        '<table:table-cell table:formula="of:=[.A1:.A2]" table:number-matrix-rows-spanned="2" '
        'table:number-matrix-columns-spanned="2" '
        'office:value-type="string"><text:p>qzx</text:p></table:table-cell>'
    )
    lines = [
        cell.format("id") + cell.format("text"),
        "<table:table-cell/>" + cell.format("fox") + "<table:table-cell/>" + matrix + cell.format("qzx"),
        '<table:table-cell table:number-columns-repeated="2"/>'
        + cell.format("other")
        + cell.format("qzx") * 2,
        '<table:table-cell table:number-columns-repeated="3"/>' + cell.format("below"),
    ]
    listed = "".join(f"<table:table-row>{line}</table:table-row>" for line in lines)
    content = content_of(f'<table:table table:name="S">{listed}</table:table>')
    (tmp_path / "in.ods").write_bytes(zipped({**ods_parts([]), "content.xml": content}))
    for kind in FORMATS:
        privatize_file(private, tmp_path / f"in.{kind}", tmp_path / "out.xlsx", columns=["text"], force=True)
        assert [row[:4] for row in cells(tmp_path / "out.xlsx", "S")] == [
            ["id", "text", None, None],
            [None, "fox", None, None],
            [None, None, "other", None],
            [None, None, None, "below"],
        ]


@pytest.mark.parametrize("kind", FORMATS)
def test_a_formula_in_a_private_column_is_refused_with_its_row(
    private: Privatizer, tmp_path: Path, kind: str
) -> None:
    source = leaky(tmp_path / f"in.{kind}", "qzx")
    with pytest.raises(RecordError, match="sheet Notes, row 2: a private text is made by a formula"):
        privatize_file(private, source, tmp_path / "out.xlsx", columns=["more"])
    assert not list(tmp_path.glob("out*"))


def test_what_is_hidden_is_told(private: Privatizer, tmp_path: Path) -> None:
    source = made(tmp_path / "in.xlsx", [["id", "text", "ward"], ["a", "fox", 1], ["b", "the", 2]])
    book = openpyxl.load_workbook(source)
    book["Notes"].row_dimensions[3].hidden = book["Notes"].column_dimensions["C"].hidden = True
    book["Other"].sheet_state = "hidden"
    book.save(source)
    hides = 'table:visibility="collapse"'
    cell = '<table:table-cell office:value-type="string"><text:p>{}</text:p></table:table-cell>'
    rows = [
        f"<table:table-row>{''.join(map(cell.format, row))}</table:table-row>"
        for row in (("id", "text", "ward"), ("a", "fox", "1"))
    ]
    columns = (
        f'<table:table-column table:number-columns-repeated="2"/><table:table-column {hides} '
        'table:number-columns-repeated="9"/>'
    )
    table = (
        "<table:table "
        f'table:name="Notes">{columns}{"".join(rows)}{rows[1].replace("row>", f"row {hides}>", 1)}</table:table>'  # noqa: E501
    )
    hidden = (
        '<style:style style:name="ta2" style:family="table"><style:table-properties '
        'table:display="false"/></style:style>'
    )
    other = (
        '<table:table table:name="Other" '
        'table:style-name="ta2"><table:table-row><table:table-cell/></table:table-row></table:table>'
    )
    (tmp_path / "in.ods").write_bytes(
        zipped({**ods_parts([]), "content.xml": content_of(table + other, hidden)})
    )
    for kind in FORMATS:
        source = tmp_path / f"in.{kind}"
        with closing(FileSource(source)) as opened:
            book, pieces = read_workbook(opened, None)
            _, about, _ = next(pieces)
        assert about is not None
        assert (about["hidden_rows"], about["hidden_columns"][0]) == (1, 2)
        assert (book["sheets"][1], book["hidden"]) == ("Other", [False, True])
        receipt = privatize_file(private, source, tmp_path / "out.xlsx", columns=["text"], force=True)
        assert receipt is not None
        said = receipt.public[-1]
        assert "the column ward, hidden there" in said
        assert "1 row hidden there" in said
        assert "the sheet Other (hidden)" in said
        assert cells(tmp_path / "out.xlsx")[2][1] == ("the" if kind == "xlsx" else "fox")


def test_hidden_columns_are_numbers_where_the_first_row_may_be_private(
    private: Privatizer, tmp_path: Path
) -> None:
    source = made(tmp_path / "in.xlsx", [["a", "fox", "qzx"]], others=False)
    book = openpyxl.load_workbook(source)
    book["Notes"].column_dimensions["C"].hidden = True
    book.save(source)
    receipt = privatize_file(private, source, tmp_path / "out.xlsx", columns=["2"], header=False)
    assert receipt is not None
    assert "the column 3, hidden there" in receipt.public[-1]
    assert "qzx" not in receipt.to_json()


SHEETS = (("worksheet", "worksheets/sheet1.xml"), ("worksheet", "worksheets/sheet2.xml"))
TABLE = (
    '<table:table table:name="S"><table:table-row><table:table-cell '
    'office:value-type="string"><text:p>text</text:p></table:table-cell>'
    "</table:table-row></table:table>"
)
LONG = " ".join(["word"] * 30_000)


def sheet_of(content: str) -> dict[str, str]:
    return {
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{MAIN}"><sheetData>{content}</sheetData></worksheet>'
    }


def shared(text: str, times: int) -> dict[str, str]:
    rows = "".join(
        f'<row r="{i}"><c r="A{i}" t="s"><v>{min(i - 1, 1)}</v></c></row>' for i in range(1, times + 2)
    )
    return {
        **sheet_of(rows),
        "xl/sharedStrings.xml": f'<sst xmlns="{MAIN}"><si><t>text</t></si><si><t>{text}</t></si></sst>',
    }


HOSTILE: dict[str, dict[str, str]] = {
    "a pivot table": {"xl/pivotTables/pivotTable1.xml": "<x/>"},
    "a pivot cache": {"xl/pivotCache/pivotCacheRecords1.xml": "<x/>"},
    "entities": {"xl/worksheets/sheet1.xml": '<!DOCTYPE w [<!ENTITY a "qzx">]><worksheet/>'},
    "entities in the list of sheets": {
        "xl/workbook.xml": '<!DOCTYPE w [<!ENTITY a "qzx"><!ENTITY b "&a;&a;">]><workbook>&b;</workbook>'
    },
    "no XML": {"xl/worksheets/sheet1.xml": "<worksheet"},
    "no shared text": {"xl/sharedStrings.xml": f'<sst xmlns="{MAIN}"/>'},
    "one part for two sheets": {"xl/_rels/workbook.xml.rels": rels(*SHEETS[:1], *SHEETS[:1])},
    "a sheet that is not there": {"xl/_rels/workbook.xml.rels": rels(*SHEETS[:1])},
    "a sheet outside": {"xl/_rels/workbook.xml.rels": rels(*SHEETS[:1], ("worksheet", "../../../../qzx"))},
    "no reference": {
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{MAIN}"><sheetData><row r="1"><c '
        'r="qzx"/></row></sheetData></worksheet>'
    },
    "a row beyond all": sheet_of('<row r="9999999"><c r="A9999999"><v>1</v></c></row>'),
    "far apart": sheet_of(
        '<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'
    ),
    "an area that is none": sheet_of('<row r="1"><c r="A1"><f t="array" ref="qzx">B2</f><v>1</v></c></row>'),
    "shared texts": shared(LONG, 20_000),
}
HOSTILE_ODS: dict[str, str] = {
    "recorded changes": '<table:tracked-changes/><table:table table:name="S"/>',
    "a pivot table": '<table:table table:name="S"/><table:data-pilot-tables/>',
    "a sheet inside another": "<table:table "
    'table:name="S"><table:shapes><table:table/></table:shapes></table:table>',
    "no sheet": "",
    "no row": TABLE.replace("<table:table-row>", '<table:table-row table:number-rows-repeated="0">'),
    "rows": TABLE.replace("<table:table-row>", '<table:table-row table:number-rows-repeated="1000000000">'),
    "cells": TABLE.replace(
        "<table:table-row>", '<table:table-row table:number-rows-repeated="1000000">'
    ).replace("<table:table-cell ", '<table:table-cell table:number-columns-repeated="10000" '),
    "long texts": TABLE.replace(
        "<table:table-row>", '<table:table-row table:number-rows-repeated="1000000">'
    ).replace("text<", f"{LONG}<"),
    "deep": "<text:p>" * 100_000,
}


def refused(private: Privatizer, source: Path) -> str:
    with pytest.raises(RecordError) as error:
        privatize_file(private, source, source.with_name("out.xlsx"), columns=["text"])
    assert "qzx" not in str(error.value)
    assert error.value.source == str(source)
    assert "\n" not in str(error.value)
    assert not list(source.parent.glob("out*"))
    return error.value.problem


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_or_damaged_xlsx_is_refused_in_one_line(
    private: Privatizer, tmp_path: Path, case: str
) -> None:
    parts = (
        leaky_parts("qzxsecret")
        if len(HOSTILE[case]) == 1 and "sheetData" not in str(HOSTILE[case])
        else sheet_parts([])
    )
    (tmp_path / "in.xlsx").write_bytes(zipped({**parts, **HOSTILE[case]}))
    refused(private, tmp_path / "in.xlsx")


@pytest.mark.parametrize("case", HOSTILE_ODS)
def test_a_hostile_or_damaged_ods_is_refused_in_one_line(
    private: Privatizer, tmp_path: Path, case: str
) -> None:
    (tmp_path / "in.ods").write_bytes(zipped({**ods_parts([]), "content.xml": content_of(HOSTILE_ODS[case])}))
    refused(private, tmp_path / "in.ods")


def test_texts_that_cells_share_within_reason_are_read(tmp_path: Path) -> None:
    (tmp_path / "in.xlsx").write_bytes(zipped({**sheet_parts([]), **shared(LONG, 100)}))
    assert sum(len(text or "") for text in read_texts(tmp_path / "in.xlsx", column="text")) == 100 * len(LONG)
    (tmp_path / "in.xlsx").write_bytes(zipped({**sheet_parts([]), **shared(LONG, 600)}))
    with pytest.raises(RecordError) as error:
        list(read_texts(tmp_path / "in.xlsx", column="text"))
    assert "its cells share texts" in error.value.problem


def packed(parts: list[tuple[str, str | bytes]]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts:
            archive.writestr(name, content)
    return out.getvalue()


def test_a_zip_that_claims_or_holds_too_much_is_refused(private: Privatizer, tmp_path: Path) -> None:
    source = tmp_path / "in.xlsx"
    source.write_bytes(packed([*sheet_parts([["text"]]).items(), ("xl/media/image1.png", bytes(513 << 20))]))
    assert source.stat().st_size < 1 << 20
    assert "unpacks to more than 512 MiB" in refused(private, source)
    texts = (
        f'<sst xmlns="{MAIN}">' + "<si/>" * 50_000_000 + "</sst>"
    )  # each takes much more memory than room in the file
    source.write_bytes(packed([*{**sheet_parts([["text"]]), "xl/sharedStrings.xml": texts}.items()]))
    assert "cannot be parsed in 1 GiB of memory" in refused(private, source)
    source.write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")
    assert "one with a password cannot be read" in refused(private, source)
    source.write_bytes(packed([*sheet_parts([["text"]]).items(), ("XL/workbook.xml", "<workbook/>")]))
    assert "parts twice" in refused(private, source)


def test_columns_are_searched_in_the_sheet_that_is_named(private: Privatizer, tmp_path: Path) -> None:
    source = made(tmp_path / "in.xlsx")
    book = openpyxl.load_workbook(source)
    book["Other"]["A2"] = "fox! the"
    book.save(source)
    privatize_file(private, source, tmp_path / "out.xlsx", columns=["text"], sheet="Other")
    assert cells(tmp_path / "out.xlsx", "Other")[1][0] == "fox the"
    assert cells(tmp_path / "out.xlsx")[1][1] == "the, quick"
    with pytest.raises(InvalidParameter, match="has the sheets Notes, Other"):
        privatize_file(private, source, tmp_path / "no.xlsx", columns=["text"], sheet="other")
    with pytest.raises(
        InvalidParameter, match="the header is row 1 of sheet Notes, the first that holds anything"
    ):
        privatize_file(private, source, tmp_path / "no.xlsx", columns=["comment"])
    with pytest.raises(InvalidParameter, match="only spreadsheets have sheets"):
        privatize_file(private, tmp_path / "in.csv", tmp_path / "no.csv", columns=["text"], sheet="Other")


def test_without_a_header_columns_are_numbers(private: Privatizer, tmp_path: Path) -> None:
    source = made(tmp_path / "in.xlsx", [["a", "the, quick"], ["b", "fox!"]])
    privatize_file(private, source, tmp_path / "out.xlsx", columns=["2"], header=False)
    assert cells(tmp_path / "out.xlsx") == [["a", "the quick"], ["b", "fox"]]


def test_a_header_below_empty_rows_and_beside_empty_columns_is_found(
    private: Privatizer, tmp_path: Path
) -> None:
    source = made(tmp_path / "in.xlsx", [[], [None], [None, "id", "text"], [None, "a", "fox!"]])
    privatize_file(private, source, tmp_path / "out.xlsx", columns=["text"])
    assert cells(tmp_path / "out.xlsx")[2:] == [[None, "id", "text"], [None, "a", "fox"]]
    cell = (
        "<table:table-cell/><table:table-cell "
        'office:value-type="string"><text:p>{}</text:p></table:table-cell>'
    )
    row = f"<table:table-row>{cell}</table:table-row>"
    empty = '<table:table-row table:number-rows-repeated="2"/>'
    table = f'<table:table table:name="S">{empty}{row.format("text")}{row.format("fox!")}</table:table>'
    (tmp_path / "in.ods").write_bytes(zipped({**ods_parts([]), "content.xml": content_of(table)}))
    privatize_file(private, tmp_path / "in.ods", tmp_path / "out.xlsx", columns=["text"], force=True)
    assert cells(tmp_path / "out.xlsx", "S")[2:] == [[None, "text"], [None, "fox"]]


def test_equal_rows_and_cells_are_released_each_by_itself(noisy: Privatizer, tmp_path: Path) -> None:
    rows = (
        '<table:table table:name="S"><table:table-row><table:table-cell '
        'office:value-type="string"><text:p>a</text:p></table:table-cell>'
        '<table:table-cell office:value-type="string"><text:p>b</text:p></table:table-cell></table:table-row>'
        '<table:table-row table:number-rows-repeated="20"><table:table-cell '
        'table:number-columns-repeated="2" office:value-type="string">'
        "<text:p>the quick brown fox</text:p></table:table-cell></table:table-row></table:table>"
    )
    (tmp_path / "in.ods").write_bytes(zipped({**ods_parts([]), "content.xml": content_of(rows)}))
    privatize_file(noisy, tmp_path / "in.ods", tmp_path / "out.xlsx", columns=["b"])
    out = cells(tmp_path / "out.xlsx", "S")[1:]
    assert [row[0] for row in out] == ["the quick brown fox"] * 20
    assert len({row[1] for row in out}) == 20


def test_records_are_named_by_ids_as_in_every_other_format(embedding: Embedding, tmp_path: Path) -> None:
    private = Privatizer(Multivariate(embedding, epsilon=1.0), randomness=Keyed(bytes(32)))
    source = made(
        tmp_path / "in.xlsx", [["id", "text"], [7, "the quick brown fox"], ["b", "word1 word2 word3"]]
    )
    (tmp_path / "in.csv").write_text("id,text\n7,the quick brown fox\nb,word1 word2 word3\n")
    for ending in ("xlsx", "csv"):
        privatize_file(
            private, tmp_path / f"in.{ending}", tmp_path / f"out.{ending}", columns=["text"], record_id="id"
        )
    lines = (tmp_path / "out.csv").read_text().splitlines()
    assert [f"{row[0]},{row[1]}" for row in cells(tmp_path / "out.xlsx")] == lines
    again = made(source, [["id", "text"], [7, "the"], ["7", "fox"]])
    with pytest.raises(RecordError, match="record 2: has the id of an earlier record"):
        privatize_file(private, again, tmp_path / "no.xlsx", columns=["text"], record_id="id")


def test_escapes_of_excel_are_read_and_written(embedding: Embedding, tmp_path: Path) -> None:
    odd = Embedding(["the", "_x0041_", "fox"], embedding.vectors[:3], name="odd")
    source = made(tmp_path / "in.xlsx", [["text"], ["the_x000D_fox"], ["the\nfox"]])
    private = Privatizer(Multivariate(odd, epsilon=1e6))
    receipt = privatize_file(private, source, tmp_path / "out.xlsx", columns=["text"])
    assert receipt is not None
    assert receipt.tally.words == 4
    rewrite_file(
        tmp_path / "out.xlsx",
        tmp_path / "back.xlsx",
        lambda texts: ["_x0041_ &<\x01\ufffe="] * len(texts),
        column="text",
    )
    assert list(read_texts(tmp_path / "back.xlsx", column="text")) == ["_x0041_ &<="] * 2


def test_what_cannot_be_is_said_in_one_line(private: Privatizer, tmp_path: Path) -> None:
    source = made(tmp_path / "in.xlsx")
    layout = make_layout(source, roles=Roles(text=("text",)))
    with (
        open_source(source) as opened,
        pytest.raises(InvalidParameter, match="cannot be written to a stream"),
    ):
        privatize_stream(private, opened, io.BytesIO(), layout)
    with pytest.raises(InvalidParameter, match="a spreadsheet is compressed inside"):
        privatize_file(private, source, tmp_path / "out.xlsx.gz", columns=["text"])
    with pytest.raises(InvalidParameter, match="its name says csv and the input is xlsx"):
        privatize_file(private, source, tmp_path / "out.csv", columns=["text"])
    table = TABLE.replace('"S"', '"a sheet whose name is longer than Excel allows"')
    (tmp_path / "in.ods").write_bytes(zipped({**ods_parts([]), "content.xml": content_of(table)}))
    assert "sheet 1 has a name that .xlsx does not allow" in refused(private, tmp_path / "in.ods")


def test_a_cell_that_excel_would_cut_off_is_refused(embedding: Embedding, tmp_path: Path) -> None:
    private = Privatizer(Multivariate(embedding, epsilon=1e6))
    for rows in ([["text"], ["quick " * 6_000]], [["text", "more"], ["the", "x" * 40_000]]):
        (tmp_path / "in.xlsx").write_bytes(zipped(sheet_parts(rows)))
        assert "row 2: a cell of a spreadsheet holds no more than 32,767 characters" in refused(
            private, tmp_path / "in.xlsx"
        )
