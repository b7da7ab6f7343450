"""JSON Lines: the bytes of values that are not private text pass as they are."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import msgspec

from deniable.errors import InvalidParameter, RecordError, printable
from deniable.keyed.encoding import RecordId
from deniable.records.formats.layout import TO_SEE_THE_NAMES, Layout, number_of
from deniable.records.formats.naming import Naming
from deniable.records.formats.reader import LineReader, Row
from deniable.records.formats.source import LONGEST_RECORD, Lines, Source

_OBJECT = msgspec.json.Decoder(dict[str, msgspec.Raw])
_ID = msgspec.json.Decoder(str | int | None)
_LABEL = msgspec.json.Decoder(str | int | float | None)
_TEXT = msgspec.json.Decoder(str | None)
_WRITE = msgspec.json.Encoder().encode
# msgspec keeps the last of two equal keys and says nothing; this reader of the standard library shows every pair.
_PAIRS = json.JSONDecoder(object_pairs_hook=lambda pairs: pairs, parse_int=str, parse_float=str).decode
_RECORDS_TO_SEE_A_COLUMN_IN = 1_000
_LONG = 1 << 16


class JsonLinesReader(LineReader):
    """Reads one object a line. An absent key stays absent, null stays null, empty lines stay empty lines."""

    def __init__(self, source: Source, layout: Layout, naming: Naming | None = None) -> None:
        """Prepare to read.

        :raises InvalidParameter: if no column is named.
        """
        if not layout.columns:
            raise InvalidParameter("columns", [], "say which keys hold private text (--column)")
        self._columns = layout.columns
        self._unseen = set(layout.columns)
        self._keys: set[str] = set()
        super().__init__(source, Lines(source, layout.encoding), naming)
        self.untouched = f"every value of keys other than {', '.join(layout.columns)}"

    def rows(self) -> Iterator[Row]:
        """Yield the objects one by one.

        :raises RecordError: if a line is not an object, repeats a key, or holds something other than text or null under
            a named key.
        :raises InvalidParameter: if the first records never have a named key: a misspelt name must not release anything.
        """
        # Held also while a slow producer pauses: whether a file is refused must not depend on when its records arrive.
        held: list[Row] = []
        line = weight = 0
        for line, text in enumerate(self._lines, 1):
            row = self._row(text, line)
            if not self._unseen and not held:
                yield row
                continue
            held.append(row)
            weight += row.weight
            if self._unseen and (line >= _RECORDS_TO_SEE_A_COLUMN_IN or weight >= LONGEST_RECORD):
                self._refuse_unseen(line)
            if not self._unseen:
                yield from held
                held = []
        if any(row.payload for row in held):
            self._refuse_unseen(line)
        yield from held

    def write(self, payloads: list[Any], released: list[str | None]) -> bytes:
        """Return the objects with the released texts under their keys."""
        texts = iter(released)
        written = []
        for record in payloads:
            if record is None:
                written.append(b"\n")
                continue
            for name in self._columns:
                if name in record:
                    record[name] = next(texts)
            written += (_WRITE(record), b"\n")
        return b"".join(written)

    def _row(self, text: str, line: int) -> Row:
        if not text.strip(" \t\r"):
            return Row(None, (), len(text))
        try:
            record = _OBJECT.decode(text)
            pairs = _PAIRS(text)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            # The library's own words could quote the text.
            raise RecordError(self._name, "not a JSON object", line=line) from None
        if len(pairs) != len(record):
            raise RecordError(self._name, "a key stands twice in the object", line=line)
        if self._unseen:
            self._unseen.difference_update(record)
            self._keys.update(record)
        there = [name for name in self._columns if name in record]
        names = self._names(record, there, line)
        texts = tuple(self._text(record[name], name, line) for name in there)
        others: dict[str, Any] = {**record, **dict.fromkeys(there)}
        if len(text) > _LONG:  # what is not private would hold all of the line in memory
            others = {name: None if value is None else value.copy() for name, value in others.items()}
        return Row(others, texts, len(text), names)

    def _names(self, record: dict[str, Any], there: list[str], line: int) -> tuple[RecordId, ...]:
        if self._naming is None:
            return ()
        given: str | float | None = None
        if self._naming.column is not None and self._naming.column in record:
            try:
                given = (_LABEL if self._naming.decimals else _ID).decode(record[self._naming.column])
            except (msgspec.MsgspecError, ValueError):
                problem = f"the value of {self._naming.column} is neither text nor a whole number, so it cannot be an id"
                raise RecordError(self._name, problem, line=line) from None
        return self._naming.names(line, given, there)

    def _text(self, raw: msgspec.Raw, name: str, line: int) -> str | None:
        try:
            text: str | None = _TEXT.decode(raw)
        except (msgspec.MsgspecError, ValueError):
            raise RecordError(self._name, f"the value of {name} is not text or null", line=line) from None
        return text

    def _refuse_unseen(self, line: int) -> None:
        name = next(name for name in self._columns if name in self._unseen)
        # Keys can be private too: a file may hold what somebody said under their name.
        keys = number_of(len(self._keys), "other key")
        problem = f"none of the first {line:,} records of {printable(self._name)} has it; they have {keys}; {TO_SEE_THE_NAMES}"
        raise InvalidParameter("columns", name, problem)
