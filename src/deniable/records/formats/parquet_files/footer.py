"""What stands in the footer of a Parquet file, read here and not by Arrow: of a crafted one, asking Arrow for a column ends the process.

A footer is a struct in Thrift's compact form, and so is the head of every page. Only what is needed is kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO, NamedTuple

LONGEST_FOOTER = 32 << 20
"""The most bytes of a footer: what one of ten thousand row groups of a hundred columns has."""

BYTE_ARRAY, FIXED_LEN_BYTE_ARRAY = 6, 7

CODECS = ("none", "snappy", "gzip", "lzo", "brotli", "lz4", "zstd", "lz4")
"""The compressions by their numbers, under the names that Arrow's writer takes."""

_REPEATED, _REQUIRED = 2, 0
_MAGIC = b"PAR1"
_MOST_LEVELS = 100
_DEEPEST = 32

# The fields that are read, by their numbers: 0 for a number, b"" for a text, a mapping for a struct, a mapping in a list for such a list.
_Wanted = Mapping[int, Any]
_COLUMN: _Wanted = {3: {4: 0, 5: 0, 9: 0, 11: 0}}
_FILE: _Wanted = {2: [{1: 0, 2: 0, 3: 0, 4: b"", 5: 0}], 3: 0, 4: [{1: [_COLUMN], 2: 0, 3: 0}]}
_KINDS: Mapping[type, tuple[int, ...]] = {int: (1, 2, 3, 4, 5, 6), bytes: (8,), dict: (12,), list: (9,)}


class Leaf(NamedTuple):
    """A column as it lies in the file: where it stands in the schema, its physical type, and how far it is nested."""

    path: str
    kind: int
    length: int
    repetition_levels: int
    definition_levels: int


class Chunk(NamedTuple):
    """A column in one row group. ``dictionary_at`` is 0 if there is no dictionary."""

    codec: int
    values: int
    pages_at: int
    dictionary_at: int


@dataclass(frozen=True, kw_only=True)
class Group:
    """A row group; ``size`` is what it claims to take when it is decompressed."""

    rows: int
    size: int
    chunks: list[Chunk]


@dataclass(frozen=True, kw_only=True)
class Footer:
    """What a file says of itself."""

    rows: int
    leaves: list[Leaf]
    groups: list[Group]


def read_footer(file: BinaryIO) -> Footer:
    """Return the footer of an open file.

    :raises ValueError: or IndexError, KeyError or TypeError, if there is none.
    :raises OSError: if the file cannot be read.
    """
    size = file.seek(0, 2)
    file.seek(max(0, size - 8))
    length, magic = int.from_bytes(file.read(4), "little"), file.read(4)
    if magic != _MAGIC or length > min(size - 8, LONGEST_FOOTER):
        raise ValueError("no footer")
    file.seek(size - 8 - length)
    fields, _ = read_struct(file.read(length), 0, _FILE)
    leaves = _leaves(fields[2])
    groups = [
        Group(rows=_whole(group[3]), size=max(0, group[2]), chunks=[_chunk(column[3]) for column in group[1]])
        for group in fields.get(4, [])
    ]
    if any(len(group.chunks) != len(leaves) for group in groups):
        raise ValueError("columns are missing")
    return Footer(rows=_whole(fields[3]), leaves=leaves, groups=groups)


def _chunk(column: Mapping[int, Any]) -> Chunk:
    dictionary = max(0, column.get(11, 0))  # some writers put -1 for none
    return Chunk(codec=_whole(column[4]), values=_whole(column[5]), pages_at=_whole(column[9]), dictionary_at=dictionary)


def _whole(value: int) -> int:
    if value < 0:
        raise ValueError("not a count")
    return value


def _leaves(elements: list[Mapping[int, Any]]) -> list[Leaf]:
    """Return the columns of a schema, which is a tree written out in order, each element with the number of its children."""
    leaves: list[Leaf] = []
    inside: list[tuple[str, int, int, int]] = [("", 1, 0, 0)]  # path, elements to come, levels
    for place, element in enumerate(elements):
        while inside and not inside[-1][1]:
            inside.pop()
        above, left, repetition, definition = inside[-1]
        inside[-1] = (above, left - 1, repetition, definition)
        kind = _whole(element.get(3, _REQUIRED)) if place else _REQUIRED
        repetition, definition = repetition + (kind == _REPEATED), definition + (kind != _REQUIRED)
        name = element[4].decode("utf-8") if place else ""
        path = f"{above}.{name}" if above else name
        if children := _whole(element.get(5, 0)):
            inside.append((path, children, repetition, definition))
            if len(inside) > _MOST_LEVELS:
                raise ValueError("nested too deeply")
        elif place:
            leaves.append(Leaf(path, _whole(element[1]), _whole(element.get(2, 0)), repetition, definition))
    return leaves


def read_struct(data: bytes, at: int, wanted: _Wanted, depth: int = 0) -> tuple[dict[int, Any], int]:
    """Return the wanted fields of a struct in Thrift's compact form by their numbers, and where it ends.

    :raises IndexError: if the data ends before the struct does.
    :raises ValueError: if it is no struct, or a field is not what is wanted.
    """
    fields: dict[int, Any] = {}
    number = 0
    while (head := data[at]) != 0:
        at += 1
        if head >> 4:
            number += head >> 4
        else:
            number, at = read_signed(data, at)
        value, at = _value(data, at, head & 0xF, wanted.get(number), depth)
        if value is not None and number in wanted:
            fields[number] = value
    return fields, at + 1


def _value(data: bytes, at: int, kind: int, wanted: Any, depth: int) -> tuple[Any, int]:
    """Return a value of some type, or None if it is not wanted, and where it ends."""
    if depth > _DEEPEST:
        raise ValueError("nested too deeply")
    if wanted is not None and kind not in _KINDS[type(wanted)]:
        raise ValueError("a field of another type than it should have")
    if kind in (1, 2):
        return int(kind == 1), at
    if kind == 3:
        return data[at], at + 1
    if kind in (4, 5, 6):
        return read_signed(data, at)
    if kind == 7:
        return None, at + 8
    if kind == 8:
        length, at = read_number(data, at)
        if at + length > len(data):
            raise IndexError
        return (None if wanted is None else data[at : at + length]), at + length
    if kind == 12:
        fields, at = read_struct(data, at, wanted or {}, depth + 1)
        return (None if wanted is None else fields), at
    if kind in (9, 10):
        return _list(data, at, wanted, depth)
    raise ValueError("no such type")


def _list(data: bytes, at: int, wanted: Any, depth: int) -> tuple[list[Any] | None, int]:
    head = data[at]
    at += 1
    count, kind = head >> 4, head & 0xF
    if count == 15:
        count, at = read_number(data, at)
    if count > len(data) - at:  # each takes a byte at least
        raise IndexError
    found: list[Any] = []
    for _ in range(count):
        # In a list a truth takes a byte of its own.
        value, at = _value(data, at, 3 if kind in (1, 2) else kind, None if wanted is None else wanted[0], depth + 1)
        if wanted is not None:
            found.append(value)
    return (None if wanted is None else found), at


def read_number(data: bytes, at: int) -> tuple[int, int]:
    """Return a number of any length up to 64 bits, and where it ends."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
        if shift > 63:
            raise ValueError("a number of more than 64 bits")


def read_signed(data: bytes, at: int) -> tuple[int, int]:
    """Return a number that may be negative, and where it ends."""
    value, at = read_number(data, at)
    return (value >> 1) ^ -(value & 1), at
