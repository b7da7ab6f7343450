"""Calibrations on disk: written block by block, continued after an interruption, checked when opened,
memory-mapped.

A calibration is a folder named by what it was computed from: the embedding's fingerprint and the settings. It
lies beside an embedding in the user's store, else in the user's cache folder. It holds plain arrays and small
files:

- ``settings.json``: what was asked for; it must agree to the letter.
- ``journal.txt``: one line for each finished block of words, with the CRC of its rows in every array. A block
  counts only once its line is whole. Lines that do not fit the arrays mean damage.
- ``lock``: empty but while a process computes. The lock on it keeps others out, who are told which process it
  is, and ends with it.

First breakpoints are kept as float32, rounded up: N_w is never understated, by less than 10⁻⁶ of ε. That is 4
bytes a word and ray, and the whole curve of every word; the walks themselves would be ten times that and are
only kept as statistics.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self, TypedDict

import numpy as np
from numpy.typing import NDArray

from deniable.arrays import Floats, Ids
from deniable.atomic import lock, make_folder, open_for_writing, open_plain_file, whole_file
from deniable.embeddings.embedding import Embedding
from deniable.embeddings.npy import map_for_writing
from deniable.embeddings.places import work_folder
from deniable.errors import CalibrationInProgress, DamagedCalibration
from deniable.progress import Report

SETTINGS, JOURNAL, LOCK = "settings.json", "journal.txt", "lock"
FORMAT = 1

_LONGEST_NUMBER = 15
_LONGEST_LINE = 64
_SECONDS_TO_READ = 60.0
_SECONDS_BETWEEN = 0.1

Columns = dict[str, tuple[str, tuple[int, ...]]]
"""The arrays of a calibration: the type of each, and its shape for one word."""

Rows = dict[str, NDArray[Any]]
"""What was measured of some words: a part of each array."""


def open_store(
    embedding: Embedding, settings: dict[str, Any], columns: Columns, words: int, *, keep: bool
) -> Store | Memory:
    """Return the arrays of a calibration with these settings, on the disk, or in memory if they are not to be
    kept.

    The settings name the folder: whoever changes what they hold has every calibration computed anew.
    """
    if not keep:
        return Memory(columns, words)
    folder = calibration_folder(embedding, settings)
    return Store(folder, settings, columns, words, embedding=embedding.name, last_id=embedding.unknown_id)


def calibration_folder(embedding: Embedding, settings: dict[str, Any]) -> Path:
    """Return where a calibration with these settings lies, whether it was made or not."""
    digest = hashlib.blake2b(json.dumps(settings, sort_keys=True).encode(), digest_size=8).hexdigest()
    return work_folder(embedding, "calibrations") / digest


@dataclass(frozen=True, kw_only=True)
class Work:
    """How the words of a store are measured: in the order of ``ids``, ``at_once`` of them at a time."""

    ids: Ids
    measure: Callable[[Ids], Rows]
    at_once: int


def fill(store: Store | Memory, prepare: Callable[[], Work], *, report: Report | None) -> None:
    """Measure the words that are missing, block by block; ``report`` is called before anything is prepared,
    with how many were there."""
    if store.complete:
        return
    if report is not None:
        report(store.done, store.words)
    work = prepare()
    for start in range(store.done, store.words, work.at_once):
        store.append(**work.measure(work.ids[start : start + work.at_once]))
        if report is not None:
            report(store.done, store.words)


def support_columns(values: int) -> Columns:
    """Return the arrays of the statistics that need whole distributions, for this many values of ε."""
    return {
        "distinct": ("<u4", (values,)),
        "support": ("<u4", (values,)),
        "entropies": ("<f4", (values, 4)),
        "support_errors": ("<f4", (values,)),
        "entropy_errors": ("<f4", (values, 4)),
    }


class SupportArrays(TypedDict):
    """The statistics that need whole distributions, as a ``Calibration`` takes them."""

    distinct: Ids | None
    support: Ids | None
    entropies: Floats | None
    support_errors: Floats | None
    entropy_errors: Floats | None


def support_arrays(store: Store | Memory) -> SupportArrays:
    """Return the statistics that need whole distributions; None for each that was not asked for."""

    def found(name: str) -> Any:
        return np.asarray(store.arrays[name]) if name in store.arrays else None

    return {
        "distinct": found("distinct"),
        "support": found("support"),
        "entropies": found("entropies"),
        "support_errors": found("support_errors"),
        "entropy_errors": found("entropy_errors"),
    }


class Store:
    """The arrays of one calibration, filled in order by ``append``; ``done`` says how many words are there.

    As a context it holds the calibration's lock: until its end where words are missing, else no longer than
    it takes to read.
    """

    folder: Path

    def __init__(
        self,
        folder: Path,
        settings: dict[str, Any],
        columns: Columns,
        words: int,
        *,
        embedding: str,
        last_id: int,
    ) -> None:
        """Name a calibration of this many words, whose ids end with ``last_id``."""
        self.folder, self.words, self._columns, self._embedding, self._last_id = (
            folder,
            words,
            columns,
            embedding,
            last_id,
        )
        self._written = json.dumps({"format": FORMAT, **settings}, sort_keys=True, indent=1)
        self.arrays: dict[str, np.memmap[Any, Any]] = {}
        self.done = 0

    def __enter__(self) -> Self:
        """Open or begin the calibration.

        :raises DamagedCalibration: if what is there cannot be trusted.
        :raises CalibrationInProgress: if another process is computing it.
        """
        make_folder(self.folder)
        self._lock = WorkLock(self.folder / LOCK, embedding=self._embedding)
        try:
            self._begin(self._written)
            self.arrays = {name: self._map(name) for name in self._columns}
            self.done = self._check()
            if self.complete:
                self._lock.release()
            else:
                self._lock.announce()
        except BaseException:
            self._lock.release()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Let go of the lock; the arrays stay as they are."""
        self._lock.release()

    @property
    def complete(self) -> bool:
        """Whether all words are there."""
        return self.done == self.words

    def append(self, **rows: NDArray[Any]) -> None:
        """Add the next words' rows, on the disk before they count."""
        count = len(next(iter(rows.values())))
        part = slice(self.done, self.done + count)
        for name, values in rows.items():
            self.arrays[name][part] = values
            self.arrays[name].flush()
        line = f"{self.done} {count} {self._digest(part)}\n"
        with open_for_writing(self.folder / JOURNAL, "ab") as journal:
            journal.write(line.encode())
            journal.flush()
            os.fsync(journal.fileno())
        self.done += count

    def _begin(self, written: str) -> None:
        path = self.folder / SETTINGS
        try:
            with open_plain_file(path) as known:
                same = known.read(len(written.encode()) + 1) == written.encode()
            if not same:
                raise DamagedCalibration(self.folder, "its settings are not the ones it is named by")
        except FileNotFoundError:
            if (self.folder / JOURNAL).exists():
                raise DamagedCalibration(self.folder, f"{SETTINGS} is missing") from None
            with whole_file(path) as file:
                file.write(written.encode())

    def _map(self, name: str) -> np.memmap[Any, Any]:
        dtype, shape = self._columns[name]
        path, full = self.folder / f"{name}.npy", (self.words, *shape)
        try:
            if not path.exists():
                if (self.folder / JOURNAL).exists():
                    raise ValueError("it is missing")
                with open_for_writing(path, "xb") as file:
                    np.lib.format.write_array_header_1_0(
                        file, {"descr": dtype, "fortran_order": False, "shape": full}
                    )
                    file.truncate(file.tell() + math.prod(full) * np.dtype(dtype).itemsize)
            return map_for_writing(path, dtype, full)
        except ValueError as error:
            raise DamagedCalibration(path, str(error)) from error

    def _check(self) -> int:
        try:
            with open_plain_file(self.folder / JOURNAL) as file:
                content = file.read(self.words * _LONGEST_LINE + 1)  # a block has a word or more
            lines = content.decode("ascii").split("\n")
        except FileNotFoundError:
            return 0
        except UnicodeDecodeError as error:
            raise DamagedCalibration(self.folder / JOURNAL, "it is not text") from error
        if len(content) > self.words * _LONGEST_LINE:
            raise DamagedCalibration(self.folder / JOURNAL, "it is longer than any journal")
        done = 0
        if lines[-1]:  # a line that was cut off is work that did not count
            with open_for_writing(self.folder / JOURNAL, "ab") as journal:
                journal.truncate(len(content) - len(lines[-1]))
        for line in lines[:-1]:
            start, count, digest = ([*line.split(" "), "", ""])[:3]
            if (
                start != str(done)
                or not count.isdecimal()
                or len(count) > _LONGEST_NUMBER
                or done + int(count) > self.words
            ):
                raise DamagedCalibration(self.folder / JOURNAL, f"a line does not fit: {line[:60]!r}")
            if digest != self._digest(slice(done, done + int(count))):
                raise DamagedCalibration(
                    self.folder, f"words {done + 1:,} to {done + int(count):,} are not what was written"
                )
            done += int(count)
        ids = self.arrays["ids"][:done] if "ids" in self.arrays else np.array([], dtype=np.int64)
        if (
            (ids < 0) | (ids > self._last_id)
        ).any():  # a checksum can be written by whoever can write the numbers
            raise DamagedCalibration(self.folder, "it holds an id that no word has")
        return done

    def _digest(self, part: slice) -> str:
        crc = 0
        for name in sorted(self._columns):
            crc = zlib.crc32(np.ascontiguousarray(self.arrays[name][part]).data, crc)
        return f"{crc:08x}"


