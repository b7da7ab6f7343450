"""Workbooks of Excel: private cells are released, other cells stay, and nothing in the file quotes what stood in a private cell."""

from __future__ import annotations

import datetime
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from openpyxl.styles import Font
from openpyxl.worksheet.table import Table

from deniable import InvalidParameter, Keyed, Multivariate, Privatizer
from deniable.embeddings.embedding import Embedding
from deniable.errors import RecordError
from deniable.records import privatize_file, privatize_stream
from deniable.records.formats.layout import make_layout
from deniable.records.formats.opening import open_source
from deniable.records.formats.spreadsheets import archive as archives
from deniable.records.rewriting import read_texts, rewrite_file
from tests.support.made_xlsx import MAIN, leaky_parts, rels, sheet_parts, unzipped, zipped

_SHEETS = (("worksheet", "worksheets/sheet1.xml"), ("worksheet", "worksheets/sheet2.xml"))
_TEXT = f'<worksheet xmlns="{MAIN}"><sheetData><row r="1"><c r="A1" t="str"><v>text</v></c></row></sheetData>'
ROWS: list[list[Any]] = [
    ["id", "text", "when", "amount"],
    ["a", "the, quick", datetime.date(2026, 1, 2), 1.5],
    ["b", None, datetime.date(2026, 1, 3), "=D2*2"],
    [],
    ["c", "fox! brown", None, True],
    ["d", "", None, "#N/A"],
    ["e", 7, None, 'a "quoted" & <odd> text'],
]


def made(path: Path, rows: list[list[Any]] = ROWS, *, others: bool = True) -> Path:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = "Notes"
    for row in rows:
        sheet.append(row)
    sheet["C2"].number_format = "dd.mm.yyyy"
    sheet["A1"].font = Font(bold=True)
    sheet.freeze_panes = "A2"
    sheet.merge_cells("F1:G1")
    if others:
        second = book.create_sheet("Other")
        second.append(["text", "=Notes!B2"])
    book.save(path)
    return path


def cells(path: Path, sheet: str = "Notes") -> list[list[Any]]:
    return [[cell.value for cell in row] for row in openpyxl.load_workbook(path)[sheet].iter_rows()]


def test_private_cells_are_released_and_all_other_cells_stay(
    embedding: Embedding, tmp_path: Path, leftovers: Callable[[Path], list[str]]
) -> None:
    private = Privatizer(Multivariate(embedding, epsilon=1e6), unknown="drop")
    source, target = made(tmp_path / "in.xlsx"), tmp_path / "out.xlsx"
    receipt = privatize_file(private, source, target, columns=["text"])
    before, after = cells(source), cells(target)
    assert [row[1] for row in after] == ["text", "the quick", None, None, "fox brown", "", ""]
    assert [[*row[:1], *row[2:]] for row in after] == [[*row[:1], *row[2:]] for row in before]
    assert cells(target, "Other") == [["text", "=Notes!B2"]]
    sheet = openpyxl.load_workbook(target)["Notes"]
    assert sheet["C2"].value == datetime.datetime(2026, 1, 2)
    assert sheet["C2"].number_format == "dd.mm.yyyy"
    assert sheet["A1"].font.b
    assert sheet.freeze_panes == "A2"
    assert [str(merged) for merged in sheet.merged_cells.ranges] == ["F1:G1"]
    assert leftovers(target) == []
    assert receipt is not None
    assert "every cell of the sheet Other" in receipt.public[-1]
    assert "left out: results of formulas" in receipt.public[-1]


