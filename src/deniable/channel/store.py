"""Numbers that take long to compute, on disk: written block by block, continued after an interruption,
checked when opened, memory-mapped.

A folder is named by what its numbers were computed from. It holds

- ``settings.json``: what was asked for; it must agree to the letter;
- plain arrays of numbers;
- ``journal.txt``: a line for each finished block of rows, with the CRC of its numbers. A block counts once
  its line is whole; what lies behind the last line is made again. A CRC notices damage and no intent, so the
  numbers themselves are checked too: they become positions in arrays;
- ``lock``: empty except while a process computes. The lock on it keeps others out and ends with the process.

``ChannelStore`` holds rows of a channel, of different lengths; ``ColumnStore`` arrays with one row for each
word, such as those of a calibration. Without a folder both keep their numbers in memory.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import time
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any, Self

import numpy as np
from numpy.typing import NDArray

from deniable.arrays import Floats, Ids
from deniable.atomic import lock, make_folder, open_for_writing, open_plain_file, whole_file
from deniable.embeddings.npy import map_for_writing
from deniable.errors import CalibrationInProgress, DamagedCalibration, DamagedChannel

SETTINGS, JOURNAL, LOCK = "settings.json", "journal.txt", "lock"
_LONGEST_NUMBER = 15
_LONGEST_LINE = 64
_NUMBERS_AT_ONCE = 1 << 20
_SECONDS_TO_READ = 60.0
_SECONDS_BETWEEN = 0.1
_FILES = {"lengths": "<i4", "outputs": "<i4", "chances": "<f4"}

Columns = dict[str, tuple[str, tuple[int, ...]]]
"""The arrays of a ``ColumnStore``: the type of each, and its shape for one word."""


def folder_name(settings: dict[str, Any], *, indent: int | None = None) -> str:
    """Return the name of the folder of these settings."""
    written = json.dumps(settings, sort_keys=True, indent=indent)
    return hashlib.blake2b(written.encode(), digest_size=8).hexdigest()


class _Store(ABC):
    """Rows of numbers, filled in order while the store is open; ``done`` says how many are there."""

    damage: type[DamagedChannel] | type[DamagedCalibration]

    def __init__(self, folder: Path | None, settings: dict[str, Any], rows: int) -> None:
        self.folder, self.rows, self.done = folder, rows, 0
        self._written = json.dumps(settings, sort_keys=True, indent=1).encode()

    @property
    def complete(self) -> bool:
        """Whether all rows are there."""
        return self.done == self.rows

    @contextmanager
    def opened(self) -> Iterator[Self]:
        """Open or begin the store. What was written stays. It is locked while rows are missing.

        :raises DamagedChannel: if what is there cannot be trusted; ``DamagedCalibration`` for a calibration.
        :raises CalibrationInProgress: if another process is computing the same calibration.
        """
        if self.folder is None:
            yield self
            return
        make_folder(self.folder)
        with open_for_writing(self.folder / LOCK, "a+b") as file:
            self._take(file)
            file.truncate(0)  # a process that was killed may have left its number
            self._begin(self.folder)
            self.done = self._check(self.folder, self._lines(self.folder))
            if self.complete:
                file.close()
            else:
                file.write(str(os.getpid()).encode())
                file.flush()
            try:
                yield self
            finally:
                if not file.closed:
                    file.truncate(0)

    def _take(self, file: IO[bytes]) -> None:
        lock(file, wait=True)

    @abstractmethod
    def _check(self, folder: Path, lines: list[list[str]]) -> int:
        """Return how many rows the lines of the journal vouch for."""

    def _begin(self, folder: Path) -> None:
        try:
            with open_plain_file(folder / SETTINGS) as file:
                same = file.read(len(self._written) + 1) == self._written
        except FileNotFoundError:
            if (folder / JOURNAL).exists():
                raise self.damage(folder, f"{SETTINGS} is missing") from None
            with whole_file(folder / SETTINGS) as file:
                file.write(self._written)
            return
        if not same:
            raise self.damage(folder, "its settings are not the ones it is named by")

    def _lines(self, folder: Path) -> list[list[str]]:
        """Return the fields of the whole lines of the journal; what is behind them is cut off."""
        try:
            with open_plain_file(folder / JOURNAL) as file:
                content = file.read(self.rows * _LONGEST_LINE + 1)  # a block has a row or more
        except FileNotFoundError:
            return []
        if len(content) > self.rows * _LONGEST_LINE:
            raise self.damage(folder / JOURNAL, "it is longer than any journal")
        *whole, rest = content.split(b"\n")
        lines = [line.decode("ascii", "replace").split(" ") for line in whole]
        for line in lines:
            if len(line) != 3 or not all(
                part.isascii() and part.isdigit() and len(part) <= _LONGEST_NUMBER for part in line[:2]
            ):
                raise self.damage(folder / JOURNAL, f"a line does not fit: {' '.join(line)[:60]!r}")
        if rest:
            with open_for_writing(folder / JOURNAL, "ab") as journal:
                journal.truncate(len(content) - len(rest))
        return lines

    def _count(self, folder: Path, *fields: object) -> None:
        """Let a block count, once its line is on the disk."""
        _append(folder / JOURNAL, (" ".join(map(str, fields)) + "\n").encode())


@dataclass(frozen=True, kw_only=True)
class Row:
    """What one input word becomes at one ε: the likeliest outputs, by falling probability; ``dropped`` is
    what others have together."""

    outputs: Ids
    chances: Floats
    dropped: float = 0.0


class ChannelStore(_Store):
    """The rows of one channel: of each the ids of its outputs, which are below ``words``, and their
    probabilities."""

    damage = DamagedChannel

    def __init__(self, root: Path | None, settings: dict[str, Any], rows: int, *, words: int) -> None:
        """Name the channel with these settings, in a folder below ``root``, or keep its rows in memory."""
        folder = None if root is None else root / folder_name(settings, indent=1)
        super().__init__(folder, settings, rows)
        self._words, self._blocks = words, list[tuple[NDArray[Any], ...]]()
        self.dropped: list[float] = []

    def append(self, rows: Sequence[Row]) -> None:
        """Add the next rows, on the disk before they count."""
        block = (
            np.array([len(row.outputs) for row in rows], dtype="<i4"),
            np.concatenate([row.outputs for row in rows]).astype("<i4"),
            _rounded_down(np.concatenate([row.chances for row in rows])),
        )
        if self.folder is None:
            self._blocks.append(block)
            self.dropped += [row.dropped for row in rows]
        else:
            crc = 0
            for name, numbers in zip(_FILES, block, strict=True):
                _append(self.folder / name, numbers.tobytes())
                crc = zlib.crc32(numbers.tobytes(), crc)
            self._count(self.folder, len(rows), len(block[1]), f"{crc:08x}")
        self.done += len(rows)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return where the rows start, their outputs and their probabilities; mapped from the disk."""
        if self.folder is None:
            lengths, outputs, chances = (np.concatenate(each) for each in zip(*self._blocks, strict=True))
            self._blocks.clear()
        else:
            lengths = np.fromfile(self.folder / "lengths", dtype="<i4")
            # An empty file cannot be mapped.
            read = partial(np.memmap, mode="r") if lengths.any() else np.fromfile
            outputs, chances = (
                read(self.folder / name, dtype=_FILES[name]) for name in ("outputs", "chances")
            )
        starts = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
        return {"starts": starts, "outputs": outputs, "chances": chances}

    def _check(self, folder: Path, lines: list[list[str]]) -> int:
        rows = numbers = 0
        for line in lines:
            count, listed = int(line[0]), int(line[1])
            if rows + count > self.rows:
                raise DamagedChannel(
                    folder / JOURNAL, f"it has {rows + count:,} rows where {self.rows:,} belong"
                )
            if self._checksum(folder, rows, count, numbers, listed) != line[2]:
                raise DamagedChannel(
                    folder, f"rows {rows + 1:,} to {rows + count:,} are not what was written"
                )
            rows, numbers = rows + count, numbers + listed
        for name, dtype in _FILES.items():
            length = (rows if name == "lengths" else numbers) * np.dtype(dtype).itemsize
            if (folder / name).exists() or length == 0:
                with open_for_writing(folder / name, "ab") as file:
                    file.truncate(length)
        return rows

    def _checksum(self, folder: Path, rows: int, count: int, numbers: int, listed: int) -> str | None:
        """Return the CRC of a block; None if its numbers are not rows of a channel, or some are missing."""
        crc = total = 0
        for name, largest in (("lengths", self._words), ("outputs", self._words - 1), ("chances", 1.0)):
            first, many = (rows, count) if name == "lengths" else (numbers, listed)
            for part in _numbers(folder / name, _FILES[name], first, many):
                if not len(part) or not ((part >= 0) & (part <= largest)).all():
                    return None
                crc = zlib.crc32(part.tobytes(), crc)
                total += int(part.sum(dtype=np.int64)) if name == "lengths" else 0
        return f"{crc:08x}" if total == listed else None


