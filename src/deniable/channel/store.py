"""Channels on disk: written block by block, continued after an interruption, checked when opened,
memory-mapped.

A channel is a folder named by what it was computed from. It holds ``settings.json`` (what was asked for),
three plain files of numbers (``lengths``: how many outputs each row lists; ``outputs``; ``chances``), and
``journal.txt``: a line for each finished block of rows, with the CRC of its numbers. A block counts once its
line is whole; what lies behind the last line is cut off and made again. A CRC notices damage and no intent,
so the numbers themselves are checked too: they become positions in arrays.
"""

from __future__ import annotations

import hashlib
import json
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from deniable.atomic import lock, make_folder, open_for_writing, open_plain_file, whole_file
from deniable.channel.rows import Row
from deniable.errors import DamagedChannel

SETTINGS, JOURNAL, LOCK = "settings.json", "journal.txt", "lock"
_LONGEST_NUMBER = 15
_LONGEST_LINE = 64
_NUMBERS_AT_ONCE = 1 << 20
_FILES = {"lengths": "<i4", "outputs": "<i4", "chances": "<f4"}


class Block(NamedTuple):
    """The numbers of some rows, a part of each file; in the order in which the CRC is made."""

    lengths: NDArray[np.int32]
    outputs: NDArray[np.int32]
    chances: NDArray[np.float32]


