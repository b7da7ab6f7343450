"""What the readers of all formats share: records as rows, and rows in batches that go through together."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple, cast

from deniable.errors import RecordError, ResumeError, UndecidedColumns, UnknownWord
from deniable.noise.encoding import RecordId
from deniable.progress import check_interrupt
from deniable.records.formats.columns import WHOLE_LINE, Field, Leaf, Unnamed
from deniable.records.formats.layout import Layout
from deniable.records.formats.lines import Lines
from deniable.records.formats.naming import Naming, Place
from deniable.records.formats.source import Source

NO_NAME = "no name in the header"

_RECORDS_AT_ONCE = 4_096
_WEIGHT_AT_ONCE = 4 << 20


class Row(NamedTuple):
    """One record: what its reader writes it again by, its private texts, its length in characters, where each
    text stood, its id, its fields, which may be read once, and the name of each text in a keyed release.

    Without ``places`` it is no record, such as an empty line, and needs no id.
    """

    payload: Any
    texts: tuple[str | None, ...]
    weight: int
    places: Sequence[Place] | None = None
    given: object = None
    fields: Iterable[Field] = ()
    names: tuple[RecordId, ...] = ()

    def __repr__(self) -> str:
        """Return the sizes; never content."""
        return f"<Row: {len(self.texts)} texts, {self.weight:,} characters>"


@dataclass(frozen=True, slots=True)
class Batch:
    """Records that go through together: of each the number of its texts and what its reader writes it by.

    Where batches end depends on private text, on time and on the number of workers, so it must not be seen in
    what is released. ``pause`` says that the next record is still to come from a slow producer.
    """

    first: int
    counts: list[int]
    texts: list[str | None] = field(repr=False)  # private: not for logs and tracebacks
    payloads: list[Any] = field(repr=False)
    names: list[RecordId] | None = field(default=None, repr=False)
    pause: bool = False

    def __len__(self) -> int:
        """Return the number of records."""
        return len(self.counts)

    def before(self, record: int) -> Batch:
        """Return the records of this batch that come before a record of the file."""
        counts = self.counts[: record - 1 - self.first]
        texts = sum(counts)
        names = None if self.names is None else self.names[:texts]
        return Batch(self.first, counts, self.texts[:texts], self.payloads[: len(counts)], names)

    def in_file(self, error: UnknownWord) -> UnknownWord:
        """Return the error about a text of this batch as one about a record of the file."""
        text = 0
        for record, count in enumerate(self.counts, self.first + 1):
            text += count
            if text >= error.record:
                return UnknownWord(record=record, position=error.position)
        return error


class Reader(ABC):
    """Reads the records of one format, front to back, and writes them again.

    With ``looks`` it needs no columns to privatize, and only gives the fields of its rows.
    """

    unit = "bytes"
    """What ``position`` counts; ``total`` is how many there are, if that is known."""
    untouched: str | None = None
    """What of each record is released exactly as it is, in words."""
    has_lists = False
    """Whether a record may have any number of texts in one column."""
    is_whole = False
    """Whether a file cannot be appended to: what is released waits in another form until ``finish``."""
    columns: Sequence[str] | None = None
    """The paths of all columns; None if only the records tell."""
    others: Sequence[str] = ()
    """The sheets of a workbook beside the one that is read."""
    hidden: Collection[str] = ()
    hidden_rows = 0
    """Columns, and the number of rows, that nobody sees who opens the file."""
    lines: Lines | None = None
    """Of a format that is made of lines."""

    def __init__(
        self, source: Source, layout: Layout, naming: Naming | None = None, *, looks: bool = False
    ) -> None:
        self.source, self.layout, self.naming, self.looks = source, layout, naming, looks
        self.name = source.name
        self.total: int | None = source.size
        self.done = 0
        self._looked_at = 0
        self._per_batch = 20_000
        self._passing: Collection[str] | None = None
        self._judged = ""
        self.begin()
        self._rows = self.rows() if naming is None else self._named(naming)

    def begin(self) -> None:  # noqa: B027 - plain text begins with its records
        """Read what comes before the records, and find the columns."""

    @abstractmethod
    def rows(self) -> Iterator[Row]:
        """Yield the records one by one."""

    @abstractmethod
    def write(self, payloads: list[Any], released: list[str | None]) -> Any:
        """Return the records as they are written, with the released texts in place of the private ones."""

    def head(self) -> bytes:
        """Return what the output begins with, before any record."""
        return b""

    def tail(self) -> bytes:
        """Return what the output ends with, after all records."""
        return b""

    def pack(self, pieces: list[Any]) -> bytes:
        """Return what batches wrote as bytes that can be appended to a partial file."""
        return b"".join(pieces)

    def finish(self, partial: Path, ends: list[int], finished: Path) -> None:
        """Write the file that a partial one stands for, to which bytes were appended up to each of
        ``ends``."""
        raise NotImplementedError

    def position(self) -> int:
        """Return how far the reading is; what was only looked at is not done yet."""
        reached = self.source.position()
        return reached * self.done // self._looked_at if self.done < self._looked_at else reached

    def has_notes(self, private: Collection[str]) -> bool:
        """Return whether the file carries notes of its own beside the ``private`` columns, which pass."""
        del private
        return False

    def idle(self) -> bool:
        """Return whether the next record is still to come from a slow producer."""
        return self.lines is not None and self.lines.idle()

    def give_back(self, rows: list[Row], left: Iterator[Row]) -> None:
        """Take rows back that were only looked at, with those that are left."""
        self._looked_at, self._rows = len(rows), chain(rows, left)

    def let_pass(self, columns: Collection[str], judged: str) -> None:
        """Refuse every column without a role that is not among these; ``judged`` says how they were found."""
        if self.columns is None:
            self._passing, self._judged = columns, judged
            return
        passing = {*self.layout.roles.named, *columns}
        if undecided := [column for column in self.columns if column not in passing]:
            raise UndecidedColumns(self.name, dict.fromkeys(undecided, "no role"), judged=judged)

    def _named(self, naming: Naming) -> Iterator[Row]:
        for record, row in enumerate(self.rows(), 1):
            names = () if row.places is None else naming.names(record, row.given, row.places)
            yield row._replace(names=names)

    def rows_left(self) -> Iterator[Row]:
        """Yield the rows that were not read yet."""
        for row in self._rows:
            check_interrupt()
            if self._passing is not None:
                for path, value in row.fields:
                    if value not in (None, "", Leaf.NAMED) and path not in self._passing:
                        why = NO_NAME if isinstance(path, Unnamed) else "no role"
                        raise UndecidedColumns(self.name, {str(path): why}, judged=self._judged)
            yield row

    def skip(self, records: int) -> None:
        """Leave out the records that an earlier run released."""
        self.done = sum(1 for _ in islice(self.rows_left(), records))
        if self.done < records:
            problem = f"has {self.done:,} records, but an earlier run released {records:,}"
            raise ResumeError(self.name, f"{problem}: the input has changed")

    def took(self, seconds: float) -> None:
        """Learn how long the last batch took.

        One should take well under a second, so that checkpoints are frequent, and hold thousands of words.
        """
        if seconds < 0.3:
            self._per_batch = min(self._per_batch * 2, 80_000)
        elif seconds > 1.0:
            self._per_batch = max(self._per_batch // 2, 2_500)

    def batches(
        self, *, up_to_errors: bool = False, one_text: bool = False, as_one: bool = False
    ) -> Iterator[Batch]:
        """Yield the records in batches: as many as make one, or fewer when the next is still to come.

        ``up_to_errors`` says that the records before one that cannot be read make a batch too: how many of
        them a stream gets must not depend on where batches end. ``one_text`` refuses a record of several
        texts, where a record has a budget of its own that would be spent on each. ``as_one`` makes one batch
        of all records.
        """
        rows, batch, characters, weight = self.rows_left(), list[Row](), 0, 0
        while True:
            try:
                row = next(rows, None)
                texts = [] if row is None else [text for text in row.texts if text is not None]
                if one_text and len(texts) > 1:
                    problem = f"has {len(texts):,} texts, and record_epsilon would be spent on each of them"
                    advice = "use epsilon, or leave one text in it"
                    raise RecordError(self.name, f"{problem}; {advice}", record=self.done + len(batch) + 1)
            except (RecordError, UndecidedColumns):
                if batch and up_to_errors:
                    yield self._batch(batch)
                raise
            if row is not None:
                batch.append(row._replace(fields=()))
                weight += row.weight
                characters += sum(map(len, texts))
            full = (
                characters >= self._per_batch or weight >= _WEIGHT_AT_ONCE or len(batch) >= _RECORDS_AT_ONCE
            )
            if batch and (row is None or (not as_one and (full or self.idle()))):
                yield self._batch(batch)
                batch, characters, weight = [], 0, 0
            if row is None:
                break
        if self.naming is not None:
            self.naming.check_unique()

    def _batch(self, rows: list[Row]) -> Batch:
        batch = Batch(
            first=self.done,
            counts=[len(row.texts) for row in rows],
            texts=[text for row in rows for text in row.texts],
            payloads=[row.payload for row in rows],
            names=None if self.naming is None else [name for row in rows for name in row.names],
            pause=self.idle(),
        )
        self.done += len(rows)
        return batch


class PlainReader(Reader):
    """Reads lines; one carriage return before the line feed is part of the line's end, not of the text."""

    def rows(self) -> Iterator[Row]:
        """Yield the lines one by one."""
        self.lines = Lines(self.source, self.layout.encoding)
        for line in self.lines:
            text = line.removesuffix("\r")
            yield Row(None, (text,), len(text), ("",), fields=[(WHOLE_LINE, text)])

    def write(self, payloads: list[Any], released: list[str | None]) -> bytes:
        """Return the released lines."""
        del payloads
        return "\n".join([*cast(list[str], released), ""]).encode()
