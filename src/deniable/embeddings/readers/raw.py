"""What a reader gives: blocks of words and vectors, and what the file says about itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

from deniable.arrays import Vectors
from deniable.embeddings.subwords import Subwords
from deniable.errors import MalformedEmbedding

Block = tuple[list[str], Vectors]
"""Some words of the file in order, and one vector for each."""

HEADER = re.compile(rb"([0-9]{1,18}) ([0-9]{1,9}) *")
"""The first line of word2vec files: the numbers of words and dimensions."""

_ROWS_AT_ONCE, _BYTES_AT_ONCE = 8192, 1 << 24


@dataclass(frozen=True, kw_only=True)
class RawEmbedding:
    """An embedding file being read. Nothing is held but the current block.

    ``announced`` is the number of words the file claims to have, ``first_line`` the line of the first word
    (None if the format has no lines), and ``subwords`` the vectors of word parts, for the formats that have
    them.
    """

    format: str
    blocks: Iterator[Block]
    announced: int | None = None
    first_line: int | None = None
    subwords: Subwords | None = None


def sizes_of(header: re.Match[bytes], source: Path, *, line: int | None = None) -> tuple[int, int]:
    """Return the numbers of words and dimensions that a header states.

    :raises MalformedEmbedding: if one of them is 0.
    """
    words, dimension = int(header[1]), int(header[2])
    if words == 0 or dimension == 0:
        problem = f"the header says {words} words and {dimension} dimensions: nothing to read"
        raise MalformedEmbedding(source, problem, line=line)
    return words, dimension


def check_count(words: list[str], vectors: int, source: Path) -> None:
    """Raise MalformedEmbedding if there is not one vector for each word."""
    if len(words) != vectors:
        raise MalformedEmbedding(source, f"{len(words):,} words but {vectors:,} vectors")


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
        data = read_whole(file, len(part) * row, source)
        yield part, as_float32(np.frombuffer(data, dtype=dtype).reshape(len(part), dimension))


def read_whole(file: IO[bytes], size: int, source: Path) -> bytes:
    """Return so many bytes of a file.

    :raises MalformedEmbedding: if there are fewer.
    """
    data = file.read(size)
    if len(data) != size:
        raise MalformedEmbedding(source, "an array is cut off; get the file again")
    return data


def as_float32(table: np.ndarray[Any, Any]) -> Vectors:
    """Return a table of numbers in float32; what overflows becomes infinite, and is refused with its word."""
    with np.errstate(over="ignore"):
        return table.astype(np.float32, order="C")
