"""A .npy table of float32 that grows by blocks of rows, so that no file is ever held in memory twice."""

from __future__ import annotations

import os
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np

from deniable.arrays import Vectors

_HEADER_BYTES = 128


class GrowingArray:
    """Writes rows to a .npy file; the header, whose length is fixed, is written last, when the number of rows is known.

    A file that was never finished begins with zeros, so nothing takes it for an array.
    """

    def __init__(self, path: Path) -> None:
        self._file = path.open("wb")
        self._file.write(bytes(_HEADER_BYTES))
        self._columns: int | None = None
        self.rows = 0

    def __enter__(self) -> Self:
        """Return the array itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Close the file, finished or not."""
        self._file.close()

    def append(self, block: Vectors) -> None:
        """Add rows at the end.

        :raises ValueError: if the rows have another length than those before.
        """
        if self._columns is None:
            self._columns = block.shape[1]
        if block.shape[1] != self._columns:
            raise ValueError(f"rows of {block.shape[1]} values after rows of {self._columns}")
        self._file.write(np.ascontiguousarray(block, dtype="<f4").data)
        self.rows += len(block)

    def finish(self) -> None:
        """Write the header and bring everything to the disk."""
        header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({self.rows}, {self._columns or 0}), }}"
        head = b"\x93NUMPY\x01\x00" + (_HEADER_BYTES - 10).to_bytes(2, "little")
        self._file.seek(0)
        self._file.write(head + header.encode().ljust(_HEADER_BYTES - 11) + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())
