"""What a reader gives: blocks of words and vectors, and what the file says about itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

from deniable.arrays import Vectors
from deniable.errors import MalformedEmbedding

Block = tuple[list[str], Vectors]
"""Some words of the file in order, and one vector for each."""

_ROWS_AT_ONCE, _BYTES_AT_ONCE = 8192, 1 << 24


@dataclass(frozen=True, kw_only=True)
class RawEmbedding:
    """An embedding file being read. Nothing is held but the current block.

    ``announced`` is the number of words the file claims to have, ``first_line`` the line of the first word
    (None if the format has no lines), and ``write_subwords`` writes the vectors of word parts into a folder,
    for the formats that have them.
    """

    format: str
    blocks: Iterator[Block]
    announced: int | None = None
    first_line: int | None = None
    write_subwords: Callable[[Path], None] | None = None


def blocks_of_table(
    file: IO[bytes], words: list[str], dtype: np.dtype[Any], dimension: int, source: Path
) -> Iterator[Block]:
    """Yield the words with their rows of a table that begins where the file stands, as float32.

    :raises MalformedEmbedding: if the table is cut off.
    """
    row = dimension * dtype.itemsize
    at_once = max(1, min(_ROWS_AT_ONCE, _BYTES_AT_ONCE // max(1, row)))
    for start in range(0, len(words), at_once):
        part = words[start : start + at_once]
        data = file.read(len(part) * row)
        if len(data) != len(part) * row:
            raise MalformedEmbedding(source, "the table of vectors is cut off; get the file again")
        yield part, as_float32(np.frombuffer(data, dtype=dtype).reshape(len(part), dimension))


def as_float32(table: np.ndarray[Any, Any]) -> Vectors:
    """Return a table of numbers in float32; what overflows becomes infinite, and is refused with its word."""
    with np.errstate(over="ignore"):
        return table.astype(np.float32, order="C")
