"""The seam between formats and jobs: what a reader of records offers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from itertools import islice
from typing import Any, Protocol

from deniable.errors import ResumeError
from deniable.records.formats.batch import Batch, BatchSize, Row, gather
from deniable.records.formats.lines import Lines
from deniable.records.formats.naming import Naming
from deniable.records.formats.source import Source


class Reader(Protocol):
    """Reads records of one format.

    ``unit`` and ``total`` are for the progress: what ``position`` counts, and how many there are. ``untouched`` says in
    words what of each record is released exactly as it is, None if nothing.
    """

    unit: str
    total: int | None
    untouched: str | None

    def head(self) -> list[Any]:
        """Return what the output begins with, before any record."""

    def skip(self, records: int) -> None:
        """Leave out the records that an earlier run released."""

    def batches(self, size: BatchSize) -> Iterator[Batch]:
        """Yield the records in batches."""

    def position(self) -> int:
        """Return how far the reading is."""


class LineReader(ABC):
    """What the formats made of lines have in common."""

    unit = "bytes"

    def __init__(self, source: Source, lines: Lines, naming: Naming | None) -> None:
        self.total = source.size
        self.untouched: str | None = None
        self.position = source.position
        self._name = source.name
        self._lines = lines
        self._naming = naming
        self._done = 0
        self._rows = self.rows()

    @abstractmethod
    def rows(self) -> Iterator[Row]:
        """Yield the records one by one."""

    @abstractmethod
    def write(self, rows: list[Row], released: list[str | None]) -> bytes:
        """Return the rows as they are written, with the released texts in place of the private ones."""

    def head(self) -> list[Any]:
        """Return what the output begins with, before any record."""
        return []

    def skip(self, records: int) -> None:
        """Leave out the records that an earlier run released.

        :raises ResumeError: if there are not as many.
        """
        self._done = sum(1 for _ in islice(self._rows, records))
        if self._done < records:
            raise ResumeError(self._name, f"has {self._done:,} records, but an earlier run released {records:,}: the input has changed")

    def batches(self, size: BatchSize) -> Iterator[Batch]:
        """Yield the records in batches.

        :raises RecordError: if a record cannot be read, or at the end, if two records of a keyed release have one id.
        """
        for rows in gather(self._rows, size, self._lines.idle):
            yield self._batch(rows)
            self._done += len(rows)
        if self._naming is not None:
            self._naming.check_unique()

    def _batch(self, rows: list[Row]) -> Batch:
        return Batch(
            first=self._done,
            counts=[len(row.texts) for row in rows],
            texts=[text for row in rows for text in row.texts],
            write=lambda released: self.write(rows, released),
            names=None if self._naming is None else [name for row in rows for name in row.names],
        )
