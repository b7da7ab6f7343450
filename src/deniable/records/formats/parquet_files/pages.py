"""What the pages of a Parquet file claim, looked at before Arrow reads them: a small file may stand for gigabytes.

A page of a hundred bytes can say that it holds 2³¹ values, or unpack to 2 GiB, or name one text of a megabyte in thousands of
rows, and Arrow reserves what it says. So the head of every page of a row group is read here first, and of dictionaries and of
texts that take over the beginning of others, the lengths too. What is out of all proportion to the size of the file is refused;
for the rest, ``GroupFacts`` says how few rows must be asked for at a time.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from deniable.errors import RecordError
from deniable.records.formats.parquet_files.footer import (
    BYTE_ARRAY,
    CODECS,
    FIXED_LEN_BYTE_ARRAY,
    Chunk,
    Footer,
    Leaf,
    read_footer,
    read_number,
    read_signed,
    read_struct,
)

FEWEST_VALUES, VALUES_PER_BYTE = 1 << 24, 64
"""How many values any column of a file may have, and how many more for each byte of it. Repeated values take no room in Parquet."""

LARGEST_PAGE, PAGE_RATIO = 128 << 20, 1_000
"""Bytes that any page may unpack to, or as many times its own size."""

LEAST_DECODED, DECODED_RATIO = 256 << 20, 1_000
"""Bytes that any file may be decoded to, or as many times its own size."""

_LONGEST_PAGE_HEAD = 1 << 24
_DATA, _DICTIONARY, _DATA_2 = 0, 2, 3  # kinds of pages
_HEADS = {_DATA: 5, _DICTIONARY: 7, _DATA_2: 8}  # which field of the head tells of the values
_BIT_PACKED, _DELTA_LENGTHS, _DELTA_STRINGS = 4, 6, 7  # encodings
_MOST_MINIBLOCKS = 512
_SHORT_DICTIONARY, _ENTRIES_TO_LOOK_AT = 1 << 12, 1 << 22
_PAGE_HEAD = {1: 0, 2: 0, 3: 0, 5: dict.fromkeys(range(1, 5), 0), 7: {1: 0, 2: 0}, 8: dict.fromkeys(range(1, 8), 0)}


@dataclass(frozen=True, kw_only=True)
class GroupFacts:
    """What the values of a row group may take when they are written out, beside what stands in its pages.

    ``longest_row`` is a bound on the repeated values of one row, in columns that have one value a row. ``nested`` is a bound on all
    those of columns of lists, of which one row may have any number.
    """

    longest_row: int
    nested: int


@dataclass(frozen=True, kw_only=True)
class _Page:
    kind: int
    unpacked: int
    packed: int
    values: int
    encoding: int
    levels: tuple[int, int] | None  # bytes of repetition and definition levels, where the head says so
    level_encodings: tuple[int, int]
    compressed: bool
    at: int  # where its content begins


def size_of(file: BinaryIO) -> int:
    """Return how many bytes an open file has."""
    return os.fstat(file.fileno()).st_size


def most_values(file: BinaryIO) -> int:
    """Return how many values a column of a file may have."""
    return FEWEST_VALUES + VALUES_PER_BYTE * size_of(file)


def most_decoded(file: BinaryIO) -> int:
    """Return how many bytes a file may be decoded to."""
    return max(LEAST_DECODED, DECODED_RATIO * size_of(file))


def checked_footer(file: BinaryIO, path: Path) -> Footer:
    """Return the footer of an open file, whose counts are in proportion to its size; ``path`` is what errors call it.

    :raises RecordError: otherwise, or if there is none.
    :raises OSError: if the file cannot be read.
    """
    try:
        footer = read_footer(file)
    except (LookupError, TypeError, ValueError) as error:
        raise RecordError(path, "not a Parquet file, or a damaged one") from error
    size = size_of(file)
    if footer.rows > most_values(file):
        raise RecordError(path, f"claims {footer.rows:,} records in {size:,} bytes: the file is damaged, or made to take up time")
    claimed = sum(group.size for group in footer.groups)
    if claimed > most_decoded(file):
        raise RecordError(path, f"claims to unpack from {size:,} bytes to {claimed:,}: the file is damaged, or made to fill the memory")
    if sum(group.rows for group in footer.groups) != footer.rows:
        raise RecordError(path, "its row groups do not have the number of records that it states; the file is damaged")
    return footer


def check_group(file: BinaryIO, path: Path, footer: Footer, group: int) -> GroupFacts:
    """Return how to read a row group of an open file, having looked at all of its pages.

    :raises RecordError: if a page is damaged, or claims more than the file has room for.
    """
    longest_row = nested = 0
    try:
        for leaf, chunk in zip(footer.leaves, footer.groups[group].chunks, strict=True):
            values, longest, written = _look_at(file, path, leaf, chunk, group)
            if not leaf.repetition_levels:
                longest_row += longest
                continue
            nested += values * longest
            if written > most_decoded(file) or (leaf.kind == FIXED_LEN_BYTE_ARRAY and values * longest > most_decoded(file)):
                raise _refused(file, path, group, f"lists of {max(written, values * longest):,} bytes")
    except (LookupError, TypeError, ValueError, OverflowError, pa.ArrowException, OSError, MemoryError) as error:
        raise RecordError(path, f"row group {group + 1:,} cannot be read; the file is damaged") from error
    return GroupFacts(longest_row=longest_row, nested=nested)


def _look_at(file: BinaryIO, path: Path, leaf: Leaf, chunk: Chunk, group: int) -> tuple[int, int, int]:
    """Return how many values a column has in a row group, how long the longest is that may be repeated, and all that are delta-encoded."""
    longest = leaf.length if leaf.kind == FIXED_LEN_BYTE_ARRAY else 0
    values, written, most = 0, 0, most_values(file)
    for page in _pages(file, chunk):
        _check_page(file, page, path, group)
        if page.kind == _DICTIONARY:
            if leaf.kind == BYTE_ARRAY:
                longest = max(longest, _longest_entry(file, page, chunk.codec))
            continue
        values += page.values
        if values > most:
            raise _refused(file, path, group, f"{values:,} values")
        if page.encoding in (_DELTA_LENGTHS, _DELTA_STRINGS):
            lengths = _delta_lengths(file, page, leaf, chunk.codec, path, group)
            longest = max(longest, int(lengths.max(initial=0)))
            written += int(lengths.sum())
    return values, longest, written


def _refused(file: BinaryIO, path: Path, group: int, what: str) -> RecordError:
    problem = f"row group {group + 1:,} claims {what} in a file of {size_of(file):,} bytes: damaged, or made to fill the memory"
    return RecordError(path, problem)


def _check_page(file: BinaryIO, page: _Page, path: Path, group: int) -> None:
    if page.unpacked < 0 or page.packed < 0 or page.values < 0:
        raise ValueError("a page of a negative size")
    if page.unpacked > max(LARGEST_PAGE, PAGE_RATIO * page.packed):
        raise _refused(file, path, group, f"a page of {page.unpacked:,} bytes")
    if page.kind == _DICTIONARY and page.values > page.unpacked:
        # Only texts of no length could be as many, and a dictionary has each value once.
        raise _refused(file, path, group, f"a dictionary of {page.values:,} values")


def _pages(file: BinaryIO, chunk: Chunk) -> Iterator[_Page]:
    """Yield the pages of a column in one row group, as far as Arrow would read them."""
    at = chunk.dictionary_at if 0 < chunk.dictionary_at < chunk.pages_at else chunk.pages_at
    end, left = size_of(file), chunk.values
    while left > 0 and at < end:
        page = _page(file, at)
        yield page
        at = page.at + page.packed
        left -= page.values if page.kind != _DICTIONARY else 0


def _page(file: BinaryIO, at: int) -> _Page:
    window = 1 << 9
    while True:
        file.seek(at)
        head = file.read(window)
        try:
            fields, length = read_struct(head, 0, _PAGE_HEAD)
            break
        except IndexError:
            if len(head) < window or window >= _LONGEST_PAGE_HEAD:
                raise
            window *= 8
    kind = fields[1]
    # A page of another kind has no values.
    data: Mapping[int, int] = fields.get(_HEADS[kind], {}) if kind in _HEADS else {}
    second = kind == _DATA_2
    return _Page(
        kind=kind,
        unpacked=fields[2],
        packed=fields[3],
        values=data.get(1, 0),
        encoding=data.get(4 if second else 2, 0),
        levels=(data.get(6, 0), data.get(5, 0)) if second else None,
        level_encodings=(0, 0) if second else (data.get(4, 0), data.get(3, 0)),
        compressed=bool(data.get(7, True)) if second else True,
        at=at + length,
    )


def _content(file: BinaryIO, page: _Page, codec: int) -> bytes:
    """Return what is in a page, unpacked; without the levels where these are not packed."""
    file.seek(page.at)
    packed = file.read(page.packed)
    before = 0 if page.levels is None else sum(page.levels)
    if not 0 <= before <= len(packed) or before > page.unpacked:
        raise ValueError("levels longer than their page")
    name = CODECS[codec]
    if name == "none" or not page.compressed:
        return packed[before:]
    return bytes(pa.decompress(packed[before:], page.unpacked - before, codec=name.replace("lz4", "lz4_raw"), asbytes=True))


def _longest_entry(file: BinaryIO, page: _Page, codec: int) -> int:
    """Return a bound on the length of the texts in a dictionary."""
    if page.unpacked <= _SHORT_DICTIONARY or page.values > _ENTRIES_TO_LOOK_AT:
        return page.unpacked
    try:
        content = _content(file, page, codec)
    except (pa.ArrowException, OSError, ValueError):  # damaged, or packed in a way of its own: Arrow will see
        return page.unpacked
    longest = at = 0
    for _ in range(page.values):
        length = int.from_bytes(content[at : at + 4], "little")
        longest = max(longest, length)
        at += 4 + length
        if at > len(content):
            raise IndexError
    return longest


def _delta_lengths(file: BinaryIO, page: _Page, leaf: Leaf, codec: int, path: Path, group: int) -> NDArray[np.int64]:
    """Return the lengths of the texts in a page, which states their number itself: there must not be more than it has values."""
    content, at = _content(file, page, codec), 0
    if page.levels is None:
        for most, encoding in zip((leaf.repetition_levels, leaf.definition_levels), page.level_encodings, strict=True):
            if most and encoding == _BIT_PACKED:
                raise ValueError("levels in a form that is no longer used")
            at += 4 + int.from_bytes(content[at : at + 4], "little") if most else 0
    runs = []
    for _ in range(2 if page.encoding == _DELTA_STRINGS else 1):
        count = read_number(content, read_number(content, read_number(content, at)[1])[1])[0]
        if count > page.values:
            raise _refused(file, path, group, f"{count:,} texts")
        run, at = _delta_run(content, at)
        runs.append(run)
    lengths = runs[0] if len(runs) == 1 else runs[0] + runs[1]  # what is taken over, and what follows
    if any((run < 0).any() or (run > page.unpacked).any() for run in runs):
        raise ValueError("texts longer than their page")
    return lengths


def _delta_run(content: bytes, at: int) -> tuple[NDArray[np.int64], int]:
    """Return the numbers of a run in Parquet's delta encoding, and where it ends."""
    block, at = read_number(content, at)
    miniblocks, at = read_number(content, at)
    count, at = read_number(content, at)
    first, at = read_signed(content, at)
    if not miniblocks or miniblocks > _MOST_MINIBLOCKS or block % miniblocks or not block or block // miniblocks % 32:
        raise ValueError("blocks of an impossible size")
    each, left = block // miniblocks, count - 1
    steps = [np.zeros(min(count, 1), dtype=np.int64)]
    while left > 0:
        least, at = read_signed(content, at)
        widths = content[at : at + miniblocks]
        at += miniblocks
        if len(widths) < miniblocks or not -(1 << 40) < least < 1 << 40:
            raise IndexError
        for width in widths:
            if left > 0:  # miniblocks after the last number are not there
                here = min(each, left)
                steps.append(least + _unpacked(content[at : at + width * each // 8], width, here))
                at, left = at + width * each // 8, left - here
    if not -(1 << 40) < first < 1 << 40:
        raise ValueError("a length that cannot be")
    return first + np.cumsum(np.concatenate(steps)), at


def _unpacked(packed: bytes, width: int, count: int) -> NDArray[np.int64]:
    if width > 40:
        raise ValueError("a length that cannot be")
    if not width:
        return np.zeros(count, dtype=np.int64)
    bits = np.unpackbits(np.frombuffer(packed, dtype=np.uint8), bitorder="little")[: width * count]
    return bits.reshape(count, width).astype(np.int64) @ (np.int64(1) << np.arange(width, dtype=np.int64))
