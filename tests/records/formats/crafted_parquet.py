"""Parquet files written by hand, byte by byte: what no library would write."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from itertools import pairwise

BYTE_ARRAY, INT64, FIXED = 6, 2, 7
PLAIN, DELTA_LENGTHS, DELTA_STRINGS = 0, 6, 7
REQUIRED, OPTIONAL = 0, 1
UNCOMPRESSED, ZSTD = 0, 6
_I32, _I64, _TEXT, _LIST, _STRUCT = 5, 6, 8, 9, 12


def varint(number: int) -> bytes:
    written = bytearray()
    while True:
        written.append(number & 0x7F | (0x80 if number > 0x7F else 0))
        number >>= 7
        if not number:
            return bytes(written)


def zigzag(number: int) -> bytes:
    return varint((number << 1) ^ (number >> 63))


def record(fields: dict[int, tuple[int, bytes]]) -> bytes:
    """Return a struct in Thrift's compact form; fields are given as numbers with their type and content."""
    written, last = b"", 0
    for number, (kind, content) in sorted(fields.items()):
        written += bytes([(number - last) << 4 | kind]) + content
        last = number
    return written + b"\0"


def number(value: int, kind: int = _I32) -> tuple[int, bytes]:
    return kind, zigzag(value)


def text(value: bytes) -> tuple[int, bytes]:
    return _TEXT, varint(len(value)) + value


def many(items: Sequence[bytes], kind: int = _STRUCT) -> tuple[int, bytes]:
    head = bytes([len(items) << 4 | kind]) if len(items) < 15 else bytes([0xF0 | kind]) + varint(len(items))
    return _LIST, head + b"".join(items)


def delta_run(count: int, *, block: int = 1 << 27) -> bytes:
    """Return a delta-encoded run of zeros, as many as wanted in a few bytes."""
    blocks = max(1, -(-(count - 1) // block))
    return varint(block) + varint(1) + varint(count) + zigzag(0) + (zigzag(0) + b"\0") * blocks


def delta_numbers(numbers: Sequence[int]) -> bytes:
    """Return numbers in the delta encoding, in blocks of one miniblock of 128."""
    steps = [after - before for before, after in pairwise(numbers)]
    written = varint(128) + varint(1) + varint(len(numbers)) + zigzag(numbers[0])
    for start in range(0, len(steps), 128):
        block = steps[start : start + 128]
        least = min(block)
        packed = b"".join(struct.pack("<I", step - least) for step in block + [least] * (128 - len(block)))
        written += zigzag(least) + (b"\x20" + packed if any(packed) else b"\0")
    return written


def data_page(content: bytes, values: int, *, encoding: int = PLAIN, unpacked: int | None = None) -> bytes:
    head = record({1: number(values), 2: number(encoding), 3: number(3), 4: number(3)})
    size = len(content) if unpacked is None else unpacked
    return record({1: number(0), 2: number(size), 3: number(len(content)), 5: (_STRUCT, head)}) + content


def dictionary_page(content: bytes, values: int, *, unpacked: int | None = None) -> bytes:
    head = record({1: number(values), 2: number(PLAIN)})
    size = len(content) if unpacked is None else unpacked
    return record({1: number(2), 2: number(size), 3: number(len(content)), 7: (_STRUCT, head)}) + content


def parquet(
    pages: bytes,
    *,
    values: int,
    rows: int,
    kind: int = BYTE_ARRAY,
    name: bytes = b"text",
    codec: int = UNCOMPRESSED,
    dictionary: int | None = None,
    claimed: int | None = None,
    length: int | None = None,
    repetition: int = REQUIRED,
) -> bytes:
    """Return a file of one row group with one column; ``dictionary`` is the length of the dictionary page
    that the pages begin with."""
    size = len(pages)
    column = {
        1: number(kind),
        2: many([zigzag(PLAIN)], _I32),
        3: many([varint(len(name)) + name], _TEXT),
        4: number(codec),
        5: number(values, _I64),
        6: number(size if claimed is None else claimed, _I64),
        7: number(size, _I64),
        9: number(4 + (dictionary or 0), _I64),
    }
    if dictionary is not None:
        column[11] = number(4, _I64)
    chunk = record({2: number(4, _I64), 3: (_STRUCT, record(column))})
    group = record(
        {1: many([chunk]), 2: number(size if claimed is None else claimed, _I64), 3: number(rows, _I64)}
    )
    leaf = {1: number(kind), 3: number(repetition), 4: text(name)} | (
        {6: number(0)} if kind == BYTE_ARRAY else {}
    )
    if length is not None:
        leaf[2] = number(length)
    schema = [record({4: text(b"root"), 5: number(1)}), record(leaf)]
    footer = record({1: number(2), 2: many(schema), 3: number(rows, _I64), 4: many([group])})
    return b"PAR1" + pages + footer + struct.pack("<I", len(footer)) + b"PAR1"
