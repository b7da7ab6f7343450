"""JSON: a file that is one array of objects, read one object at a time and written with one object a line."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NoReturn

from deniable.errors import RecordError
from deniable.records.formats.jsonlines import JsonLinesReader
from deniable.records.formats.layout import Layout
from deniable.records.formats.reader import Batch, Row
from deniable.records.formats.source import LONGEST_RECORD, Lines, Source

_IN_OBJECT = re.compile(r'["{}\[\]]')
_IN_STRING = re.compile(r'["\\]')
_NOT_BLANK = re.compile(r"[^ \t\r\n]")


class JsonArrayReader(JsonLinesReader):
    """Reads the objects of one array. Other values pass as in JSON Lines; how the array was laid out does
    not."""

    counted_as = "record"

    def records_of(self, source: Source, layout: Layout) -> Lines:
        """Return what gives the objects one by one, as text."""
        return Elements(source, layout.encoding)

    def head(self) -> list[Any]:
        """Return the start of the array."""
        return [b"[\n"]

    def tail(self) -> list[Any]:
        """Return the end of the array."""
        return [b"\n]\n"]

    def _batch(self, rows: list[Row], *, pause: bool) -> Batch:
        first, payloads = self._done == 0, [row.payload for row in rows]
        return replace(super()._batch(rows, pause=pause), writer=self._writer(payloads, first=first))

    def _writer(self, payloads: list[Any], *, first: bool) -> Callable[[list[str | None], int], bytes]:
        def write(released: list[str | None], records: int) -> bytes:
            written = b",\n".join(self.objects(payloads[:records], released))
            return written if first or not written else b",\n" + written

        return write


class Elements(Lines):
    """The objects of an array, each as text; found by their braces, so that no more than one need be held."""

    def __init__(self, source: Source, encoding: str = "utf-8") -> None:
        super().__init__(source, encoding)
        self._depth = 0
        self._in_string = self._escaped = False
        self._records = 0
        self._problem: RecordError | None = None
        self._read: Callable[[str, int], int] = self._start

    def _fill(self) -> None:
        if self._problem is not None:
            raise self._problem
        try:
            self._fill_from(next(self._texts, None))
        except RecordError as error:
            if not self._ready:
                raise
            self._problem = error  # the objects before it come first, however many of them came in this chunk

    def _fill_from(self, text: str | None) -> None:
        if text is None:
            if self._read != self._after:
                self._refuse(
                    "the array has no end; the file is cut short"
                    if self._read != self._start
                    else "holds no JSON array"
                )
            self._ended = True
            return
        at = 0
        while at < len(text):
            at = self._within(text, at) if self._depth else self._between(text, at)

    def _between(self, text: str, at: int) -> int:
        """Read one character that stands between objects, or the start of one; return where reading goes
        on."""
        found = _NOT_BLANK.search(text, at)
        return len(text) if found is None else self._read(found[0], found.start())

    def _start(self, character: str, at: int) -> int:
        if character != "[":
            how = (
                "if every line is an object of its own, say --format jsonl; else put the records into one "
                "array"
            )
            self._refuse(f"is not an array of objects, as .json files are read; {how}")
        self._read = self._first
        return at + 1

    def _first(self, character: str, at: int) -> int:
        return self._value(character, at) if character != "]" else self._end(at)

    def _value(self, character: str, at: int) -> int:
        if character != "{":
            self._refuse("not a JSON object", record=self._records + 1)
        self._depth, self._records = 1, self._records + 1
        self._unfinished, self._unfinished_characters = ["{"], 1
        self._read = self._next
        return at + 1

    def _next(self, character: str, at: int) -> int:
        if character == "]":
            return self._end(at)
        if character != ",":
            self._refuse("is not followed by a comma or the end of the array", record=self._records)
        self._read = self._value
        return at + 1

    def _end(self, at: int) -> int:
        self._read = self._after
        return at + 1

    def _after(self, character: str, at: int) -> NoReturn:  # noqa: ARG002
        self._refuse("something stands after the end of the array")

    def _within(self, text: str, at: int) -> int:
        """Read an object up to its end, or as far as there is text; return where reading goes on."""
        start = at
        while at < len(text) and self._depth:
            if self._escaped:
                self._escaped, at = False, at + 1
                continue
            found = (_IN_STRING if self._in_string else _IN_OBJECT).search(text, at)
            if found is None:
                at = len(text)
                break
            at, character = found.end(), found[0]
            if character == "\\":
                self._escaped = True
            elif character == '"':
                self._in_string = not self._in_string
            else:
                self._depth += 1 if character in "{[" else -1
        self._unfinished.append(text[start:at])
        self._unfinished_characters += at - start
        if self._unfinished_characters > LONGEST_RECORD:
            self._refuse(f"longer than {LONGEST_RECORD:,} characters; split it", record=self._records)
        if not self._depth:
            self._ready.append("".join(self._unfinished))
            self._unfinished = []
        return at

    def _refuse(self, problem: str, record: int | None = None) -> NoReturn:
        raise RecordError(self.name, problem, record=record)
