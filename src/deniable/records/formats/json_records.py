"""JSON: one object a line, or one array of objects. The bytes of values without private text in
them pass as they are."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NoReturn, Union

import msgspec

from deniable.errors import InvalidParameter, RecordError, printable
from deniable.records.formats.columns import (
    EVERY,
    TO_SEE_THE_NAMES,
    Field,
    Pairs,
    Path,
    Slot,
    column_of,
    fields_of,
    find_slots,
    leads_into_lists,
    meant_columns,
    number_of,
    parse_path,
)
from deniable.records.formats.lines import LONGEST_RECORD, Lines
from deniable.records.formats.naming import Naming
from deniable.records.formats.reader import Reader, Row
from deniable.records.formats.source import Source

_OBJECT = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_WRITE = msgspec.json.Encoder().encode
_NOT_JSON = (
    msgspec.MsgspecError,
    ValueError,
    RecursionError,
)  # the libraries' own words could quote the text
_MOST_DIGITS = 4_000
_RECORDS_TO_SEE_A_COLUMN_IN = 1_000
_LONG = 1 << 16


class _KeyTwice(ValueError):
    """A key is twice in an object."""


def _whole_number(digits: str) -> float:
    return int(digits) if len(digits) <= _MOST_DIGITS else float("inf")


def _number(written: str) -> msgspec.Raw:
    return msgspec.Raw(written.encode())


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _KeyTwice
    return found


# msgspec keeps the last of two equal keys and says nothing; this reader of the standard library shows every
# pair.
_PAIRS = json.JSONDecoder(object_pairs_hook=Pairs, parse_int=_whole_number).decode
# A value that is looked into is written again with its numbers as they were.
_VALUE = json.JSONDecoder(object_pairs_hook=_object, parse_int=_number, parse_float=_number).decode


class JsonReader(Reader):
    """Reads objects. An absent key stays absent, null stays null, empty lines stay empty lines; how an array
    was laid out does not stay."""

    def begin(self) -> None:
        """Prepare to read."""
        layout, naming = self.layout, self.naming
        if not layout.roles.text and not self.looks:
            raise InvalidParameter("columns", [], "say which keys hold private text (--column)")
        self._is_array = layout.format == "json"
        self.lines = (Elements if self._is_array else Lines)(self.source, layout.encoding)
        self._paths = [] if self.looks else [parse_path(name) for name in layout.roles.text]
        self._unseen = self._paths
        self._dropped = [path for name in layout.roles.drop for path in _paths_to_drop(name)]
        self._keys: set[str] = set()
        self._id = None if naming is None or naming.column is None else parse_path(naming.column)
        self._read_id = msgspec.json.Decoder(Union[(*(naming or Naming).kinds, None)]).decode
        self.untouched = (
            f"every value of keys other than {', '.join([*layout.roles.text, *layout.roles.drop])}"
        )
        self.has_lists = leads_into_lists(layout.roles.text)
        # The keys of a record whose values are looked into; the bytes of all others pass.
        paths = [*self._paths, *self._dropped, *([] if self._id is None else [self._id])]
        self._opened = {str(each) for path in paths for each in (path.name, *path.steps[:1])}
        self._opened |= {key for path in paths if path.steps for key in path.spelt[0]}

    def head(self) -> bytes:
        """Return the start of an array."""
        return b"[\n" if self._is_array else b""

    def tail(self) -> bytes:
        """Return the end of an array."""
        return b"\n]\n" if self._is_array else b""

    def rows(self) -> Iterator[Row]:
        """Yield the objects one by one."""
        # Held also while a slow producer pauses: whether a file is refused must not depend on when its
        # records arrive.
        held: list[Row] = []
        line = weight = 0
        for line, text in enumerate(self.lines or (), 1):
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
        if self._unseen and any(row.payload for row in held):
            self._refuse_unseen(line)
        yield from held

    def write(self, payloads: list[Any], released: list[str | None]) -> bytes:
        """Return the objects with the released texts under their keys."""
        texts, written = iter(released), []
        for payload in payloads:
            if payload is None:
                written.append(b"\n")
                continue
            record, slots, is_first = payload
            for slot in slots:
                slot.holder[slot.key] = next(texts)
            if self._is_array:
                written += [b"" if is_first else b",\n", _WRITE(record)]
            else:
                written += [_WRITE(record), b"\n"]
        return b"".join(written)

    def _row(self, text: str, line: int) -> Row:
        if not text.strip(" \t\r"):
            return Row(None, (), len(text))
        try:
            record: dict[str, Any] = _OBJECT(text)
            pairs: Pairs = _PAIRS(text)
        except _NOT_JSON:
            self._refuse("not a JSON object", line)
        if len(pairs) != len(record):
            self._refuse("a key stands twice in the object", line)
        if self._unseen:
            self._keys.update(record)
        for key in self._opened & record.keys():
            record[key] = self._open(key, record[key], line)
        try:
            given = self._given(record, line)
            slots = [slot for path in self._paths for slot in find_slots(record, path)]
            self._unseen = [path for path in self._unseen if not any(find_slots(record, path.trunk))]
            texts = tuple(self._text(slot, line) for slot in slots)
            for path in self._dropped:
                for slot in list(find_slots(record, path)):
                    del slot.holder[slot.key]
        except ValueError as error:
            self._refuse(str(error), line)
        for slot in slots:
            slot.holder[slot.key] = None
        if len(text) > _LONG:  # what is not private would hold all of the line in memory
            record.update({key: raw.copy() for key, raw in record.items() if isinstance(raw, msgspec.Raw)})
        payload, places = (record, slots, line == 1), [slot.place for slot in slots]
        return Row(payload, texts, len(text), places, given, self._fields(pairs))

    def _open(self, key: str, raw: msgspec.Raw, line: int) -> Any:
        try:
            value = _VALUE(bytes(raw).decode())
            _WRITE(value)  # what is half a character, or too deep, is found now and not when it is written
        except _KeyTwice:
            self._refuse(f"a key stands twice in {key}", line)
        except _NOT_JSON:
            self._refuse(f"the value of {key} cannot be read: half a character, or too many brackets", line)
        return value

    def _fields(self, pairs: Pairs) -> Iterator[Field]:
        for key, value in pairs:
            yield from fields_of(key, value, self.layout.roles.named)

    def _given(self, record: dict[str, Any], line: int) -> str | float | None:
        """Return the id of a record; None if it has none."""
        slot = None if self._id is None else next(find_slots(record, self._id), None)
        if slot is None or self._id is None or EVERY in self._id.steps:
            return None
        try:
            given: str | float | None = self._read_id(_WRITE(slot.holder[slot.key]))
        except _NOT_JSON:
            naming = self.naming or Naming
            problem = f"the value of {self._id.name} is no {naming.called}"
            self._refuse(f"{problem}: {naming.called}s are {naming.kinds_in_words}", line)
        return given

    def _text(self, slot: Slot, line: int) -> str | None:
        value: str | None = slot.holder[slot.key]
        if value is not None and not isinstance(value, str):
            column, advice = column_of(slot.place), ""
            if isinstance(value, list):
                advice = f"; it is a list: name its texts, as {column}[]"
            elif isinstance(value, dict):
                advice = f"; it is an object: name a text in it by its path, such as {column}.text"
            self._refuse(f"the value of {column} is not text or null{advice}", line)
        return value

    def _refuse(self, problem: str, line: int) -> NoReturn:
        if self._is_array:
            raise RecordError(self.name, problem, record=line) from None
        raise RecordError(self.name, problem, line=line) from None

    def _refuse_unseen(self, line: int) -> NoReturn:
        name = self._unseen[0].name
        # Keys can be private too: a file may hold what somebody said under their name.
        advice = meant_columns([name], self._keys) or TO_SEE_THE_NAMES
        where = f"none of the first {line:,} records of {printable(self.name)} has it"
        problem = f"{where}; they have {number_of(len(self._keys), 'other key')}; {advice}"
        raise InvalidParameter("columns", name, problem)


def _paths_to_drop(name: str) -> Iterator[Path]:
    """Yield the paths to drop for a name; elements of a list are dropped with the list."""
    holder = name
    while holder.endswith("[]"):
        holder = holder.removesuffix("[]")
    if holder == name or not holder:
        yield parse_path(name)
    else:
        yield from (Path(name=name), parse_path(holder))


_IN_OBJECT = re.compile(r'["{}\[\]]')
_IN_STRING = re.compile(r'["\\]')
_NOT_BLANK = re.compile(r"[^ \t\r\n]")
_NO_ARRAY = (
    "is not an array of objects, as .json files are read; if every line is an object of its own, say "
    "--format jsonl; else put the records into one array"
)
_BETWEEN = {
    "start": ("[", _NO_ARRAY),
    "first": ("{]", "not a JSON object"),
    "object": ("{", "not a JSON object"),
    "next": (",]", "is not followed by a comma or the end of the array"),
    "end": ("", "something stands after the end of the array"),
}
"""What may stand between objects, by where in the array it is, and what is wrong with anything else."""

_AFTER = {"[": "first", "{": "next", ",": "object", "]": "end"}


class Elements(Lines):
    """The objects of an array, each as text; found by their braces, so that no more than one need be held."""

    def __init__(self, source: Source, encoding: str = "utf-8") -> None:
        super().__init__(source, encoding)
        self._depth = 0
        self._in_string = self._escaped = False
        self._records = 0
        self._where = "start"
        self._problem: RecordError | None = None

    def _fill(self) -> None:
        if self._problem is not None:
            raise self._problem
        try:
            text = next(self._texts, None)
            if text is None:
                self._end()
            at = 0
            while text is not None and at < len(text):
                at = self._within(text, at) if self._depth else self._between(text, at)
        except RecordError as error:
            if not self._ready:
                raise
            self._problem = error  # the objects before it come first, however many of them came in this chunk

    def _end(self) -> None:
        if self._where == "start":
            raise RecordError(self.name, "holds no JSON array")
        if self._where != "end" or self._depth:
            raise RecordError(self.name, "the array has no end; the file is cut short")
        self._ended = True

    def _between(self, text: str, at: int) -> int:
        """Read one character between objects, or the start of one; return where reading goes on."""
        match = _NOT_BLANK.search(text, at)
        if match is None:
            return len(text)
        allowed, problem = _BETWEEN[self._where]
        if match[0] not in allowed:
            in_record = {"first": 1, "object": self._records + 1, "next": self._records}
            raise RecordError(self.name, problem, record=in_record.get(self._where))
        self._where = _AFTER[match[0]]
        if match[0] == "{":
            self._depth, self._records = 1, self._records + 1
            self._unfinished, self._unfinished_characters = ["{"], 1
        return match.end()

    def _within(self, text: str, at: int) -> int:
        """Read an object up to its end, or as far as there is text; return where reading goes on."""
        start = at
        while at < len(text) and self._depth:
            if self._escaped:
                self._escaped, at = False, at + 1
                continue
            match = (_IN_STRING if self._in_string else _IN_OBJECT).search(text, at)
            if match is None:
                at = len(text)
                break
            at, character = match.end(), match[0]
            if character == "\\":
                self._escaped = True
            elif character == '"':
                self._in_string = not self._in_string
            else:
                self._depth += 1 if character in "{[" else -1
        self._unfinished.append(text[start:at])
        self._unfinished_characters += at - start
        if self._unfinished_characters > LONGEST_RECORD:
            problem = f"longer than {LONGEST_RECORD:,} characters; split it"
            raise RecordError(self.name, problem, record=self._records)
        if not self._depth:
            self._ready.append("".join(self._unfinished))
            self._unfinished = []
        return at
