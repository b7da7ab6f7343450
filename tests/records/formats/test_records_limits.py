"""One record cannot fill the memory, and what is held is not shown."""

from __future__ import annotations

import gzip
import tracemalloc
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deniable import Privatizer, RecordError
from deniable.records import deciding, privatize_file
from deniable.records.formats.layout import Layout, Roles
from deniable.records.formats.lines import LONGEST_RECORD, Lines
from deniable.records.formats.opening import open_reader, open_source
from deniable.records.formats.reader import Batch, Row
from deniable.records.formats.source import FileSource

TOO_LONG = LONGEST_RECORD + 1


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        (
            "in.txt.gz",
            b"fox\n" + b"x" * TOO_LONG + b"\nfox\n",
            "line 2: longer than 16,777,216 characters; split it",
        ),
        ("in.txt.gz", b"fox\nfox\n" + b"x" * TOO_LONG, "line 3: longer than"),
        ("in.csv.gz", b"t\nfox\n" + b"x" * TOO_LONG + b"\n", "line 3: longer than"),
        (
            "in.csv.gz",
            b't\n"a\nb"\n"' + b"fox the\n" * (TOO_LONG // 8),
            "line 4: this record is longer than 16,777,216 characters; split it",
        ),
        ("in.jsonl.gz", b'{"t":"fox"}\n{"t":"' + b"x" * TOO_LONG + b'"}\n', "line 2: longer than"),
    ],
)
def test_a_record_without_end_is_refused_with_its_line(
    private: Privatizer, tmp_path: Path, name: str, data: bytes, says: str
) -> None:
    source = tmp_path / name
    source.write_bytes(gzip.compress(data, 1))
    with pytest.raises(RecordError, match=says):
        privatize_file(private, source, tmp_path / f"out-{name}", columns=[] if "txt" in name else ["t"])
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_record_without_end_is_refused_before_it_is_in_memory(tmp_path: Path) -> None:
    source = tmp_path / "in.txt.gz"
    source.write_bytes(gzip.compress(b"x" * (12 * LONGEST_RECORD), 1))
    opened = FileSource(source)
    tracemalloc.start()
    with pytest.raises(RecordError, match="line 1: "):
        next(iter(Lines(opened)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    opened.close()
    assert peak < 2 * LONGEST_RECORD


def test_a_record_of_the_greatest_length_goes_through(tmp_path: Path) -> None:
    source = tmp_path / "in.txt"
    source.write_bytes(b"fox\n" + b" " * LONGEST_RECORD + b"\nfox")
    opened = FileSource(source)
    assert [len(line) for line in Lines(opened)] == [3, LONGEST_RECORD, 3]
    opened.close()


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())]
)
def test_a_parquet_cell_that_is_too_long_is_refused_with_its_record(
    private: Privatizer, tmp_path: Path, kind: pa.DataType
) -> None:
    texts = pa.array(["fox", None, "x" * TOO_LONG, "fox"])
    table = pa.table(
        {"t": texts.dictionary_encode().cast(kind) if pa.types.is_dictionary(kind) else texts.cast(kind)}
    )
    pq.write_table(table, tmp_path / "in.parquet")
    with pytest.raises(RecordError, match="record 3: a text is longer than 16,777,216 characters; split it"):
        privatize_file(private, tmp_path / "in.parquet", tmp_path / "out.parquet", columns=["t"])
    assert not (tmp_path / "out.parquet").exists()


def test_json_records_without_the_column_are_not_held_without_end(
    private: Privatizer, tmp_path: Path
) -> None:
    source = tmp_path / "in.jsonl"
    source.write_bytes(b'{"other":"%s"}\n' % (b"x" * (LONGEST_RECORD // 4)) * 8)
    layout = Layout(format="jsonl", roles=Roles(text=("t",)))
    with open_source(source) as opened, pytest.raises(ValueError, match="none of the first 4 records"):
        list(open_reader(opened, layout).batches())
    with pytest.raises(ValueError, match="none of the first 4 records"):
        privatize_file(private, source, tmp_path / "out.jsonl", columns=["t"])


def test_no_repr_shows_private_text() -> None:
    row = Row({"t": "secret"}, ("secret",), 6)
    batch = Batch(first=0, counts=[1], texts=["secret"], payloads=[])
    assert "secret" not in f"{row!r} {row} {[row]} {batch!r} {batch}"


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_records_are_released_once_whether_they_are_held_or_read_again(
    private: Privatizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """A job looks at the first records before it releases any: few are held meanwhile, large ones are not."""
    texts = [f"word{i} fox" for i in range(40)]
    rows = {
        "csv": "t,n\n" + "".join(f"{text},{i % 3}\n" for i, text in enumerate(texts)),
        "jsonl": "".join(f'{{"t":"{text}","n":{i % 3}}}\n' for i, text in enumerate(texts)),
    }
    source = tmp_path / f"in.{kind}"
    if kind == "parquet":
        pq.write_table(pa.table({"t": texts, "n": [i % 3 for i in range(40)]}), source)
    else:
        source.write_text(rows[kind])
    for held in (LONGEST_RECORD, 100):
        for judged in (10_000, 10):
            monkeypatch.setattr(deciding, "LONGEST_RECORD", held)
            monkeypatch.setattr(deciding, "JUDGED", judged)
            target = tmp_path / f"out-{held}-{judged}.{kind}"
            receipt = privatize_file(private, source, target, columns=["t"], keep=["n"])
            assert receipt is not None
            assert receipt.tally.records == 40
            if kind == "parquet":
                assert pq.read_table(target)["t"].to_pylist() == texts
            else:
                assert target.read_text() == rows[kind]
