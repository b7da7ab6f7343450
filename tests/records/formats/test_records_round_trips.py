from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
import subprocess
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deniable import Privatizer
from deniable.compression import compress
from deniable.records import privatize_file

ENDINGS = {"": None, ".gz": "gzip", ".bz2": "bzip2", ".xz": "xz", ".zst": "zstd"}


def unpack(data: bytes, ending: str) -> bytes:
    """Unpack with libraries other than the one that reads input, where there is one."""
    if ending == ".zst":
        return bytes(pa.CompressedInputStream(pa.BufferReader(data), "zstd").read())
    unpackers: dict[str, Callable[[bytes], bytes]] = {
        "": bytes,
        ".gz": gzip.decompress,
        ".bz2": bz2.decompress,
        ".xz": lzma.decompress,
    }
    return unpackers[ending](data)


@pytest.fixture(autouse=True)
def _many_checkpoints(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every batch becomes a checkpoint, so that outputs are made of several members."""
    monkeypatch.setattr("deniable.records.job.SECONDS_BETWEEN_CHECKPOINTS", 0.0)
    monkeypatch.setattr("deniable.records.formats.reader._RECORDS_AT_ONCE", 7)


@pytest.mark.parametrize(
    ("ending_in", "ending_out"), list(zip(ENDINGS, [*list(ENDINGS)[1:], ""], strict=True))
)
def test_text_keeps_every_line_in_order_through_any_compression(
    ending_in: str,
    ending_out: str,
    private: Privatizer,
    tmp_path: Path,
    leftovers: Callable[[Path], list[str]],
) -> None:
    lines = [f"word{i} the word{i + 1}" if i % 5 else "" for i in range(40)]
    source, target = tmp_path / f"in.txt{ending_in}", tmp_path / f"out.txt{ending_out}"
    source.write_bytes(compress("".join(line + "\n" for line in lines).encode(), ENDINGS[ending_in]))
    receipt = privatize_file(private, source, target)
    assert unpack(target.read_bytes(), ending_out).decode() == "".join(line + "\n" for line in lines)
    assert receipt is not None
    assert receipt.tally.records == 40
    assert json.loads((tmp_path / (target.name + ".receipt.json")).read_text()) == receipt.to_dict()
    assert leftovers(target) == []


@pytest.mark.parametrize(
    ("command", "ending"), [("gzip", ".gz"), ("bzip2", ".bz2"), ("xz", ".xz"), ("zstd", ".zst")]
)
def test_the_usual_tools_read_compressed_output(
    command: str, ending: str, private: Privatizer, tmp_path: Path
) -> None:
    source, target = tmp_path / "in.txt", tmp_path / f"out.txt{ending}"
    source.write_text("".join(f"word{i}\n" for i in range(30)))
    privatize_file(private, source, target)
    try:
        unpacked = subprocess.run([command, "-dc", target], capture_output=True, check=True).stdout
    except FileNotFoundError:
        pytest.skip(f"{command} is not installed")
    assert unpacked == source.read_bytes()


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize(("format_", "delimiter"), [("csv", ","), ("tsv", "\t")])
def test_cells_of_other_columns_stay_as_they_are(
    format_: str, delimiter: str, ending: str, private: Privatizer, tmp_path: Path
) -> None:
    rows = [
        ["007", "the, quick", "1.50", 'say "x"'],
        ["", "fox\nbrown", "NULL", "a\nb\r\nc"],
        [" 1e5 ", "", "\x00", "\u2028\x85"],
    ] * 10
    written = io.StringIO(newline="")
    csv.writer(written, delimiter=delimiter).writerows([["id", "text", "value", "note"], *rows])
    source, target = tmp_path / f"in.{format_}{ending}", tmp_path / f"out.{format_}{ending}"
    source.write_bytes(compress(written.getvalue().encode(), ENDINGS[ending]))
    privatize_file(private, source, target, columns=["text"])
    text = unpack(target.read_bytes(), ending).decode()
    read = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))
    expected = {"the, quick": "the quick", "fox\nbrown": "fox brown", "": ""}
    assert read == [["id", "text", "value", "note"], *([row[0], expected[row[1]], *row[2:]] for row in rows)]


@pytest.mark.parametrize("ending", ENDINGS)
def test_other_json_values_keep_their_bytes(ending: str, private: Privatizer, tmp_path: Path) -> None:
    records = [
        r'{"id": 123456789012345678901234567890, "text": "the\u0020quick", "n": 1.10, '
        r'"deep": {"a" : [1, 2,  {"a":1,"a":2}]}, "u": "\u00e9"}',
        '{"text": null, "x": true}',
        '{"x": 1E400}',
        '{"text": "", "e": -0.0}',
    ] * 5
    source, target = tmp_path / f"in.jsonl{ending}", tmp_path / f"out.jsonl{ending}"
    source.write_bytes(compress("\n".join(records).encode(), ENDINGS[ending]))
    privatize_file(private, source, target, columns=["text"])
    expected = [
        '{"id":123456789012345678901234567890,"text":"the quick","n":1.10,"deep":{"a" : [1, 2,  '
        '{"a":1,"a":2}]},"u":"\\u00e9"}',
        '{"text":null,"x":true}',
        '{"x":1E400}',
        '{"text":"","e":-0.0}',
    ] * 5
    assert unpack(target.read_bytes(), ending).decode().split("\n") == [*expected, ""]


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())]
)
def test_parquet_keeps_types_metadata_nulls_and_order(
    kind: pa.DataType, private: Privatizer, tmp_path: Path
) -> None:
    texts = ["the quick", None, "", "fox fox", *(f"word{i}" for i in range(50))]
    n = len(texts)
    plain = pa.array(texts, type=pa.string())
    table = pa.table(
        {
            "id": pa.array(range(n), type=pa.uint16()),
            "text": plain.dictionary_encode() if pa.types.is_dictionary(kind) else plain.cast(kind),
            "when": pa.array([None, *range(n - 1)], type=pa.timestamp("us", tz="Europe/Rome")),
            "price": pa.array([None, *range(1, n)], type=pa.decimal128(10, 2)),
            "kind": pa.array([f"k{i % 3}" for i in range(n)]).dictionary_encode(),
            "nested": pa.array([[{"a": i, "b": "the"}] if i % 4 else None for i in range(n)]),
            "blob": pa.array([b"\xff" * (i % 3) for i in range(n)], type=pa.large_binary()),
        }
    ).replace_schema_metadata({"made by": "a test"})
    field = table.schema.field("id").with_metadata({"unit": "none"})
    table = table.cast(table.schema.set(0, field))
    source, target = tmp_path / "in.parquet", tmp_path / "out.parquet"
    pq.write_table(table, source, row_group_size=11, compression="gzip")
    with pytest.warns(UserWarning, match="own metadata"):
        receipt = privatize_file(private, source, target, columns=["text"])
    before, after = pq.read_table(source), pq.read_table(target)
    assert after.schema.equals(before.schema, check_metadata=True)
    assert after.equals(before)
    assert pq.ParquetFile(target).metadata.row_group(0).column(0).compression == "GZIP"
    assert receipt is not None
    assert receipt.tally.missing == 1
    assert "id, when, price" in receipt.public[-1]


def test_several_columns_are_privatized_each_in_its_place(private: Privatizer, tmp_path: Path) -> None:
    table = pa.table(
        {"a": [f"word{i}." for i in range(30)], "b": ["x"] * 30, "c": [f"word{i}! the" for i in range(30)]}
    )
    source, target = tmp_path / "in.parquet", tmp_path / "out.parquet"
    pq.write_table(table, source)
    receipt = privatize_file(private, source, target, columns=["c", "a"])
    assert pq.read_table(target).to_pydict() == {
        "a": [f"word{i}" for i in range(30)], "b": ["x"] * 30, "c": [f"word{i} the" for i in range(30)],
    }  # fmt: skip
    assert receipt is not None
    assert "adds up over its cells" in receipt.relaxations[-1]


@pytest.mark.parametrize("ordered", [False, True])
def test_more_released_texts_than_the_dictionary_could_count_go_through(
    noisy: Privatizer, tmp_path: Path, ordered: bool
) -> None:
    source, target = tmp_path / "in.parquet", tmp_path / "out.parquet"
    indices = pa.array([0, 1, None] * 200, pa.int8())
    column = pa.DictionaryArray.from_arrays(
        indices, pa.array(["the quick brown", "fox the"]), ordered=ordered
    )
    untouched = pa.DictionaryArray.from_arrays(indices, pa.array(["k0", "k1"]), ordered=ordered)
    pq.write_table(pa.table({"t": column, "k": untouched, "n": pa.array(range(600), pa.int16())}), source)
    privatize_file(noisy, source, target, columns=["t"])
    before, after = pq.read_table(source), pq.read_table(target)
    assert after.schema.field("t").type == pa.dictionary(pa.int32(), pa.string())
    assert after.schema.remove(0) == before.schema.remove(0)
    assert after.drop_columns(["t"]) == before.drop_columns(["t"])
    released = after["t"].to_pylist()
    assert len(set(released)) > 128
    assert [text is None for text in released] == [text is None for text in before["t"].to_pylist()]


@pytest.mark.parametrize(
    ("table", "told"),
    [
        (pa.table({"t": ["fox"]}), None),
        (pa.table({"t": ["fox"], "n": [1]}), "every value of the column n"),
        (
            pa.table({"t": ["fox"], "n": [1]}).replace_schema_metadata({"k": "v"}),
            "every value of the column n and the file's own metadata",
        ),
        (pa.table({"t": ["fox"]}).replace_schema_metadata({"k": "v"}), "the file's own metadata"),
        (
            pa.table([["fox"]], schema=pa.schema([pa.field("t", pa.string(), metadata={"k": "v"})])),
            "the file's own metadata",
        ),
        (
            pa.table(
                [["fox"], [[1]]],
                schema=pa.schema(
                    {"t": pa.string(), "n": pa.list_(pa.field("x", pa.int8(), metadata={"k": "v"}))}
                ),
            ),
            "every value of the column n and the file's own metadata",
        ),
        (
            pa.table({"t": ["fox"]}).replace_schema_metadata({"pandas": '{"columns": [], "attributes": {}}'}),
            None,
        ),
        (
            pa.table({"t": ["fox"]}).replace_schema_metadata(
                {"pandas": '{"columns": [], "attributes": {"a": 1}}'}
            ),
            "the file's own metadata",
        ),
        (pa.table({"t": ["fox"]}).replace_schema_metadata({"pandas": "secret"}), "the file's own metadata"),
        (
            pa.table({"t": ["fox"]}).replace_schema_metadata(
                {"pandas": '{"columns": [{"field_name": "t", "metadata": {"num_categories": 9}}]}'}
            ),
            None,
        ),
    ],
)
def test_the_receipt_says_what_of_a_parquet_file_is_released_as_it_is(
    private: Privatizer, tmp_path: Path, table: pa.Table, told: str | None
) -> None:
    pq.write_table(table, tmp_path / "in.parquet")
    warned = told is not None and "metadata" in told
    with pytest.warns(UserWarning, match="own metadata") if warned else nullcontext():
        receipt = privatize_file(private, tmp_path / "in.parquet", tmp_path / "out.parquet", columns=["t"])
    assert receipt is not None
    assert [line.partition(": ")[2] for line in receipt.public if line.startswith("released exactly")] == (
        [told] if told else []
    )


def test_how_many_different_texts_there_were_is_not_noted_for_pandas(
    private: Privatizer, tmp_path: Path
) -> None:
    import pandas as pd

    noted = []
    for texts in (["fox"] * 4, ["fox", "the", "brown", "quick"]):
        frame = pd.DataFrame({"t": pd.Categorical(texts), "kind": pd.Categorical(["a", "b", "a", "b"])})
        frame.to_parquet(tmp_path / "in.parquet")
        privatize_file(private, tmp_path / "in.parquet", tmp_path / "out.parquet", columns=["t"], force=True)
        note = json.loads(pq.read_schema(tmp_path / "out.parquet").metadata[b"pandas"])
        noted.append({column["field_name"]: column["metadata"] for column in note["columns"]})
        again = pd.read_parquet(tmp_path / "out.parquet")
        assert again["t"].tolist() == texts, "at this ε nothing changes"
        assert again["kind"].dtype == "category"
    assert noted[0] == noted[1] == {"t": {"ordered": False}, "kind": {"num_categories": 2, "ordered": False}}


@pytest.mark.parametrize("rows", [["quick", None, "the"], [None, None, None]])
def test_values_of_a_dictionary_that_stand_in_no_row_are_not_released(
    private: Privatizer, tmp_path: Path, rows: list[str | None]
) -> None:
    """As where a table was filtered: nobody looked at them."""
    values = ["the", "anna@example.org", "quick"]
    numbers = pa.array([None if each is None else values.index(each) for each in rows], pa.int8())
    ward = pa.DictionaryArray.from_arrays(numbers, pa.array(values), ordered=True)
    pq.write_table(pa.table({"t": ["fox"] * 3, "ward": ward}), tmp_path / "in.parquet")
    privatize_file(private, tmp_path / "in.parquet", tmp_path / "out.parquet", columns=["t"])
    released = pq.read_table(tmp_path / "out.parquet")["ward"]
    assert released.to_pylist() == rows
    assert released.type == ward.type
    assert released.chunk(0).dictionary.to_pylist() == [each for each in values if each in rows]
    assert b"anna@" not in (tmp_path / "out.parquet").read_bytes()


def test_the_receipt_names_the_columns_of_csv_that_are_released_as_they_are(
    private: Privatizer, tmp_path: Path
) -> None:
    (tmp_path / "in.csv").write_text("id,t,my note\n1,fox,the\n")
    receipt = privatize_file(private, tmp_path / "in.csv", tmp_path / "out.csv", columns=["t"])
    assert receipt is not None
    assert "released exactly as it is: every value of the columns id, my note" in receipt.public


def test_every_cell_of_a_dictionary_column_draws_its_own_noise(noisy: Privatizer, tmp_path: Path) -> None:
    source, target = tmp_path / "in.parquet", tmp_path / "out.parquet"
    pq.write_table(pa.table({"t": pa.array(["the quick"] * 300).dictionary_encode()}), source)
    privatize_file(noisy, source, target, columns=["t"])
    assert len(set(pq.read_table(target)["t"].to_pylist())) > 100
