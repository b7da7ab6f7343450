"""Parquet files that stand for far more than they hold are read in bounded memory, or refused with one
error."""

from __future__ import annotations

import multiprocessing
import resource
import struct
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deniable.errors import DeniableError, RecordError
from deniable.records.formats import parquet as parquet_rows
from deniable.records.formats.layout import Layout, Roles
from deniable.records.formats.naming import Naming
from deniable.records.formats.parquet import ParquetReader
from deniable.records.formats.source import FileSource
from tests.records.formats.crafted_parquet import (
    DELTA_LENGTHS,
    DELTA_STRINGS,
    FIXED,
    OPTIONAL,
    ZSTD,
    data_page,
    delta_numbers,
    delta_run,
    dictionary_page,
    parquet,
)

MEBIBYTE = 1 << 20


def packed(content: bytes) -> bytes:
    return bytes(pa.compress(content, codec="zstd", asbytes=True))


def repeated_text(length: int, rows: int) -> bytes:
    """Return a file with one text that is the value of every row: it stands there once, packed."""
    out = pa.BufferOutputStream()
    texts = pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), pa.array(["x " * (length // 2)]))
    table = pa.table({"text": texts})
    pq.write_table(
        table,
        out,
        compression="zstd",
        dictionary_pagesize_limit=1 << 30,
        write_statistics=False,
        store_schema=False,
    )
    return bytes(out.getvalue())


def page_of_gibibytes() -> bytes:
    content = packed(bytes(1_000 * MEBIBYTE))
    return parquet(
        data_page(content, 3, unpacked=1_000 * MEBIBYTE), values=3, rows=3, codec=ZSTD, claimed=100
    )


def lying_page() -> bytes:
    return parquet(
        data_page(packed(b"\x01\0\0\0a"), 1, unpacked=(1 << 31) - 1),
        values=1,
        rows=1,
        codec=ZSTD,
        claimed=100,
    )


def delta_texts(encoding: int) -> bytes:
    runs = 2 if encoding == DELTA_STRINGS else 1
    return parquet(data_page(delta_run((1 << 31) - 1) * runs, 10, encoding=encoding), values=10, rows=10)


def rows_out_of_nothing() -> bytes:
    """Return a file of two thousand million missing texts: a run of levels says so in five bytes."""
    count = (1 << 31) - 1
    levels = b"".join((varint_of_run(count), b"\0"))
    page = data_page(struct.pack("<I", len(levels)) + levels, count)
    return parquet(page, values=count, rows=count, repetition=OPTIONAL)


def varint_of_run(count: int) -> bytes:
    value, written = count << 1, bytearray()
    while value > 0x7F:
        written.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*written, value])


def repeated_prefixes() -> bytes:
    """Return a file of 2,048 texts of a megabyte each, of which all but the first take over all of the one
    before them."""
    length, rows = MEBIBYTE, 2048
    prefixes = delta_numbers([0] + [length] * (rows - 1))
    suffixes = delta_numbers([length] + [0] * (rows - 1))
    content = prefixes + suffixes + b"x" * length
    return parquet(
        data_page(packed(content), rows, encoding=DELTA_STRINGS, unpacked=len(content)),
        values=rows,
        rows=rows,
        codec=ZSTD,
    )


def dictionary_of_nothing() -> bytes:
    page = dictionary_page(packed(b""), (1 << 31) - 1, unpacked=0)
    return parquet(page + data_page(b"\x01\x00", 1), values=1, rows=1, codec=ZSTD, dictionary=len(page))


def long_fixed_values() -> bytes:
    length = MEBIBYTE
    page = dictionary_page(packed(bytes(length)), 1, unpacked=length)
    content = packed(b"\x00" + varint_of_run(2048) + b"\0")
    pages = page + data_page(content, 2048, encoding=8, unpacked=4)
    return parquet(pages, values=2048, rows=2048, kind=FIXED, length=length, codec=ZSTD, dictionary=len(page))


def one_long_list() -> bytes:
    """Return a file of one row whose list has one text of a megabyte ten thousand times."""
    texts = pa.DictionaryArray.from_arrays(pa.array([0] * 10_000, pa.int32()), pa.array(["x" * MEBIBYTE]))
    table = pa.table({"text": ["a fox"], "list": pa.ListArray.from_arrays([0, 10_000], texts)})
    out = pa.BufferOutputStream()
    pq.write_table(
        table,
        out,
        compression="zstd",
        dictionary_pagesize_limit=1 << 30,
        write_statistics=False,
        store_schema=False,
    )
    return bytes(out.getvalue())


BOMBS = {
    "one text in one list": one_long_list,
    "one text in many rows": lambda: repeated_text(1_100_000, 2048),
    "a page of a gibibyte": page_of_gibibytes,
    "a page that lies": lying_page,
    "lengths without end": lambda: delta_texts(DELTA_LENGTHS),
    "prefixes without end": lambda: delta_texts(DELTA_STRINGS),
    "rows out of nothing": rows_out_of_nothing,
    "repeated prefixes": repeated_prefixes,
    "a dictionary of nothing": dictionary_of_nothing,
    "long fixed values": long_fixed_values,
}


def read_all(path: Path, naming: Naming | None = None) -> int:
    with closing(FileSource(path)) as source:
        reader = ParquetReader(source, Layout(format="parquet", roles=Roles(text=("text",))), naming)
        return sum(len(reader.write(batch.payloads, batch.texts)) for batch in reader.batches())


def _read_bomb(path: str, answer: multiprocessing.Queue[tuple[str, str, int, int]]) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        found, said = str(read_all(Path(path))), ""
    except DeniableError as error:
        found, said = type(error).__name__, str(error)
    except BaseException as error:
        found, said = "traceback", repr(error)
    parsers = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    answer.put(
        (found, said, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) >> 10, parsers >> 10)
    )