class Memory:
    """A store in memory, for a calibration that nobody comes back to."""

    folder: Path | None = None

    def __init__(self, columns: Columns, words: int) -> None:
        self.arrays: Rows = {
            name: np.empty((words, *shape), dtype=dtype) for name, (dtype, shape) in columns.items()
        }
        self.done, self.words = 0, words

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Do nothing: nobody else sees it."""

    @property
    def complete(self) -> bool:
        """Whether all words are there."""
        return self.done == self.words

    def append(self, **rows: NDArray[Any]) -> None:
        """Add the next words' rows."""
        count = len(rows["ids"])
        for name, values in rows.items():
            self.arrays[name][self.done : self.done + count] = values
        self.done += count


class WorkLock:
    """The right to work on the calibration in a folder, until it is released or the process ends.

    Whoever only reads a finished calibration holds it for moments, and others wait for that. Whoever is going
    to compute says so with ``announce``, and others are refused at once. The file stays, empty; that it is
    there means nothing.
    """

    def __init__(self, path: Path, *, embedding: str) -> None:
        """Take the lock.

        :raises CalibrationInProgress: if another process computes, or reads for a minute.
        """
        self._file: IO[bytes] = open_for_writing(path, "a+b")
        try:
            deadline = time.monotonic() + _SECONDS_TO_READ
            while not lock(self._file, wait=False):
                if (process := _announced(path)) is not None or time.monotonic() > deadline:
                    raise CalibrationInProgress(path.parent, embedding, process)
                time.sleep(_SECONDS_BETWEEN)
            self._file.truncate(0)  # a process that was killed may have left its number
        except BaseException:
            self._file.close()
            raise

    def announce(self) -> None:
        """Let others know that this process computes."""
        self._file.write(str(os.getpid()).encode())
        self._file.flush()

    def release(self) -> None:
        """Let go; nothing happens if that was done before."""
        if not self._file.closed:
            self._file.truncate(0)
            self._file.close()


def _announced(path: Path) -> int | None:
    try:
        with open_plain_file(path) as file:
            return int(file.read(_LONGEST_NUMBER))
    except (OSError, ValueError):
        return None
