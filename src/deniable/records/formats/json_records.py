"""JSON: one object a line, or one array of objects. The bytes of values that are not private text pass as
they are."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple, NoReturn, Union

import msgspec

from deniable.errors import InvalidParameter, RecordError, printable
from deniable.records.formats.columns import (
    EVERY,
    TO_SEE_THE_NAMES,
    Field,
    Pairs,
    Path,
    fields_of,
    leads_into_lists,
    meant_columns,
    number_of,
    parse_path,
)
from deniable.records.formats.layout import Layout
from deniable.records.formats.lines import LONGEST_RECORD, Lines
from deniable.records.formats.naming import Naming, Place
from deniable.records.formats.reader import Reader, Row
from deniable.records.formats.source import Source

_OBJECT = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_LIST = msgspec.json.Decoder(list[msgspec.Raw]).decode
_TEXT = msgspec.json.Decoder(str | None).decode
_WRITE = msgspec.json.Encoder().encode
_NOT_JSON = (
    msgspec.MsgspecError,
    ValueError,
    RecursionError,
)  # the libraries' own words could quote the text
_MOST_DIGITS = 4_000
_RECORDS_TO_SEE_A_COLUMN_IN = 1_000
_LONG = 1 << 16


def _whole_number(digits: str) -> float:
    return int(digits) if len(digits) <= _MOST_DIGITS else float("inf")


# msgspec keeps the last of two equal keys and says nothing; this reader of the standard library shows every
# pair.
_PAIRS = json.JSONDecoder(object_pairs_hook=Pairs, parse_int=_whole_number).decode


class _Slot(NamedTuple):
    """Where a private text stood and its release goes: in an object or a list of the record, under a key or a
    number."""

    holder: Any
    key: str | int
    column: str
    place: Place


class JsonReader(Reader):
    """Reads objects. An absent key stays absent, null stays null, empty lines stay empty lines; how an array
    was laid out does not stay."""

    def __init__(
        self, source: Source, layout: Layout, naming: Naming | None = None, *, looks: bool = False
    ) -> None:
        """Prepare to read.

        :raises InvalidParameter: if no column is named.
        """
        if not layout.columns and not looks:
            raise InvalidParameter("columns", [], "say which keys hold private text (--column)")
        self._is_array = layout.format == "json"
        super().__init__(source, layout, naming, looks=looks)
        self.lines = (Elements if self._is_array else Lines)(source, layout.encoding)
        self._paths = [] if looks else [parse_path(name) for name in layout.columns]
        self._unseen = {path.name for path in self._paths}
        self._dropped = [path for name in layout.roles.drop for path in _paths_to_drop(name)]
        self._keys: set[str] = set()
        self._id = None if naming is None or naming.column is None else parse_path(naming.column)
        self._read_id = msgspec.json.Decoder(Union[(*(naming or Naming).kinds, None)]).decode
        self.untouched = f"every value of keys other than {', '.join([*layout.columns, *layout.roles.drop])}"
        self.has_lists = leads_into_lists(layout.columns)
        self._spelt = {
            path.name: [list(path.spelt(step)) for step in range(len(path.steps))]
            for path in (*self._paths, *self._dropped)
        }

    def head(self) -> bytes:
        """Return the start of an array."""
        return b"[\n" if self._is_array else b""

    def tail(self) -> bytes:
        """Return the end of an array."""
        return b"\n]\n" if self._is_array else b""

    def rows(self) -> Iterator[Row]:
        """Yield the objects one by one.

        :raises RecordError: if a line is not an object, repeats a key, or holds something other than text or
            null under a named key.
        :raises InvalidParameter: if the first records never have a named key: a misspelt name must not
            release anything.
        """
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
        opened = self._object(text, "the object", line)
        if opened is None:
            self._refuse("not a JSON object", line)
        record, pairs = opened
        if self._unseen:
            self._keys.update(record)
        given = self._given(record, line)  # before what holds private text is taken apart
        slots = [slot for path in self._paths for slot in self._slots(record, path, line)]
        self._unseen.difference_update(slot.column for slot in slots)
        places = [slot.place for slot in slots]
        names = () if self.naming is None else self.naming.names(line, given, places)
        texts = tuple(self._text(slot, line) for slot in slots)
        for path in self._dropped:
            for slot in list(self._slots(record, path, line)):
                del slot.holder[slot.key]
        for slot in slots:
            slot.holder[slot.key] = None
        if len(text) > _LONG:  # what is not private would hold all of the line in memory
            _copy_what_is_raw(record)
        columns = [slot.column for slot in slots]
        return Row((record, slots, line == 1), texts, len(text), names, self._fields(pairs), columns)

    def _fields(self, pairs: Pairs) -> Iterator[Field]:
        for key, value in pairs:
            yield from fields_of(key, value, self.layout.roles.named)

    def _slots(self, record: dict[str, Any], path: Path, line: int) -> Iterator[_Slot]:
        """Yield where the texts of a column stand: under its very name, and where its path leads."""
        if path.name in record:
            yield _Slot(record, path.name, path.name, path.name)
        if path.steps:
            self._refuse_spelt(record, path, 0, line)
        if path.steps and path.steps[0] in record:
            yield from self._walk(record, path, 0, (), line)

    def _walk(
        self, holder: Any, path: Path, step: int, numbers: tuple[int, ...], line: int
    ) -> Iterator[_Slot]:
        """Yield the texts at the end of a path, of which ``holder`` is at a step; what is absent or null on
        the way stays so."""
        each, is_last = path.steps[step], step + 1 == len(path.steps)
        if each is EVERY and is_last:
            self._unseen.discard(path.name)  # also if the list is empty
        if each is not EVERY and each not in holder:
            return
        for key in range(len(holder)) if each is EVERY else (each,):
            passed = (*numbers, key) if isinstance(key, int) else numbers
            if is_last:
                yield _Slot(holder, key, path.name, (path.name, ".", *passed))
                continue
            inner = self._opened(holder, key, path, step + 1, line)
            if isinstance(inner, dict):
                self._refuse_spelt(inner, path, step + 1, line)
            if inner is not None:
                yield from self._walk(inner, path, step + 1, passed, line)

    def _refuse_spelt(self, holder: dict[str, Any], path: Path, step: int, line: int) -> None:
        """Refuse keys with the dots of the path in them: whoever named the path may have meant what stands
        there, and it would pass."""
        for key, is_the_rest in self._spelt[path.name][step]:
            if key in holder and (is_the_rest or bytes(_WRITE(holder[key]))[:1] in (b"{", b"[")):
                problem = (
                    f"a key is called as a part of the path {path.name}, dots or brackets included; rename it"
                )
                self._refuse(problem, line)

    def _opened(
        self, holder: Any, key: Any, path: Path, step: int, line: int
    ) -> dict[str, Any] | list[Any] | None:
        """Return the object or list on the way, in the place of its bytes; None if there is null."""
        value: dict[str, Any] | list[Any] | msgspec.Raw | None = holder[key]
        is_list = path.steps[step] is EVERY
        if isinstance(value, msgspec.Raw):
            if bytes(value) == b"null":
                return None
            if is_list:
                value = _list(value)
            else:
                opened = self._object(value, path.up_to(step), line)
                value = None if opened is None else opened[0]
            if value is None:
                kind = "a list" if is_list else "an object"
                problem = f"the value of {path.up_to(step)} is not {kind} or null"
                self._refuse(f"{problem}; a list is named with [], as in visits[].note", line)
            holder[key] = value
        if value is None or isinstance(value, list) is not is_list:
            self._refuse(f"{path.up_to(step)} is named as a list and as an object", line)
        return value

    def _object(self, text: str | msgspec.Raw, what: str, line: int) -> tuple[dict[str, Any], Pairs] | None:
        """Return an object with the bytes of its values, and with all that is in it; None if it is none."""
        try:
            record: dict[str, Any] = _OBJECT(text)
            pairs: Pairs = _PAIRS(text if isinstance(text, str) else bytes(text).decode())
        except _NOT_JSON:
            return None
        if len(pairs) != len(record):
            self._refuse(f"a key stands twice in {what}", line)
        return record, pairs

    def _given(self, record: dict[str, Any], line: int) -> str | float | None:
        """Return the id of a record; None if it has none."""
        if self._id is None:
            return None
        raw, holder = record.get(self._id.name), record
        for step, key in enumerate(() if self._id.name in record else self._id.steps, 1):
            raw = holder.get(str(key))
            if raw is None or step == len(self._id.steps):
                break
            opened = self._object(raw, self._id.up_to(step), line)
            holder = {} if opened is None else opened[0]
        try:
            given: str | float | None = None if raw is None else self._read_id(raw)
        except _NOT_JSON:
            naming = self.naming or Naming
            problem = f"the value of {self._id.name} is no {naming.called}"
            self._refuse(f"{problem}: {naming.called}s are {naming.kinds_in_words}", line)
        return given

    def _text(self, slot: _Slot, line: int) -> str | None:
        value = slot.holder[slot.key]
        try:
            text: str | None = _TEXT(value)
        except (*_NOT_JSON, TypeError):
            start = (
                bytes(value)[:1]
                if isinstance(value, msgspec.Raw)
                else b"["
                if isinstance(value, list)
                else b"{"
            )
            advice = ""
            if start == b"[":
                advice = f"; it is a list: name its texts, as {slot.column}[]"
            elif start == b"{":
                advice = f"; it is an object: name a text in it by its path, such as {slot.column}.text"
            self._refuse(f"the value of {slot.column} is not text or null{advice}", line)
        return text

    def _refuse(self, problem: str, line: int) -> NoReturn:
        if self._is_array:
            raise RecordError(self.name, problem, record=line) from None
        raise RecordError(self.name, problem, line=line) from None

    def _refuse_unseen(self, line: int) -> NoReturn:
        name = next(path.name for path in self._paths if path.name in self._unseen)
        # Keys can be private too: a file may hold what somebody said under their name.
        advice = meant_columns([name], self._keys) or TO_SEE_THE_NAMES
        where = f"none of the first {line:,} records of {printable(self.name)} has it"
        problem = f"{where}; they have {number_of(len(self._keys), 'other key')}; {advice}"
        raise InvalidParameter("columns", name, problem)


def _list(text: msgspec.Raw) -> list[Any] | None:
    try:
        return _LIST(text)
    except _NOT_JSON:
        return None


def _paths_to_drop(name: str) -> Iterator[Path]:
    """Yield the paths to drop for a name; elements of a list are dropped with the list."""
    holder = name
    while holder.endswith("[]"):
        holder = holder.removesuffix("[]")
    if holder == name or not holder:
        yield parse_path(name)
    else:
        yield from (Path(name=name), parse_path(holder))


def _copy_what_is_raw(holder: dict[str, Any] | list[Any]) -> None:
    for key, value in holder.items() if isinstance(holder, dict) else enumerate(holder):
        if isinstance(value, msgspec.Raw):
            holder[key] = value.copy()  # type: ignore[index]
        elif isinstance(value, dict | list):
            _copy_what_is_raw(value)


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