@pytest.mark.parametrize("bomb", BOMBS)
def test_a_bomb_takes_little_memory_and_gives_one_error(tmp_path: Path, bomb: str) -> None:
    path = tmp_path / "in.parquet"
    path.write_bytes(BOMBS[bomb]())
    context = multiprocessing.get_context("spawn")
    answer: Any = context.Queue()
    process = context.Process(target=_read_bomb, args=(str(path), answer))
    process.start()
    found, said, mebibytes, parsers = answer.get(timeout=600)
    process.join()
    assert path.stat().st_size < 120_000
    assert found in ("RecordError", "ParserFailed", "InvalidParameter"), said
    assert str(path) in said or found == "InvalidParameter"
    assert mebibytes < 400
    assert parsers < 1_400


def test_a_repeated_text_within_reason_is_read(tmp_path: Path) -> None:
    path = tmp_path / "in.parquet"
    path.write_bytes(repeated_text(100_000, 1000))
    assert read_all(path) == 1000


@pytest.fixture(scope="module")
def every_kind() -> tuple[pa.Table, list[dict[str, Any]]]:
    """A table with a column of every kind that holds text, and its rows as Python has them."""
    count = 1_500
    texts = [None if i % 7 == 0 else f"{i % 50} words " * (i % 11) for i in range(count)]
    table = pa.table(
        {
            "text": texts,
            "binary": [None if text is None else text.encode() + b"\xff" for text in texts],
            "large": pa.array(texts, pa.large_string()),
            "list": [None if i % 5 == 0 else [texts[i], texts[-i]] for i in range(count)],
            "struct": [{"a": texts[i], "b": i} for i in range(count)],
            "map": pa.array([[("k", texts[i])] for i in range(count)], pa.map_(pa.string(), pa.string())),
            "category": pa.array(texts).dictionary_encode(),
            "number": range(count),
            "fixed": pa.array([b"%04d" % i for i in range(count)], pa.binary(4)),
        }
    )
    return table, table.to_pylist()


@pytest.mark.parametrize(
    ("encoding", "compression", "version"),
    [
        ("dictionary", "none", "1.0"),
        ("dictionary", "snappy", "2.0"),
        ("PLAIN", "gzip", "1.0"),
        ("PLAIN", "lz4", "2.0"),
        ("DELTA_BYTE_ARRAY", "zstd", "1.0"),
        ("DELTA_LENGTH_BYTE_ARRAY", "brotli", "2.0"),
    ],
)
def test_all_columns_come_through_as_arrow_reads_them(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    every_kind: tuple[pa.Table, list[dict[str, Any]]],
    encoding: str,
    compression: str,
    version: str,
) -> None:
    table, rows = every_kind
    path = tmp_path / "in.parquet"
    texts_only = dict.fromkeys(("text", "binary", "large"), encoding)
    options: dict[str, Any] = (
        {"use_dictionary": True}
        if encoding == "dictionary"
        else {"use_dictionary": False, "column_encoding": texts_only}
    )
    pq.write_table(
        table,
        path,
        compression=compression,
        data_page_version=version,
        row_group_size=650,
        data_page_size=2_500,
        **options,
    )
    for most_bytes in (1 << 12, 8 << 20):
        monkeypatch.setattr(parquet_rows, "BYTES_AT_ONCE", most_bytes)
        with closing(FileSource(path)) as source:
            parts = list(parquet_rows.read_parquet(source)[2])
        read = pa.Table.from_batches(parts, schema=parts[0].schema)
        assert read.schema.equals(pq.read_schema(path))
        assert read.to_pylist() == rows
        assert max(part.nbytes for part in parts) <= 8 * most_bytes


def test_an_id_that_is_not_utf8_is_one_error_without_the_id(tmp_path: Path) -> None:
    broken = pa.Array.from_buffers(pa.string(), 2, pa.array([b"ann", b"bob\xff\xfe"], pa.binary()).buffers())
    path = tmp_path / "in.parquet"
    pq.write_table(pa.table({"id": broken, "text": ["a fox", "a dog"]}), path)
    naming = Naming(str(path), column="id")
    with pytest.raises(RecordError, match="an id in records 1 to 2 is not valid UTF-8") as caught:
        read_all(path, naming)
    assert "bob" not in str(caught.value)
    assert caught.value.__cause__ is None
    with closing(FileSource(path)) as source:
        again = ParquetReader(
            source, Layout(format="parquet", roles=Roles(text=("text",))), Naming(str(path), column="id")
        )
        with pytest.raises(RecordError, match="not valid UTF-8"):
            again.skip(2)


def test_the_ids_of_rows_that_were_released_are_remembered(tmp_path: Path) -> None:
    path = tmp_path / "in.parquet"
    ids = [f"p{i}" for i in range(5_000)]
    pq.write_table(pa.table({"id": [*ids, "p7"], "text": ["fox"] * 5_001}), path, row_group_size=900)
    with closing(FileSource(path)) as source:
        reader = ParquetReader(
            source, Layout(format="parquet", roles=Roles(text=("text",))), Naming(str(path), column="id")
        )
        reader.skip(4_000)
        with pytest.raises(RecordError, match="has the id of"):
            list(reader.batches())


@pytest.mark.parametrize(
    "damage", [b"\xff" * 40, b"\x15\x00\x15\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80", b""]
)
def test_pages_that_are_no_pages_are_one_error(tmp_path: Path, damage: bytes) -> None:
    path = tmp_path / "in.parquet"
    path.write_bytes(parquet(damage, values=5, rows=5))
    with pytest.raises(RecordError, match=r"damaged|cannot be read"):
        read_all(path)
