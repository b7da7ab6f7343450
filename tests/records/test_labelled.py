"""Labels and texts come out of every format alike; labels may be whole numbers."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deniable.decision import release_file
from deniable.errors import DeniableError, InvalidParameter
from deniable.records.reading import labelled_records

DEFAULTS = {"format": None, "delimiter": None, "header": True, "encoding": "utf-8"}
ROWS = [("1", "one two"), ("", "no label"), ("2", "")]


def written(folder: Path, ending: str) -> Path:
    file = folder / f"a.{ending}"
    if ending == "parquet":
        columns = {
            "y": [1, None, 2],
            "t": ["one two", "no label", None],
            "b": [True, False, None],
            "d": [0.5, None, None],
        }
        pq.write_table(pa.table(columns), file)
    elif ending == "jsonl":
        file.write_text(
            '{"y": 1, "b": true, "t": "one two", "d": 0.5}\n{"t": "no label", "b": false}\n{"y": "2", "t": '
            "null}\n"
        )
    else:
        comma = "," if ending == "csv" else "\t"
        file.write_text("".join(f"{label}{comma}{text}\n" for label, text in [("y", "t"), *ROWS]))
    return file


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "parquet"])
def test_every_format_gives_the_same(ending: str, tmp_path: Path) -> None:
    assert list(labelled_records(written(tmp_path, ending), label_column="y", text_column="t")) == ROWS


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "parquet"])
def test_a_text_column_that_is_not_there_is_refused(ending: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match="body"):
        list(labelled_records(written(tmp_path, ending), label_column="y", text_column="body"))


def test_an_option_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    source, wrong = written(tmp_path, "csv"), {"heading": False}  # the first record would be taken for names
    with pytest.raises(TypeError, match="heading"):
        release_file(source, tmp_path / "out", text=["t"], reading=wrong)
    with pytest.raises(TypeError, match="heading"):
        list(labelled_records(source, label_column="y", text_column="t", **wrong))  # type: ignore[arg-type]


def test_a_file_is_read_as_it_is_said_to_be(tmp_path: Path) -> None:
    file = tmp_path / "a.data"
    file.write_bytes("é;1\nthe;2\n".encode("latin-1"))
    reading = {"format": "csv", "delimiter": ";", "header": False, "encoding": "latin-1"}
    found = labelled_records(file, label_column="2", text_column="1", **reading)  # type: ignore[arg-type]
    assert list(found) == [("1", "é"), ("2", "the")]
    for left_out, advice in (
        ("format", "say it: one of"),
        ("delimiter", "numbers from 1"),
        ("header", "--no-header"),
        ("encoding", "--encoding"),
    ):
        with pytest.raises(DeniableError, match=advice):
            list(
                labelled_records(
                    file,
                    label_column="2",
                    text_column="1",
                    **{**reading, left_out: DEFAULTS[left_out]},  # type: ignore[arg-type]
                )
            )


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_true_and_false_are_labels_where_other_numbers_are_not(ending: str, tmp_path: Path) -> None:
    file = written(tmp_path, ending)
    for decimals in (False, True):
        found = labelled_records(file, label_column="b", text_column="t", decimals=decimals)
        assert [label for label, _ in found] == ["true", "false", ""]
    assert [
        label for label, _ in labelled_records(file, label_column="d", text_column="t", decimals=True)
    ] == ["0.5", "", ""]
    with pytest.raises(DeniableError, match="labels are text, whole numbers, or true and false"):
        list(labelled_records(file, label_column="d", text_column="t"))


def test_columns_that_hold_no_labels_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match="name another one"):
        list(labelled_records(written(tmp_path, "csv"), label_column="t", text_column="t"))
    (tmp_path / "a.txt").write_text("one\n")
    with pytest.raises(InvalidParameter, match="columns"):
        list(labelled_records(tmp_path / "a.txt", label_column="y", text_column="t"))
