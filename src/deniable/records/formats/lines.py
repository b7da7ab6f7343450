"""Formats made of lines: bytes split at line feeds and nowhere else, what their readers have in common, and plain text."""

from __future__ import annotations

import codecs
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterator
from itertools import islice
from typing import Any, Self, cast

from deniable.errors import RecordError, ResumeError
from deniable.records.formats.batch import Batch, BatchSize, Row, gather
from deniable.records.formats.naming import Naming
from deniable.records.formats.source import Source

LONGEST_RECORD = 16 * 2**20
"""Characters that one record may have: a record is held in memory as a whole, several times over."""

_BYTE_ORDER_MARK = "\ufeff"
_MARKED_ENCODINGS = {  # the longer marks first: that of UTF-32 begins like that of UTF-16
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


class Lines:
    """The lines of a source, without their line feeds; a last line need not have one.

    A byte order mark at the start is taken off, and ``marked`` says that there was one (known after the first line).
    """

    def __init__(self, source: Source, encoding: str = "utf-8") -> None:
        self.name = source.name
        self.marked = False
        self._waiting = source.waiting
        self._encoding = encoding
        self._texts = self._decoded(source.chunks())
        self._ready: deque[str] = deque()
        self._unfinished: list[str] = []
        self._unfinished_characters = 0
        self._ended = False
        self._line_feeds = 0

    def __iter__(self) -> Self:
        """Return itself."""
        return self

    def __next__(self) -> str:
        """Return the next line.

        :raises RecordError: if the bytes are not text in the encoding or the line is too long, with the line.
        """
        while not self._ready:
            if self._ended:
                raise StopIteration
            self._fill()
        return self._ready.popleft()

    def idle(self) -> bool:
        """Return whether the next line is still to come from a slow producer."""
        return not self._ready and not self._ended and self._waiting()

    def _fill(self) -> None:
        text = next(self._texts, None)
        if text is None:
            self._ended = True
            if rest := "".join(self._unfinished):
                self._ready.append(rest)
            return
        first, *others = text.split("\n")
        self._unfinished_characters += len(first)
        if self._unfinished_characters > LONGEST_RECORD:
            problem = f"longer than {LONGEST_RECORD:,} characters; split it into more lines"
            raise RecordError(self.name, problem, line=self._line_feeds - len(others) + 1)
        self._unfinished.append(first)  # joined only once its end is there: a huge line costs no more than its length
        if others:
            self._ready.append("".join(self._unfinished))
            self._unfinished = [others.pop()]
            self._unfinished_characters = len(self._unfinished[0])
            self._ready.extend(others)

    def _decoded(self, chunks: Iterator[bytes]) -> Iterator[str]:
        decoder = codecs.getincrementaldecoder(self._encoding)(errors="strict")
        start = True
        for chunk in chunks:
            text = self._decode(decoder, chunk, first=start)
            if start and text:
                start = False
                if text.startswith(_BYTE_ORDER_MARK):
                    self.marked = True
                    text = text[1:]
            self._line_feeds += text.count("\n")
            if text:
                yield text
        if text := self._decode(decoder, b"", final=True):
            yield text

    def _decode(self, decoder: codecs.IncrementalDecoder, chunk: bytes, *, first: bool = False, final: bool = False) -> str:
        try:
            return decoder.decode(chunk, final)
        except UnicodeDecodeError as error:
            good = error.object[: error.start].decode(self._encoding, "replace")
            advice = _encoding_of(error.object) if first else "such as latin-1"
            problem = f"not valid {self._encoding.upper()}; say the encoding of the file with --encoding, {advice}"
            raise RecordError(self.name, problem, line=self._line_feeds + good.count("\n") + 1) from None
        except UnicodeError:  # UTF-16 and UTF-32 without the mark that tells the order of their bytes
            problem = f"no byte order mark, so it is not {self._encoding}; say the order with --encoding, such as utf-16-le or utf-16-be"
            raise RecordError(self.name, problem, line=1) from None


def _encoding_of(start: bytes) -> str:
    """Return what to say of the encoding, from the bytes that a file begins with."""
    for mark, encoding in _MARKED_ENCODINGS.items():
        if start.startswith(mark):
            return f"which is {encoding} by its first bytes"
    return "such as latin-1"


class LineReader(ABC):
    """What the readers of formats made of lines have in common."""

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

    def write(self, rows: list[Row], released: list[str | None]) -> bytes:  # noqa: ARG002
        """Return the released lines."""
        return "\n".join([*cast(list[str], released), ""]).encode()