def test_what_the_workbook_writes_is_read_by_pandas(private: Privatizer, tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    privatize_file(private, made(tmp_path / "in.xlsx"), tmp_path / "out.xlsx", columns=["text"])
    assert pandas.read_excel(tmp_path / "out.xlsx")["text"].tolist()[0] == "the quick"


@pytest.mark.parametrize("name", ["xl/worksheets/sheet1.xml", "xl/sharedStrings.xml", "xl/worksheets/sheet2.xml", "xl/workbook.xml"])
def test_nothing_in_the_file_quotes_a_private_cell(embedding: Embedding, tmp_path: Path, name: str) -> None:
    private = Privatizer(Multivariate(embedding, epsilon=1e6))
    parts = leaky_parts("qzxsecret")
    assert "qzxsecret" in parts[name]
    (tmp_path / "in.xlsx").write_bytes(zipped(parts))
    privatize_file(private, tmp_path / "in.xlsx", tmp_path / "out.xlsx", columns=["text"])
    out = unzipped((tmp_path / "out.xlsx").read_bytes())
    assert set(out) == {
        "[Content_Types].xml", "_rels/.rels", "xl/_rels/workbook.xml.rels", "xl/workbook.xml", "xl/styles.xml", "xl/sharedStrings.xml",
        "xl/worksheets/sheet1.xml", "xl/worksheets/sheet2.xml", "xl/tables/table1.xml",
        "xl/worksheets/_rels/sheet1.xml.rels",
    }  # fmt: skip
    for part, content in out.items():
        assert b"qzx" not in content, part
    book = openpyxl.load_workbook(tmp_path / "out.xlsx")
    assert book["Notes"]["C2"].value == "=B2"
    assert book["Notes"]["D2"].value == datetime.datetime(2027, 3, 16)  # counted from 1904
    assert book["Notes"]["C3"].value == "rich stays"
    assert b"<i></i>" in out["xl/sharedStrings.xml"]
    assert [book["Other"][cell].value for cell in ("A1", "B1", "C1", "D1")] == ["=Notes!B2", "=1+1", "kept", "#N/A"]
    assert not book.defined_names
    assert book["Notes"].print_area == "'Notes'!$A$1:$C$3"
    assert not book["Other"].print_titles
    assert list(book["Notes"].tables) == ["T"]


def test_the_bytes_do_not_depend_on_how_long_or_how_often_private_words_are(tmp_path: Path, embedding: Embedding) -> None:
    """Also not the table of shared texts: by a private text that stands in another cell as well it would be renumbered."""
    seen = []
    for secret in ("q", "qzx" * 4_000, "rich"):
        (tmp_path / "in.xlsx").write_bytes(zipped(leaky_parts(secret)))
        private = Privatizer(Multivariate(embedding, epsilon=1.0), randomness=Keyed(bytes(32)))
        privatize_file(private, tmp_path / "in.xlsx", tmp_path / "out.xlsx", columns=["text"], record_id="id", force=True)
        seen.append((tmp_path / "out.xlsx").read_bytes())
    assert seen[0] == seen[1] == seen[2]


@pytest.mark.parametrize(
    ("part", "content", "said"),
    [
        ("xl/_rels/workbook.xml.rels", rels(("worksheet", "worksheets/sheet1.xml"), ("externalLink", "e.xml")), "links to other workbooks"),
        ("xl/_rels/workbook.xml.rels", rels(("worksheet", "worksheets/sheet1.xml"), ("pivotCacheDefinition", "p.xml")), "pivot table"),
        ("xl/worksheets/_rels/sheet2.xml.rels", rels(("pivotTable", "../p.xml")), "pivot table"),
        ("xl/_rels/workbook.xml.rels", rels(("worksheet", "worksheets/sheet1.xml"), ("chartsheet", "c.xml")), "a sheet that is a chart"),
        ("xl/worksheets/sheet1.xml", '<!DOCTYPE w [<!ENTITY a "b">]><worksheet/>', "is not XML as spreadsheets have it"),
        ("xl/worksheets/sheet1.xml", "<worksheet", "is not XML"),
        ("xl/sharedStrings.xml", f'<sst xmlns="{MAIN}"/>', "row 1: a cell has a text that is not there"),
        ("_rels/.rels", rels(), "is not an .xlsx workbook"),
        (
            "xl/_rels/workbook.xml.rels",
            rels(*_SHEETS, *((kind, "sharedStrings.xml") for kind in ("sharedStrings", "styles"))),
            "one part for two",
        ),
        ("xl/_rels/workbook.xml.rels", rels(*_SHEETS[:1], *_SHEETS[:1]), "one part for two"),
        ("xl/_rels/workbook.xml.rels", rels(*_SHEETS, ("styles", "sharedStrings.xml")), "is of another kind"),
        ("xl/worksheets/sheet1.xml", _TEXT.replace("<v>text", '<f t="array" ref="qzx">B2</f><v>text') + "</worksheet>", "begin elsewhere"),
        (
            "xl/worksheets/sheet1.xml",
            f'<worksheet xmlns="{MAIN}"><sheetData/><extLst><row r="1"><c r="A1" t="str"><v>text</v></c></row></extLst></worksheet>',
            "has a row where none belongs",
        ),
    ],
)
def test_what_keeps_copies_or_is_damaged_is_refused_in_one_line(
    private: Privatizer, tmp_path: Path, part: str, content: str, said: str
) -> None:
    (tmp_path / "in.xlsx").write_bytes(zipped({**leaky_parts("qzxsecret"), part: content}))
    with pytest.raises(RecordError) as refused:
        privatize_file(private, tmp_path / "in.xlsx", tmp_path / "out.xlsx", columns=["text"])
    assert said in str(refused.value)
    assert "qzx" not in str(refused.value)
    assert not list(tmp_path.glob("out*"))


def test_a_formula_in_a_private_column_is_refused_with_its_row(private: Privatizer, tmp_path: Path) -> None:
    source = made(tmp_path / "in.xlsx", [["id", "text"], [1, "fox"], [2, '="qzx"&A2']])
    with pytest.raises(RecordError, match="sheet 'Notes', row 3: a private text is made by a formula"):
        privatize_file(private, source, tmp_path / "out.xlsx", columns=["text"])
    assert not list(tmp_path.glob("out*"))


def test_what_a_formula_of_another_cell_fills_in_does_not_pass(private: Privatizer, tmp_path: Path) -> None:
    """Spilled cells of an array formula hold its last results, and no formula of their own."""
    text = '<c r="{}" t="str"><v>{}</v></c>'
    rows = [
        text.format("A1", "id") + text.format("B1", "text"),
        text.format("B2", "fox") + '<c r="D2" t="str"><f t="array" ref="$D$2:E$3">B1:C2</f><v>qzx</v></c>' + text.format("E2", "qzx"),
        "".join(text.format(cell, "other" if cell == "C3" else "qzx") for cell in ("C3", "D3", "E3")),
        text.format("D4", "below"),
    ]
    listed = "".join(f'<row r="{number}">{row}</row>' for number, row in enumerate(rows, 1))
    parts = {**sheet_parts([]), "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{MAIN}"><sheetData>{listed}</sheetData></worksheet>'}
    (tmp_path / "in.xlsx").write_bytes(zipped(parts))
    privatize_file(private, tmp_path / "in.xlsx", tmp_path / "out.xlsx", columns=["text"])
    sheet = unzipped((tmp_path / "out.xlsx").read_bytes())["xl/worksheets/sheet1.xml"]
    assert b"qzx" not in sheet
    assert b"other" in sheet
    assert b"below" in sheet
    assert b'<f t="array" ref="$D$2:E$3">B1:C2</f>' in sheet


def test_how_a_private_cell_looks_and_whether_its_row_is_hidden_does_not_pass(private: Privatizer, tmp_path: Path) -> None:
    source = made(tmp_path / "in.xlsx", [["id", "text"], ["a", "fox"], ["b", "the"]], others=False)
    book = openpyxl.load_workbook(source)
    book["Notes"]["B2"].font = book["Notes"]["A2"].font = Font(bold=True)
    book["Notes"].row_dimensions[3].hidden = True
    book.save(source)
    privatize_file(private, source, tmp_path / "out.xlsx", columns=["text"])
    sheet = openpyxl.load_workbook(tmp_path / "out.xlsx")["Notes"]
    assert (sheet["A2"].font.b, sheet["B2"].font.b) == (True, False)
    assert not sheet.row_dimensions[3].hidden


def test_a_table_that_names_its_columns_in_a_row_of_private_text_does_not_pass(private: Privatizer, tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    for row in (["id", "text"], [1, "fox"], ["id2", "qzxsecret"], [2, "the"]):
        sheet.append(row)
    sheet.add_table(Table(displayName="T", ref="A3:B4"))
    book.save(tmp_path / "in.xlsx")
    privatize_file(private, tmp_path / "in.xlsx", tmp_path / "out.xlsx", columns=["text"])
    assert not any(b"qzx" in content for content in unzipped((tmp_path / "out.xlsx").read_bytes()).values())


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
    with pytest.raises(InvalidParameter, match="the header is row 1 of sheet 'Notes', the first that holds anything"):
        privatize_file(private, source, tmp_path / "no.xlsx", columns=["comment"])
    with pytest.raises(InvalidParameter, match="only spreadsheets have sheets"):
        privatize_file(private, tmp_path / "in.csv", tmp_path / "no.csv", columns=["text"], sheet="Other")


def test_without_a_header_columns_are_numbers(private: Privatizer, tmp_path: Path) -> None:
    source = made(tmp_path / "in.xlsx", [["a", "the, quick"], ["b", "fox!"]])
    privatize_file(private, source, tmp_path / "out.xlsx", columns=["2"], header=False)
    assert [row[:2] for row in cells(tmp_path / "out.xlsx")] == [["a", "the quick"], ["b", "fox"]]


def test_a_header_below_empty_rows_is_found(private: Privatizer, tmp_path: Path) -> None:
    source = made(tmp_path / "in.xlsx", [[], [None], ["id", "text"], ["a", "fox!"]])
    privatize_file(private, source, tmp_path / "out.xlsx", columns=["text"])
    assert cells(tmp_path / "out.xlsx")[3][:2] == ["a", "fox"]


def test_records_are_named_by_ids_as_in_every_other_format(embedding: Embedding, tmp_path: Path) -> None:
    private = Privatizer(Multivariate(embedding, epsilon=1.0), randomness=Keyed(bytes(32)))
    source = made(tmp_path / "in.xlsx", [["id", "text"], [7, "the quick brown fox"], ["b", "word1 word2 word3"]])
    (tmp_path / "in.csv").write_text("id,text\n7,the quick brown fox\nb,word1 word2 word3\n")
    for ending in ("xlsx", "csv"):
        privatize_file(private, tmp_path / f"in.{ending}", tmp_path / f"out.{ending}", columns=["text"], record_id="id")
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
    rewrite_file(tmp_path / "out.xlsx", tmp_path / "back.xlsx", lambda texts: ["_x0041_ &<"] * len(texts), column="text")
    assert list(read_texts(tmp_path / "back.xlsx", column="text")) == ["_x0041_ &<"] * 2


def test_a_workbook_that_unpacks_to_too_much_is_refused(private: Privatizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = made(tmp_path / "in.xlsx")
    monkeypatch.setattr(archives, "MOST_UNPACKED", 4_000)
    with pytest.raises(RecordError, match="save it as CSV first"):
        privatize_file(private, source, tmp_path / "out.xlsx", columns=["text"])


def test_what_cannot_be_is_said_in_one_line(private: Privatizer, tmp_path: Path) -> None:
    source = made(tmp_path / "in.xlsx")
    layout = make_layout(source, format=None, columns=("text",), delimiter=None, header=True, encoding="utf-8")
    with open_source(source) as opened, pytest.raises(InvalidParameter, match="cannot be written to a stream"):
        privatize_stream(private, opened, io.BytesIO(), layout)
    with pytest.raises(InvalidParameter, match="a spreadsheet is compressed inside"):
        privatize_file(private, source, tmp_path / "out.xlsx.gz", columns=["text"])
    with pytest.raises(InvalidParameter, match="its name says csv and the input is xlsx"):
        privatize_file(private, source, tmp_path / "out.csv", columns=["text"])
    (tmp_path / "bad.xlsx").write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")
    with pytest.raises(RecordError, match="not a spreadsheet, or a damaged one; one with a password cannot be read"):
        privatize_file(private, tmp_path / "bad.xlsx", tmp_path / "out.xlsx", columns=["text"])


def test_work_that_is_cut_off_goes_on_where_it_was(
    noisy: Privatizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, leftovers: Callable[[Path], list[str]]
) -> None:
    from deniable.records.formats.spreadsheets.reader import SpreadsheetReader

    monkeypatch.setattr("deniable.records.jobs.releasing.SECONDS_BETWEEN_CHECKPOINTS", 0.0)
    monkeypatch.setattr("deniable.records.formats.reader._RECORDS_AT_ONCE", 3)
    source = made(tmp_path / "in.xlsx", [["id", "text"], *([i, f"word{i} the"] for i in range(10))])
    target = tmp_path / "out.xlsx"

    def fail(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(SpreadsheetReader, "finish", fail)
        with pytest.raises(KeyboardInterrupt):
            privatize_file(noisy, source, target, columns=["text"])
    assert not target.exists()
    drawn = [json.loads(line)[0] for line in (tmp_path / "out.xlsx.partial").read_text().splitlines()]
    privatize_file(noisy, source, target, columns=["text"], resume=True)
    assert [row[1] for row in cells(target)[1:]] == drawn
    assert leftovers(target) == []


@pytest.mark.parametrize("change", [-1, 1])
def test_nothing_is_written_unless_exactly_the_released_rows_are_used(
    private: Privatizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: int
) -> None:
    from deniable.records.formats.spreadsheets.xlsx import Xlsx

    def write(self: Xlsx, *given: Any, **more: Any) -> None:
        """Write other rows than those that were read, as if the file had been changed."""
        rows = [["text"], *[["fox"]] * (5 + change)]
        changed = made(tmp_path / "changed.xlsx", rows, others=False)
        with changed.open("rb") as opened:
            whole(Xlsx(archives.Archive(opened, "changed"), None), *given, **more)

    source, whole = made(tmp_path / "in.xlsx", [["text"], *[["fox"]] * 5], others=False), Xlsx.write
    monkeypatch.setattr(Xlsx, "write", write)
    with pytest.raises(RecordError, match="its rows are not those that were released; nothing is written"):
        privatize_file(private, source, tmp_path / "out.xlsx", columns=["text"])
    assert not (tmp_path / "out.xlsx").exists()
    assert not (tmp_path / "out.xlsx.finishing").exists()


def test_how_private_cells_look_is_not_seen_in_what_is_left_of_other_cells(tmp_path: Path, embedding: Embedding) -> None:
    """Looks are numbered in the order of the cells that have them, so that one of a private cell would shift all others."""
    seen = []
    for secret in ("plain", "linked"):
        source = made(tmp_path / "in.xlsx", [["id", "text", "more"], ["a", "qzx", 1], ["b", None, 2], ["c", "qzx", 3]], others=False)
        book = openpyxl.load_workbook(source)
        sheet = book["Notes"]
        if secret == "linked":
            sheet["B2"].font = sheet["B3"].font = sheet["B9"].font = Font(color="0563C1", underline="single")
            sheet["B4"].number_format = "qzx0.0"
            sheet.column_dimensions["B"].width = 44
        sheet["C4"].font, sheet["C4"].number_format = Font(italic=True), "0.000"
        book.save(source)
        private = Privatizer(Multivariate(embedding, epsilon=1.0), randomness=Keyed(bytes(32)))
        privatize_file(private, source, tmp_path / "out.xlsx", columns=["text"], record_id="id", force=True)
        seen.append((tmp_path / "out.xlsx").read_bytes())
        sheet = openpyxl.load_workbook(tmp_path / "out.xlsx")["Notes"]
        assert (sheet["C4"].font.i, sheet["C4"].number_format, sheet["A1"].font.b) == (True, "0.000", True)
    assert seen[0] == seen[1]


def test_values_that_could_be_texts_do_not_pass(private: Privatizer, tmp_path: Path) -> None:
    parts = leaky_parts("qzx")
    odd = '<tabColor rgb="qzx"/><pageSetup paperSize="qzx"/><sheetViews>'
    sheet, table = parts["xl/worksheets/sheet1.xml"], parts["xl/tables/table1.xml"]
    parts["xl/worksheets/sheet1.xml"] = sheet.replace("<sheetViews>", odd).replace('width="9"', 'width="qzx"')
    formula = 'name="more"><calculatedColumnFormula>qzx</calculatedColumnFormula></tableColumn>'
    parts["xl/tables/table1.xml"] = table.replace('name="more"/>', formula)
    for changed in (parts, {**parts, "xl/tables/table1.xml": table.replace('name="more"', 'name="qzx"')}):
        (tmp_path / "in.xlsx").write_bytes(zipped(changed))
        privatize_file(private, tmp_path / "in.xlsx", tmp_path / "out.xlsx", columns=["text"], force=True)
        assert not any(b"qzx" in content for content in unzipped((tmp_path / "out.xlsx").read_bytes()).values())


def test_more_texts_than_fit_in_memory_are_refused(private: Privatizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deniable.records.formats.spreadsheets.xlsx_parts._MOST_TEXTS", 5)
    (tmp_path / "in.xlsx").write_bytes(zipped(leaky_parts("qzx")))
    with pytest.raises(RecordError, match="has more than 5 different texts"):
        privatize_file(private, tmp_path / "in.xlsx", tmp_path / "out.xlsx", columns=["text"])


def test_a_reference_that_is_none_is_refused(private: Privatizer, tmp_path: Path) -> None:
    sheet = f'{_TEXT}<mergeCells><mergeCell ref="qzx"/></mergeCells></worksheet>'
    (tmp_path / "in.xlsx").write_bytes(zipped({**sheet_parts([]), "xl/worksheets/sheet1.xml": sheet}))
    with pytest.raises(RecordError, match="refers to cells in a way that cannot be read"):
        privatize_file(private, tmp_path / "in.xlsx", tmp_path / "out.xlsx", columns=["text"])
    assert not (tmp_path / "out.xlsx").exists()


def test_a_part_that_becomes_too_large_is_refused(private: Privatizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = made(tmp_path / "in.xlsx")
    monkeypatch.setattr("zipfile.ZIP64_LIMIT", 100)
    with pytest.raises(RecordError, match="would be larger than 2 GiB"):
        privatize_file(private, source, tmp_path / "out.xlsx", columns=["text"])
    assert not (tmp_path / "out.xlsx").exists()