class ColumnStore(_Store):
    """Arrays with a row for each word, such as those of a calibration; ``ids`` are at most ``last_id``."""

    damage = DamagedCalibration

    def __init__(
        self,
        folder: Path | None,
        settings: dict[str, Any],
        columns: Columns,
        rows: int,
        *,
        embedding: str = "",
        last_id: int = 0,
    ) -> None:
        """Name the arrays of this many words, in a folder or in memory."""
        super().__init__(folder, {"format": 1, **settings}, rows)
        self._columns, self._embedding, self._last_id = columns, embedding, last_id
        self.arrays: dict[str, NDArray[Any]] = {}
        if folder is None:
            self.arrays = {name: np.empty((rows, *shape), dtype) for name, (dtype, shape) in columns.items()}

    def append(self, **rows: NDArray[Any]) -> None:
        """Add the next words' rows, on the disk before they count."""
        count = len(next(iter(rows.values())))
        part = slice(self.done, self.done + count)
        for name, values in rows.items():
            array = self.arrays[name]
            array[part] = values
            if isinstance(array, np.memmap):
                array.flush()
        if self.folder is not None:
            self._count(self.folder, self.done, count, self._digest(part))
        self.done += count

    def _take(self, file: IO[bytes]) -> None:
        """Take the lock: those who only read are waited for, one who computes is not."""
        assert self.folder is not None  # noqa: S101 - said by the caller
        deadline = time.monotonic() + _SECONDS_TO_READ
        while not lock(file, wait=False):
            process = _announced(self.folder / LOCK)
            if process is not None or time.monotonic() > deadline:
                raise CalibrationInProgress(self.folder, self._embedding, process)
            time.sleep(_SECONDS_BETWEEN)

    def _check(self, folder: Path, lines: list[list[str]]) -> int:
        self.arrays = {name: self._map(folder, name) for name in self._columns}
        done = 0
        for start, count, digest in lines:
            end = done + int(count)
            if int(start) != done or end > self.rows:
                raise DamagedCalibration(folder / JOURNAL, f"a line does not fit: {start} {count}")
            if digest != self._digest(slice(done, end)):
                raise DamagedCalibration(folder, f"words {done + 1:,} to {end:,} are not what was written")
            done = end
        ids = self.arrays["ids"][:done] if "ids" in self.arrays else np.array([], dtype=np.int64)
        if ((ids < 0) | (ids > self._last_id)).any():
            raise DamagedCalibration(folder, "it holds an id that no word has")
        return done

    def _map(self, folder: Path, name: str) -> NDArray[Any]:
        dtype, shape = self._columns[name]
        path, full = folder / f"{name}.npy", (self.rows, *shape)
        try:
            if not path.exists():
                if (folder / JOURNAL).exists():
                    raise ValueError("it is missing")
                header = {"descr": dtype, "fortran_order": False, "shape": full}
                with open_for_writing(path, "xb") as file:
                    np.lib.format.write_array_header_1_0(file, header)
                    file.truncate(file.tell() + math.prod(full) * np.dtype(dtype).itemsize)
            return map_for_writing(path, dtype, full)
        except ValueError as error:
            raise DamagedCalibration(path, str(error)) from error

    def _digest(self, part: slice) -> str:
        crc = 0
        for name in sorted(self._columns):
            crc = zlib.crc32(np.ascontiguousarray(self.arrays[name][part]).data, crc)
        return f"{crc:08x}"


def _append(path: Path, content: bytes) -> None:
    with open_for_writing(path, "ab") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _numbers(path: Path, dtype: str, first: int, many: int) -> Iterator[NDArray[Any]]:
    """Yield that many numbers of a file, in parts; an empty part where it ends too soon."""
    size = np.dtype(dtype).itemsize
    try:
        with open_plain_file(path) as file:
            file.seek(first * size)
            while many > 0:
                data = file.read(min(many, _NUMBERS_AT_ONCE) * size)
                yield np.frombuffer(data[: len(data) // size * size], dtype=dtype)
                many -= _NUMBERS_AT_ONCE
    except FileNotFoundError:
        raise DamagedChannel(path, "it is missing") from None


def _announced(path: Path) -> int | None:
    try:
        with open_plain_file(path) as file:
            return int(file.read(_LONGEST_NUMBER))
    except (OSError, ValueError):
        return None


def _rounded_down(values: Any) -> Any:
    """Return float32 numbers that are no larger than the values: a row never sums to more than 1."""
    rounded = values.astype("<f4")
    return np.where(rounded > values, np.nextafter(rounded, np.float32(0.0)), rounded).astype("<f4")
