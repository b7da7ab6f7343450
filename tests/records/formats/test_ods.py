"""Spreadsheets of OpenDocument: private cells are released, other cells stay, and nothing quotes what stood in a private cell."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas
import pytest

from deniable import Keyed, Multivariate, Privatizer
from deniable.embeddings.embedding import Embedding
from deniable.errors import RecordError
from deniable.records import privatize_file
from deniable.records.rewriting import read_texts
from tests.support.made_ods import content_of, leaky_ods, ods_parts
from tests.support.made_xlsx import unzipped, zipped

_SHEET = (
    '<table:table table:name="S"><table:table-row><table:table-cell office:value-type="string"><text:p>text</text:p></table:table-cell>'
    "</table:table-row></table:table>"
)


def read(path: Path, sheet: str | int = 0, *, header: int | None = 0) -> list[list[Any]]:
    frame = pandas.read_excel(path, sheet_name=sheet, engine="odf", header=header, keep_default_na=False)
    return [list(row) for row in frame.itertuples(index=False)]


def written(path: Path, rows: Sequence[Sequence[str | int | None]]) -> Path:
    path.write_bytes(zipped(ods_parts(rows)))
    return path


def test_private_cells_are_released_and_all_other_cells_stay(private: Privatizer, tmp_path: Path) -> None:
    frame = pandas.DataFrame({"id": [1, 2, 3], "text": ["the, quick", "", "fox!"], "when": pandas.to_datetime(["2026-01-02"] * 3)})
    with pandas.ExcelWriter(tmp_path / "in.ods", engine="odf") as writer:
        frame.to_excel(writer, sheet_name="Notes", index=False)
        frame.to_excel(writer, sheet_name="Other", index=False)
    receipt = privatize_file(private, tmp_path / "in.ods", tmp_path / "out.ods", columns=["text"])
    before, after = read(tmp_path / "in.ods"), read(tmp_path / "out.ods")
    assert [row[1] for row in after] == ["the quick", "", "fox"]
    assert [[row[0], row[2]] for row in after] == [[row[0], row[2]] for row in before]
    assert read(tmp_path / "out.ods", "Other") == before
    assert receipt is not None
    assert "every cell of the sheet Other" in receipt.public[-1]
    with zipfile.ZipFile(tmp_path / "out.ods") as archive:  # other programs tell the kind of file by this
        assert archive.infolist()[0].filename == "mimetype"
        assert archive.infolist()[0].compress_type == zipfile.ZIP_STORED


def test_nothing_in_the_file_quotes_a_private_cell(private: Privatizer, tmp_path: Path) -> None:
    (tmp_path / "in.ods").write_bytes(zipped(leaky_ods("qzxsecret")))
    privatize_file(private, tmp_path / "in.ods", tmp_path / "out.ods", columns=["text"])
    out = unzipped((tmp_path / "out.ods").read_bytes())
    assert set(out) == {"mimetype", "content.xml", "styles.xml", "META-INF/manifest.xml"}
    assert [part for part, written in out.items() if b"qzx" in written] == []
    content = out["content.xml"].decode()
    assert 'table:formula="of:=[.B2]"></table:table-cell>' in content
    assert 'office:date-value="2026-01-02"><text:p>02.01.26</text:p>' in content
    assert '<text:a xlink:href="http://x">here</text:a>' in content
    assert "named-range" not in content
    assert b'style:data-style-name="N1"' in out["styles.xml"]
    assert 'table:number-rows-repeated="1048000"' in content
    assert len(list(read_texts(tmp_path / "out.ods", column="text"))) == 2
    assert read(tmp_path / "out.ods")[1][2] == pandas.Timestamp(2026, 1, 2)


def test_the_bytes_do_not_depend_on_how_long_private_words_are(tmp_path: Path, embedding: Embedding) -> None:
    seen = []
    for secret in ("q", "qzx" * 4_000):
        (tmp_path / "in.ods").write_bytes(zipped(leaky_ods(secret)))
        private = Privatizer(Multivariate(embedding, epsilon=1.0), randomness=Keyed(bytes(32)))
        privatize_file(private, tmp_path / "in.ods", tmp_path / "out.ods", columns=["text"], record_id="id", force=True)
        seen.append((tmp_path / "out.ods").read_bytes())
    assert seen[0] == seen[1]


def test_equal_rows_and_cells_are_released_each_by_itself(noisy: Privatizer, tmp_path: Path) -> None:
    rows = (
        '<table:table table:name="S"><table:table-row><table:table-cell office:value-type="string"><text:p>a</text:p></table:table-cell>'
        '<table:table-cell office:value-type="string"><text:p>b</text:p></table:table-cell></table:table-row>'
        '<table:table-row table:number-rows-repeated="20"><table:table-cell table:number-columns-repeated="2" office:value-type="string">'
        "<text:p>the quick brown fox</text:p></table:table-cell></table:table-row></table:table>"
    )
    (tmp_path / "in.ods").write_bytes(zipped({**ods_parts([]), "content.xml": content_of(rows)}))
    privatize_file(noisy, tmp_path / "in.ods", tmp_path / "out.ods", columns=["b"])
    out = read(tmp_path / "out.ods")
    assert [row[0] for row in out] == ["the quick brown fox"] * 20
    assert len({row[1] for row in out}) == 20


def test_whether_texts_were_equal_is_not_seen(tmp_path: Path, embedding: Embedding) -> None:
    seen = []
    for texts in (["qzx", "qzx", "qzx"], ["qzx", "zyx", "xyz"]):
        source = written(tmp_path / "in.ods", [["text", "n"], *[[text, "x"] for text in texts]])
        private = Privatizer(Multivariate(embedding, epsilon=1.0), unknown="redact")
        privatize_file(private, source, tmp_path / "out.ods", columns=["text"], force=True)
        seen.append((tmp_path / "out.ods").read_bytes())
    assert seen[0] == seen[1]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (content_of('<table:tracked-changes/><table:table table:name="S"/>'), "recorded changes"),
        (content_of('<table:table table:name="S"/><table:data-pilot-tables/>'), "pivot table"),
        (content_of('<table:table table:name="S"><table:shapes><table:table/></table:shapes></table:table>'), "a sheet inside another"),
        (content_of(f"<table:label-ranges>{_SHEET}</table:label-ranges>{_SHEET}"), "a sheet where none belongs"),
        (content_of(f'<x:y xmlns:x="urn:x">{_SHEET}</x:y>{_SHEET}'), "a sheet where none belongs"),
        (content_of(_SHEET.replace("<table:table-row>", "<table:foo><table:table-row/></table:foo><table:table-row>")), "a row where none"),
        (content_of(f"<table:table-row/>{_SHEET}"), "a row where none belongs"),
        (content_of(_SHEET.replace("<table:table-row>", "<table:table-source/><table:table-row>")), "links to other documents"),
        (content_of(_SHEET.replace("<text:p>", "<table:cell-range-source/><text:p>")), "links to other documents"),
        (content_of(""), "has no sheet"),
        ("<!DOCTYPE x><x/>", "is not XML"),
        (content_of('<table:table table:name="S"><table:table-row table:number-rows-repeated="0"/></table:table>'), "a wrong number"),
    ],
)  # fmt: skip
def test_what_keeps_copies_or_is_damaged_is_refused_in_one_line(private: Privatizer, tmp_path: Path, content: str, said: str) -> None:
    (tmp_path / "in.ods").write_bytes(zipped({**ods_parts([]), "content.xml": content}))
    with pytest.raises(RecordError, match=said):
        privatize_file(private, tmp_path / "in.ods", tmp_path / "out.ods", columns=["text"])
    assert not list(tmp_path.glob("out*"))


def test_what_a_formula_of_another_cell_fills_in_does_not_pass(private: Privatizer, tmp_path: Path) -> None:
    """Cells of a matrix hold its last results, and no formula of their own."""
    text = '<table:table-cell office:value-type="string"><text:p>{}</text:p></table:table-cell>'
    matrix = (
        '<table:table-cell table:formula="of:=[.A1:.A2]" table:number-matrix-rows-spanned="2" table:number-matrix-columns-spanned="2" '
        'office:value-type="string"><text:p>qzx</text:p></table:table-cell>'
    )
    rows = [
        text.format("text") + text.format("more"),
        text.format("fox") + matrix + text.format("qzx"),
        text.format("fox") + text.format("qzx") * 2 + text.format("beside"),
        text.format("fox") + text.format("below"),
    ]
    listed = "".join(f'<table:table-row table:visibility="filter">{row}</table:table-row>' for row in rows)
    content = content_of(f'<table:table table:name="S">{listed}</table:table>')
    (tmp_path / "in.ods").write_bytes(zipped({**ods_parts([]), "content.xml": content}))
    privatize_file(private, tmp_path / "in.ods", tmp_path / "out.ods", columns=["text"])
    out = unzipped((tmp_path / "out.ods").read_bytes())["content.xml"]
    assert b"qzx" not in out
    assert b"visibility" not in out
    assert b"beside" in out
    assert b"below" in out


def test_a_row_that_stands_there_a_million_times_is_refused(private: Privatizer, tmp_path: Path) -> None:
    rows = '<table:table table:name="S"><table:table-row table:number-rows-repeated="1000000"><table:table-cell office:value-type="string">'
    whole = content_of(f"{rows}<text:p>text</text:p></table:table-cell></table:table-row></table:table>")
    (tmp_path / "in.ods").write_bytes(zipped({**ods_parts([]), "content.xml": whole}))
    with pytest.raises(RecordError, match="row 1: stands there 1,000,000 times"):
        privatize_file(private, tmp_path / "in.ods", tmp_path / "out.ods", columns=["text"])


def test_a_formula_in_a_private_column_is_refused_with_its_row(private: Privatizer, tmp_path: Path) -> None:
    parts = leaky_ods("qzxsecret")
    (tmp_path / "in.ods").write_bytes(zipped(parts))
    with pytest.raises(RecordError, match="sheet 'Notes', row 2: a private text is made by a formula"):
        privatize_file(private, tmp_path / "in.ods", tmp_path / "out.ods", columns=["more"])


def test_how_private_cells_look_is_not_seen_in_what_is_left_of_other_cells(tmp_path: Path, embedding: Embedding) -> None:
    """Nor are widths, the grouping of equal columns and rows, or spans of text inside a private cell."""
    formats = "".join(
        f'<number:number-style style:name="N{i}"><number:number number:decimal-places="{i}"/></number:number-style>'
        f'<style:style style:name="ce{i}" style:family="table-cell" style:data-style-name="N{i}"/>'
        for i in range(1, 6)
    )
    bold = '<style:style style:name="T1" style:family="text"><style:text-properties fo:font-weight="bold"/></style:style>'
    cell = '<table:table-cell table:style-name="{}" office:value-type="string"><text:p>{}</text:p></table:table-cell>'
    number = '<table:table-cell table:style-name="{}" office:value-type="float" office:value="1"><text:p>1</text:p></table:table-cell>'
    column = '<table:table-column table:default-cell-style-name="{}" table:number-columns-repeated="{}"/>'
    empty = '<table:table-cell table:style-name="{}" table:number-columns-repeated="{}"/>'
    header = "".join(cell.format("", name) for name in ("id", "text", "more"))
    plain = [
        column.format("ce4", 3),
        header, cell.format("", "a") + cell.format("ce4", "qzx") + number.format("ce4"), cell.format("", "b") + empty.format("ce4", 2),
        empty.format("ce4", 3), empty.format("ce4", 3),
    ]  # fmt: skip
    secret = cell.format("ce1", 'q<text:span text:style-name="T1">zx</text:span>')
    styled = [
        column.format("ce4", 1) + column.format("ce2", 1) + column.format("ce4", 1),
        header, cell.format("", "a") + secret + number.format("ce4"),
        cell.format("", "b") + empty.format("ce1", 1) + empty.format("ce4", 1),
        empty.format("ce4", 1) + empty.format("ce3", 1) + empty.format("ce4", 1), empty.format("ce4", 3),
    ]  # fmt: skip
    seen = []
    for (columns, *rows), styles in ((plain, formats), (styled, formats + bold)):
        listed = "".join(f"<table:table-row>{row}</table:table-row>" for row in rows)
        content = content_of(f'<table:table table:name="S">{columns}{listed}</table:table>', styles)
        (tmp_path / "in.ods").write_bytes(zipped({**ods_parts([]), "content.xml": content}))
        private = Privatizer(Multivariate(embedding, epsilon=1.0), randomness=Keyed(bytes(32)))
        privatize_file(private, tmp_path / "in.ods", tmp_path / "out.ods", columns=["text"], record_id="id", force=True)
        seen.append(unzipped((tmp_path / "out.ods").read_bytes()))
    assert seen[0] == seen[1]
    assert b'<table:table-cell table:style-name="ce1" office:value-type="float"' in seen[0]["content.xml"]
    assert b'number:decimal-places="4"' in seen[0]["styles.xml"]
    assert b'number:decimal-places="1"' not in seen[0]["styles.xml"]


def test_cells_that_stand_there_too_often_are_refused_in_all_sheets_together(
    private: Privatizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("deniable.records.formats.spreadsheets.ods._MOST_CELLS", 100)
    equal = _SHEET.replace("<table:table-row>", '<table:table-row table:number-rows-repeated="60">')
    (tmp_path / "in.ods").write_bytes(zipped({**ods_parts([]), "content.xml": content_of(_SHEET + equal.replace('"S"', '"T"') * 2)}))
    with pytest.raises(RecordError, match="has more than 100 cells that say the same"):
        privatize_file(private, tmp_path / "in.ods", tmp_path / "out.ods", columns=["text"])
