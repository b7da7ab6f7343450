"""Arrays in NumPy's .npy form, read with suspicion: nothing is allocated before the file is known to hold it.

``np.load`` believes a header: it reserves what the header asks for, reads other kinds of files too, and lets
errors of its parser out that it does not state.
"""

from __future__ import annotations

import io
import math
import os
from pathlib import Path
from typing import IO, Any

import numpy as np

from deniable.atomic import open_for_writing, open_plain_file

LONGEST_HEADER = 10_000
"""Bytes of a header; NumPy reads no longer ones either."""


def read_header(file: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Return shape, whether columns come first, and type of the array whose numbers follow in a file.

    :raises ValueError: if what stands there is no header of an array.
    """
    start = file.read(8)
    if start[:6] != b"\x93NUMPY" or len(start) < 8:
        raise ValueError("it does not begin as a .npy file does")
    count = 2 if start[6] == 1 else 4
    length = file.read(count)
    size = int.from_bytes(length, "little")
    if start[6] not in (1, 2, 3) or len(length) < count or size > LONGEST_HEADER:
        raise ValueError("its header is of no known version, or too long")
    copy = io.BytesIO(length + file.read(size))
    reader = np.lib.format.read_array_header_1_0 if start[6] == 1 else np.lib.format.read_array_header_2_0
    try:
        shape, columns_first, dtype = reader(copy)
    # NumPy states no errors: the header is Python source, and a damaged one may fail in any way.
    except Exception as error:
        raise ValueError("its header cannot be read") from error
    if not all(type(length) is int and 0 <= length < 1 << 60 for length in shape):
        raise ValueError(f"its header states an impossible shape, {str(shape)[:60]}")
    return shape, columns_first, dtype


def open_array(path: Path, dtype: str, shape: tuple[int | None, ...], *, mapped: bool = False) -> Any:
    """Return the array in a .npy file, which must have that type and shape (None: any length); mapped from
    the disk, or read.

    :raises OSError: if it cannot be read.
    :raises ValueError: if it is anything else.
    """
    with open_plain_file(path) as file:
        found = _check_header(file, dtype, shape)
        count = math.prod(found)
        if mapped and count:
            # A plain array on the mapped memory: slicing a memmap costs more and gains nothing.
            return np.asarray(np.memmap(file, dtype=dtype, mode="r", offset=file.tell(), shape=found))
        return np.fromfile(file, dtype=dtype, count=count).reshape(found)


def map_for_writing(path: Path, dtype: str, shape: tuple[int, ...]) -> np.memmap[Any, Any]:
    """Return the array in a .npy file of that type and shape, mapped so that what is written to it is written
    to the file; not to a link.

    :raises OSError: if it cannot be opened so.
    :raises ValueError: if it is anything else.
    """
    with open_for_writing(path, "r+b") as file:
        found = _check_header(file, dtype, shape)
        return np.memmap(file, dtype=dtype, mode="r+", shape=found, offset=file.tell())


def _check_header(file: IO[bytes], dtype: str, shape: tuple[int | None, ...]) -> tuple[int, ...]:
    """Return the shape of the array in a file, whose numbers come next; see ``open_array``."""
    found, columns_first, kind = read_header(file)
    fits = len(found) == len(shape) and all(
        asked in (None, there) for asked, there in zip(shape, found, strict=True)
    )
    if kind != np.dtype(dtype) or not fits or (columns_first and len(shape) > 1):
        order = ", columns first," if columns_first else ""
        asked_for = ", ".join("any" if asked is None else str(asked) for asked in shape)
        problem = f"it must be {np.dtype(dtype)} of shape ({asked_for})"
        raise ValueError(f"{problem}, not {kind}{order} of shape {found}")
    there, belong = os.fstat(file.fileno()).st_size - file.tell(), math.prod(found) * kind.itemsize
    if there != belong:
        raise ValueError(f"it has {there:,} bytes of numbers where {belong:,} belong")
    return found