class ChannelFolder:
    """The rows of one channel, filled in order while it is open."""

    def __init__(self, root: Path, settings: dict[str, object], rows: int, *, words: int) -> None:
        """Name the channel with these settings, of this many rows, whose outputs are ids of this many
        words."""
        self._written = json.dumps(settings, sort_keys=True, indent=1)
        self.folder = root / hashlib.blake2b(self._written.encode(), digest_size=8).hexdigest()
        self._rows, self._words = rows, words
        self.done = 0

    @contextmanager
    def opened(self) -> Iterator[Self]:
        """Open or begin the channel. It is locked meanwhile: a second process waits for the first. What was
        written stays.

        :raises DamagedChannel: if what is there cannot be trusted.
        """
        make_folder(self.folder)
        with open_for_writing(self.folder / LOCK, "a+b") as file:
            lock(file, wait=True)
            self._begin()
            self.done = self._check()
            yield self

    def append(self, rows: list[Row]) -> None:
        """Add the next rows, on the disk before they count."""
        block = _block_of(rows)
        for name, numbers in zip(Block._fields, block, strict=True):
            with open_for_writing(self.folder / name, "ab") as file:
                file.write(numbers.tobytes())
                file.flush()
                os.fsync(file.fileno())
        with open_for_writing(self.folder / JOURNAL, "ab") as journal:
            journal.write(f"{len(rows)} {len(block.outputs)} {_crc(block).decode()}\n".encode())
            journal.flush()
            os.fsync(journal.fileno())
        self.done += len(rows)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return where the rows start, their outputs and their probabilities; the last two are mapped from
        the disk."""
        starts = np.concatenate(
            [[0], np.cumsum(np.fromfile(self.folder / "lengths", dtype="<i4"), dtype=np.int64)]
        )
        read = partial(np.memmap, mode="r") if starts[-1] else np.fromfile  # an empty file cannot be mapped
        return {"starts": starts} | {
            name: read(self.folder / name, dtype=_FILES[name]) for name in ("outputs", "chances")
        }

    def _begin(self) -> None:
        path = self.folder / SETTINGS
        try:
            with open_plain_file(path) as file:
                found = file.read(len(self._written.encode()) + 1)
            if found != self._written.encode():
                raise DamagedChannel(self.folder, "its settings are not the ones it is named by")
        except FileNotFoundError:
            with whole_file(path) as begun:
                begun.write(self._written.encode())

    def _check(self) -> int:
        """Return how many rows are there, after everything behind them was cut off."""
        try:
            with open_plain_file(self.folder / JOURNAL) as file:
                content = file.read(self._rows * _LONGEST_LINE + 1)  # a block has a row or more
        except FileNotFoundError:
            content = b""
        if len(content) > self._rows * _LONGEST_LINE:
            raise DamagedChannel(self.folder / JOURNAL, "it is longer than any journal")
        lines = content.split(b"\n")[:-1]
        rows = numbers = 0
        for line in lines:
            parts = line.split(b" ")
            if len(parts) != 3 or not all(
                part.isdigit() and len(part) <= _LONGEST_NUMBER for part in parts[:2]
            ):
                raise DamagedChannel(self.folder / JOURNAL, f"a line does not fit: {line[:60]!r}")
            count, listed = int(parts[0]), int(parts[1])
            if rows + count > self._rows:
                raise DamagedChannel(
                    self.folder / JOURNAL, f"it has {rows + count:,} rows where {self._rows:,} belong"
                )
            if self._checksum(rows, count, numbers, listed) != parts[2]:
                raise DamagedChannel(
                    self.folder, f"rows {rows + 1:,} to {rows + count:,} are not what was written"
                )
            rows, numbers = rows + count, numbers + listed
        for name, dtype in _FILES.items():
            path, length = (
                self.folder / name,
                (rows if name == "lengths" else numbers) * np.dtype(dtype).itemsize,
            )
            if path.exists() or length == 0:
                with open_for_writing(path, "ab") as file:
                    file.truncate(length)
        with open_for_writing(self.folder / JOURNAL, "ab") as journal:
            journal.truncate(sum(len(line) + 1 for line in lines))
        return rows

    def _checksum(self, rows: int, count: int, numbers: int, listed: int) -> bytes | None:
        """Return the CRC of a block; None if its numbers are not rows of a channel, or fewer are there than
        belong there.

        The outputs must be words and the chances probabilities.
        """
        crc, sums = 0, {}
        for name, dtype in _FILES.items():
            first, many = (rows, count) if name == "lengths" else (numbers, listed)
            largest = {"lengths": self._words, "outputs": self._words - 1, "chances": 1.0}[name]
            sums[name] = 0
            for part in self._numbers(name, dtype, first, many):
                if not len(part) or not ((part >= 0) & (part <= largest)).all():
                    return None
                crc = zlib.crc32(part.tobytes(), crc)
                sums[name] += int(part.sum(dtype=np.int64))
        return _as_text(crc) if sums["lengths"] == listed else None

    def _numbers(self, name: str, dtype: str, first: int, many: int) -> Iterator[NDArray[Any]]:
        """Yield that many numbers of a file, in parts; an empty part where it ends too soon."""
        size = np.dtype(dtype).itemsize
        try:
            with open_plain_file(self.folder / name) as file:
                file.seek(first * size)
                while many > 0:
                    data = file.read(min(many, _NUMBERS_AT_ONCE) * size)
                    yield np.frombuffer(data[: len(data) // size * size], dtype=dtype)
                    many -= _NUMBERS_AT_ONCE
        except FileNotFoundError:
            raise DamagedChannel(self.folder / name, "it is missing") from None


class HeldRows:
    """The rows of one channel in memory, with the numbers that a folder would have."""

    def __init__(self) -> None:
        self._blocks: list[Block] = []
        self.dropped: list[float] = []
        self.done = 0

    def append(self, rows: list[Row]) -> None:
        """Add the next rows."""
        self._blocks.append(_block_of(rows))
        self.dropped += [row.dropped for row in rows]
        self.done += len(rows)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return where the rows start, their outputs and their probabilities."""
        lengths, outputs, chances = (np.concatenate(each) for each in zip(*self._blocks, strict=True))
        self._blocks.clear()
        return {
            "starts": np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]),
            "outputs": outputs,
            "chances": chances,
        }


def _block_of(rows: list[Row]) -> Block:
    return Block(
        lengths=np.array([len(row.outputs) for row in rows], dtype="<i4"),
        outputs=np.concatenate([row.outputs for row in rows]).astype("<i4"),
        chances=_rounded_down(np.concatenate([row.chances for row in rows])),
    )


def _crc(block: Block) -> bytes:
    crc = 0
    for numbers in block:
        crc = zlib.crc32(numbers.tobytes(), crc)
    return _as_text(crc)


def _as_text(crc: int) -> bytes:
    return f"{crc:08x}".encode()


def _rounded_down(values: Any) -> Any:
    """Return float32 numbers that are no larger than the values: a row never sums to more than 1."""
    rounded = values.astype("<f4")
    return np.where(rounded > values, np.nextafter(rounded, np.float32(0.0)), rounded).astype("<f4")
