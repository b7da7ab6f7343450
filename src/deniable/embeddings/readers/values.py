"""Decimal numbers of many lines at once, and the exact reason when one of them is not a number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deniable.arrays import Vectors
from deniable.errors import MalformedEmbedding

_STARTS_OF_NUMBERS = frozenset(bytes([start]) for start in b"+-.0123456789iInN")


def parse_values(tails: Sequence[bytes], dimension: int, *, source: Path, first_line: int) -> Vectors:
    """Return the values of lines that hold ``dimension`` numbers each, separated by single spaces.

    Arrow parses a whole block in one call; only when that fails are the lines looked at one by one to say
    which.

    :raises MalformedEmbedding: with the line and the value, if one is not a finite number.
    """
    if (values := _parse_rows(tails, dimension)) is None:
        bad = _first_bad(tails, lambda part: _parse_rows(part, dimension) is None)
        raise MalformedEmbedding(source, _problem(tails[bad], dimension), line=first_line + bad)
    return values.reshape(len(tails), dimension)


def is_number(field: bytes) -> bool:
    """Return whether a field reads as a number (NaN and infinity included)."""
    return field[:1] in _STARTS_OF_NUMBERS and b" " not in field and _parse(field) is not None


def are_numbers(fields: bytes) -> bool:
    """Return whether all fields, separated by single spaces, read as numbers (NaN and infinity included)."""
    return _parse(fields) is not None


def _parse_rows(tails: Sequence[bytes], dimension: int) -> Vectors | None:
    values = _parse(b" ".join(tails))
    return (
        None
        if values is None or values.size != len(tails) * dimension or not np.isfinite(values).all()
        else values
    )


def _first_bad(parts: Sequence[bytes], is_bad: Callable[[Sequence[bytes]], bool]) -> int:
    """Return the place of the first bad part, by halves: one by one, a file of millions of small lines would
    take minutes."""
    start, end = 0, len(parts)
    while end - start > 1:
        middle = (start + end) // 2
        start, end = (start, middle) if is_bad(parts[start:middle]) else (middle, end)
    return start


def _parse(text: bytes) -> Vectors | None:
    try:
        joined = pa.array([text], pa.large_binary()).cast(pa.large_string())
        parsed: Vectors = pc.cast(pc.split_pattern(joined, " ").flatten(), pa.float32()).to_numpy()
    except pa.ArrowInvalid:
        return None
    return parsed


def _problem(tail: bytes, dimension: int) -> str:
    fields = tail.split(b" ")
    if len(fields) != dimension:
        return f"{len(fields):,} values where {dimension:,} were expected"
    field = fields[_first_bad(fields, lambda part: _parse_rows(part, 1) is None)]
    if field == b"":
        return "two spaces in a row: a value is missing"
    shown = repr(field[:50].decode("utf-8", "backslashreplace"))
    if _parse(field) is None:
        return f"{shown} is not a number"
    return f"the value {shown} is not a finite float32 number"
