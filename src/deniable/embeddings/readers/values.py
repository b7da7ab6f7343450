"""Decimal numbers of many lines at once, and the exact reason when one of them is not a number."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deniable.arrays import Vectors
from deniable.errors import MalformedEmbedding


def parse_values(tails: Sequence[bytes], dimension: int, *, source: Path, first_line: int) -> Vectors:
    """Return the values of lines that hold ``dimension`` numbers each, separated by single spaces.

    Arrow parses a whole block in one call; only when that fails are the lines looked at one by one to say which.

    :raises MalformedEmbedding: with the line and the value, if one is not a finite number.
    """
    values = _parse(b" ".join(tails))
    if values is None or values.size != len(tails) * dimension or not np.isfinite(values).all():
        for offset, tail in enumerate(tails):
            row = _parse(tail)
            if row is None or row.size != dimension or not np.isfinite(row).all():
                raise MalformedEmbedding(source, _problem(tail, dimension), line=first_line + offset)
        raise MalformedEmbedding(source, "cannot be parsed", line=first_line)  # pragma: no cover - every bad block has a bad line
    return values.reshape(len(tails), dimension)


def is_number(field: bytes) -> bool:
    """Return whether a field reads as a number (NaN and infinity included)."""
    return _parse(field) is not None


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
    for field in fields:
        value = _parse(field)
        shown = repr(field[:50].decode("utf-8", "backslashreplace"))
        if field == b"":
            return "two spaces in a row: a value is missing"
        if value is None:
            return f"{shown} is not a number"
        if not np.isfinite(value).all():
            return f"the value {shown} is not a finite float32 number"
    return "cannot be parsed"  # pragma: no cover - a line fails only through one of its fields
