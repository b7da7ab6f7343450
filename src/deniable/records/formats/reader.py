"""The seam between formats and jobs: what a reader of records offers, and the batches that it gives; the
reader of plain text."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, Protocol, cast

from deniable.errors import RecordError, ResumeError, UndecidedColumns, UnknownWord
from deniable.noise.encoding import RecordId
from deniable.records.formats.naming import Naming
from deniable.records.formats.source import Lines, Source
from deniable.release.privatizer import Privatizer

_RECORDS_AT_ONCE = 4_096
_WEIGHT_AT_ONCE = 4 << 20


class Row(NamedTuple):
    """One record: what its reader needs to write it again beside its private texts, these, its length in
    characters, and in a keyed release the name of each text.
    """

    payload: Any
    texts: tuple[str | None, ...]
    weight: int
    names: tuple[RecordId, ...] = ()

    def __repr__(self) -> str:
        """Return the sizes; never content."""
        return f"<Row: {len(self.texts)} texts, {self.weight:,} characters>"


@dataclass(frozen=True, slots=True)
class Batch:
    """Records that go through together. ``writer`` makes what is released of them, given their texts released
    and how many they are.

    Where batches end depends on private text, on time and on the number of workers, so it must not be seen in
    what is released. ``pause`` says that the next record is still to come from a slow producer.
    """

    first: int
    counts: list[int]
    texts: list[str | None] = field(repr=False)  # private: not for logs and tracebacks
    writer: Callable[[list[str | None], int], Any]
    names: list[RecordId] | None = field(default=None, repr=False)
    pause: bool = False

    def __len__(self) -> int:
        """Return the number of records."""
        return len(self.counts)

    def write(self, released: list[str | None]) -> Any:
        """Return the records as their reader writes them, with the released texts in place of the private
        ones."""
        return self.writer(released, len(self))

    def before(self, record: int) -> Batch:
        """Return the records of this batch that come before a record of the file."""
        records = record - 1 - self.first
        texts = sum(self.counts[:records])
        names = None if self.names is None else self.names[:texts]
        return Batch(
            first=self.first,
            counts=self.counts[:records],
            texts=self.texts[:texts],
            writer=self.writer,
            names=names,
        )

    def in_file(self, error: UnknownWord) -> UnknownWord:
        """Return the error about a text of this batch as one about a record of the file."""
        text = 0
        for record, count in enumerate(self.counts, self.first + 1):
            text += count
            if text >= error.record:
                return UnknownWord(record=record, position=error.position)
        return error


def release_texts(
    private: Privatizer, texts: list[str | None], names: list[RecordId] | None, counts: list[int]
) -> list[str | None]:
    """Return the texts privatized; ``counts`` says how many texts each record has. Without a key names say
    whose the texts are."""
    if private.keyed is None:
        return private.many(texts, rows=counts, people=names)
    return private.many(texts, record_ids=names, rows=counts)


class BatchSize:
    """How many characters of private text make a batch; follows the speed of the mechanism.

    A batch should take well under a second, so that checkpoints are frequent, and hold thousands of words.
    ``up_to_errors`` says that the records before one that cannot be read make a batch too: how many of them a
    stream gets must not depend on where batches end. ``one_text`` says that a record has a budget of its own,
    which is spent on each of its texts: one with several of them is refused.
    """

    def __init__(self, *, up_to_errors: bool = False, one_text: bool = False) -> None:
        self.characters = 20_000
        self.up_to_errors = up_to_errors
        self.one_text = one_text

    def took(self, seconds: float) -> None:
        """Learn how long the last batch took."""
        if seconds < 0.3:
            self.characters = min(self.characters * 2, 80_000)
        elif seconds > 1.0:
            self.characters = max(self.characters // 2, 2_500)


def gather(
    rows: Iterator[Row], size: BatchSize, idle: Callable[[], bool], *, name: str, done: int
) -> Iterator[list[Row]]:
    """Yield the rows in lists: as many as make a batch, or fewer when the next one is still to come
    (``idle``).

    ``done`` rows of the file called ``name`` came before them.
    """
    rows = _one_text_each(rows, name, done) if size.one_text else rows
    batch: list[Row] = []
    characters = weight = 0
    while True:
        try:
            row = next(rows)
        except StopIteration:
            break
        except (RecordError, UndecidedColumns):
            if batch and size.up_to_errors:
                yield batch
            raise
        batch.append(row)
        weight += row.weight
        for text in row.texts:
            characters += len(text) if text else 0
        if (
            characters >= size.characters
            or weight >= _WEIGHT_AT_ONCE
            or len(batch) >= _RECORDS_AT_ONCE
            or idle()
        ):
            yield batch
            batch, characters, weight = [], 0, 0
    if batch:
        yield batch


def _one_text_each(rows: Iterator[Row], name: str, done: int) -> Iterator[Row]:
    for record, row in enumerate(rows, done + 1):
        texts = sum(text is not None for text in row.texts)
        if texts > 1:
            problem = (
                f"has {texts:,} texts, and record_epsilon would be spent on each of them; use "
                "epsilon, or leave one text in it"
            )
            raise RecordError(name, problem, record=record)
        yield row


class Reader(Protocol):
    """Reads records of one format.

    ``unit`` and ``total`` are for the progress: what ``position`` counts, and how many there are.
    ``untouched`` says in words what of each record is released exactly as it is, None if nothing.
    ``has_lists`` says that a record may have any number of texts in one column.
    """

    unit: str
    total: int | None
    untouched: str | None
    has_lists: bool

    def head(self) -> list[Any]:
        """Return what the output begins with, before any record."""

    def tail(self) -> list[Any]:
        """Return what the output ends with, after all records; it is asked for when they are read."""

    def skip(self, records: int) -> None:
        """Leave out the records that an earlier run released."""

    def batches(self, size: BatchSize) -> Iterator[Batch]:
        """Yield the records in batches."""

    def position(self) -> int:
        """Return how far the reading is."""

    def let_pass(self, columns: Collection[str], judged: str) -> None:
        """Refuse every column that has no role and is not among these; ``judged`` says in words how they were
        found.

        :raises UndecidedColumns: now, or when such a column comes.
        """


class FinishedAtTheEnd(ABC):
    """What the readers of formats have in common whose files cannot be appended to: what is released waits in
    a form of its own."""

    @abstractmethod
    def pack(self, pieces: list[Any]) -> bytes:
        """Return what batches wrote as bytes that can be appended to a partial file."""

    @abstractmethod
    def finish(self, partial: Path, ends: list[int], finished: Path) -> None:
        """Write the file that a partial one stands for, to which bytes were appended up to each of
        ``ends``."""


class RowReader(ABC):
    """What the readers have in common that give one row after the other, front to back.

    A subclass has ``_name``, for messages, ``_naming``, and ``_rows``, which are still to be read.
    """

    _name: str
    _naming: Naming | None
    _rows: Iterator[Row]
    _done = 0

    @abstractmethod
    def _batch(self, rows: list[Row], *, pause: bool) -> Batch:
        """Return rows as a batch."""

    def let_pass(self, columns: Collection[str], judged: str) -> None:
        """Refuse nothing: there are no columns, or all of them were looked at before."""
        del columns, judged

    def _idle(self) -> bool:
        """Return whether the next row is still to come from a slow producer."""
        return False

    def skip(self, records: int) -> None:
        """Leave out the records that an earlier run released.

        :raises ResumeError: if there are not as many.
        """
        self._done = sum(1 for _ in islice(self._rows, records))
        if self._done < records:
            raise ResumeError(
                self._name,
                f"has {self._done:,} records, but an earlier run released {records:,}: the input has changed",
            )

    def batches(self, size: BatchSize) -> Iterator[Batch]:
        """Yield the records in batches.

        :raises RecordError: if a record cannot be read, or at the end, if two records of a keyed release have
            one id.
        """
        for rows in gather(self._rows, size, self._idle, name=self._name, done=self._done):
            yield self._batch(rows, pause=self._idle())
            self._done += len(rows)
        if self._naming is not None:
            self._naming.check_unique()

    def head(self) -> list[Any]:
        """Return what the output begins with, before any record."""
        return []

    def tail(self) -> list[Any]:
        """Return what the output ends with, after all records."""
        return []


class LineReader(RowReader):
    """What the readers of formats made of lines have in common."""

    unit = "bytes"

    def __init__(self, source: Source, lines: Lines, naming: Naming | None) -> None:
        self.total = source.size
        self.untouched: str | None = None
        self.has_lists = False
        self.position = source.position
        self._name = source.name
        self._lines = lines
        self._naming = naming
        self._rows = self.rows()

    @abstractmethod
    def rows(self) -> Iterator[Row]:
        """Yield the records one by one."""

    @abstractmethod
    def write(self, payloads: list[Any], released: list[str | None]) -> bytes:
        """Return the records as they are written, with the released texts in place of the private ones."""

    def _idle(self) -> bool:
        return self._lines.idle()

    def _batch(self, rows: list[Row], *, pause: bool) -> Batch:
        payloads = [
            row.payload for row in rows
        ]  # without the private texts, which need not be held until the batch is written
        return Batch(
            first=self._done,
            counts=[len(row.texts) for row in rows],
            texts=[text for row in rows for text in row.texts],
            writer=lambda released, records: self.write(payloads[:records], released),
            names=None if self._naming is None else [name for row in rows for name in row.names],
            pause=pause,
        )


class PlainReader(LineReader):
    """Reads lines; one carriage return before the line feed is part of the line's end, not of the text."""

    def __init__(self, source: Source, naming: Naming | None = None, *, encoding: str) -> None:
        super().__init__(source, Lines(source, encoding), naming)

    def rows(self) -> Iterator[Row]:
        """Yield the lines one by one."""
        for record, line in enumerate(self._lines, 1):
            text = line.removesuffix("\r")
            names = () if self._naming is None else self._naming.names(record, None, ("",))
            yield Row(None, (text,), len(text), names)

    def write(self, payloads: list[Any], released: list[str | None]) -> bytes:  # noqa: ARG002
        """Return the released lines."""
        return "\n".join([*cast(list[str], released), ""]).encode()
