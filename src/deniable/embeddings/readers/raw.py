"""What a reader gives: blocks of words and vectors, and what the file says about itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from deniable.arrays import Vectors

Block = tuple[list[str], Vectors]
"""Some words of the file in order, and one vector for each."""


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

    def place(self, row: int) -> str:
        """Return where the word of a row stands, in words."""
        return f"word {row + 1:,}" if self.first_line is None else f"line {self.first_line + row:,}"

    def line(self, row: int) -> int | None:
        """Return the line of a row, if the format has lines."""
        return None if self.first_line is None else self.first_line + row
