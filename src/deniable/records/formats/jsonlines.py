"""JSON Lines: the bytes of values that are not private text pass as they are."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from typing import Any, NamedTuple, NoReturn, Union

import msgspec

from deniable.errors import InvalidParameter, RecordError, UndecidedColumns, printable
from deniable.records.formats.layout import TO_SEE_THE_NAMES, Layout, meant_columns, number_of
from deniable.records.formats.naming import Naming, Place
from deniable.records.formats.paths import EVERY, Leaf, Pairs, Path, leads_into_lists, leaves, parse_path
from deniable.records.formats.reader import LineReader, Row
from deniable.records.formats.source import LONGEST_RECORD, Lines, Source

_OBJECT = msgspec.json.Decoder(dict[str, msgspec.Raw])
_LIST = msgspec.json.Decoder(list[msgspec.Raw])
_TEXT = msgspec.json.Decoder(str | None)
_WRITE = msgspec.json.Encoder().encode
# msgspec keeps the last of two equal keys and says nothing; this reader of the standard library shows every
# pair.
_PAIRS = json.JSONDecoder(object_pairs_hook=Pairs, parse_int=str, parse_float=str).decode
_RECORDS_TO_SEE_A_COLUMN_IN = 1_000
_LONG = 1 << 16


class _Slot(NamedTuple):
    """Where a private text stood and its release goes: in an object or a list of the record, under a key or a
    number."""

    holder: Any
    key: str | int
    column: str
    place: Place


class JsonLinesReader(LineReader):
    """Reads one object a line. An absent key stays absent, null stays null, empty lines stay empty lines."""

    counted_as = "line"

    def __init__(self, source: Source, layout: Layout, naming: Naming | None = None) -> None:
        """Prepare to read.

        :raises InvalidParameter: if no column is named.
        """
        if not layout.columns:
            raise InvalidParameter("columns", [], "say which keys hold private text (--column)")
        self._paths = [parse_path(name) for name in layout.columns]
        self._unseen = set(layout.columns)
        self._dropped = [path for name in layout.roles.drop for path in _paths_to_drop(name)]
        self._named, self._judged = layout.roles.named, ""
        self._passing: Collection[str] | None = None
        self._keys: set[str] = set()
        self._id = None if naming is None or naming.column is None else parse_path(naming.column)
        self._read_id = msgspec.json.Decoder(Union[(*(naming or Naming).kinds, None)]).decode
        super().__init__(source, self.records_of(source, layout), naming)
        self.untouched = f"every value of keys other than {', '.join([*layout.columns, *layout.roles.drop])}"
        self.has_lists = leads_into_lists(layout.columns)
        self._spelt = {
            path.name: [list(path.spelt(step)) for step in range(len(path.steps))]
            for path in (*self._paths, *self._dropped)
        }

    def let_pass(self, columns: Collection[str], judged: str) -> None:
        """Refuse a record that holds a key which has no role and is not among these, at any depth."""
        self._passing, self._judged = columns, judged

    def records_of(self, source: Source, layout: Layout) -> Lines:
        """Return what gives the objects one by one, as text."""
        return Lines(source, layout.encoding)

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
        return b"".join(written + b"\n" for written in self.objects(payloads, released))

    def objects(self, payloads: list[Any], released: list[str | None]) -> Iterator[bytes]:
        """Yield each object with the released texts in it; nothing for an empty line."""
        texts = iter(released)
        for payload in payloads:
            if payload is None:
                yield b""
                continue
            record, slots = payload
            for slot in slots:
                slot.holder[slot.key] = next(texts)
            yield _WRITE(record)

    def _row(self, text: str, line: int) -> Row:
        if not text.strip(" \t\r"):
            return Row(None, (), len(text))
        record = self._object(text, "the object", line, whole=True)
        if record is None:
            self._refuse("not a JSON object", line)
        if self._unseen:
            self._keys.update(record)
        given = self._given(record, line)  # before what holds private text is taken apart
        slots = [slot for path in self._paths for slot in self._slots(record, path, line)]
        if self._unseen:
            self._unseen.difference_update(slot.column for slot in slots)
        names = (
            () if self._naming is None else self._naming.names(line, given, [slot.place for slot in slots])
        )
        texts = tuple(self._text(slot, line) for slot in slots)
        self._drop(record, line)
        for slot in slots:
            slot.holder[slot.key] = None
        if len(text) > _LONG:  # what is not private would hold all of the line in memory
            _copy_what_is_raw(record)
        return Row((record, slots), texts, len(text), names)

    def _drop(self, record: dict[str, Any], line: int) -> None:
        for path in self._dropped:
            for slot in list(self._slots(record, path, line)):
                del slot.holder[slot.key]

    def _refuse_undecided(self, pairs: Pairs) -> None:
        for key, value in pairs:
            for path, leaf in leaves(key, value, self._named):
                if (
                    leaf is not None
                    and leaf != ""
                    and leaf is not Leaf.NAMED
                    and path not in (self._passing or ())
                ):
                    raise UndecidedColumns(self._name, {path: "no role"}, judged=self._judged)

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
        keys: list[Any] = list(range(len(holder))) if path.steps[step] is EVERY else [path.steps[step]]
        if path.steps[step] is EVERY and step + 1 == len(path.steps):
            self._unseen.discard(path.name)  # also if the list is empty
        for key in keys:
            passed = (*numbers, key) if path.steps[step] is EVERY else numbers
            if path.steps[step] is not EVERY and key not in holder:
                continue
            if step + 1 == len(path.steps):
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
                self._refuse(
                    f"a key is called as a part of the path {path.name}, dots or brackets included; rename it",  # noqa: E501
                    line,
                )

    def _opened(
        self, holder: Any, key: Any, path: Path, step: int, line: int
    ) -> dict[str, Any] | list[Any] | None:
        """Return the object or list on the way, in the place of its bytes; None if there is null."""
        value: dict[str, Any] | list[Any] | msgspec.Raw | None = holder[key]
        as_list = path.steps[step] is EVERY
        if isinstance(value, msgspec.Raw):
            if bytes(value) == b"null":
                return None
            value = self._list(value) if as_list else self._object(value, path.up_to(step), line)
            if value is None:
                other = "a list" if as_list else "an object"
                self._refuse(
                    f"the value of {path.up_to(step)} is not {other} or null; a list is named with [], as in "
                    "visits[].note",
                    line,
                )
            holder[key] = value
        if value is None or isinstance(value, list) is not as_list:
            self._refuse(f"{path.up_to(step)} is named as a list and as an object", line)
        return value

    def _object(
        self, text: str | msgspec.Raw, what: str, line: int, *, whole: bool = False
    ) -> dict[str, Any] | None:
        try:
            found: dict[str, Any] = _OBJECT.decode(text)
            pairs = _PAIRS(text if isinstance(text, str) else bytes(text).decode())
        except (msgspec.MsgspecError, ValueError, RecursionError):
            return None  # the library's own words could quote the text
        if len(pairs) != len(found):
            self._refuse(f"a key stands twice in {what}", line)
        if whole and self._passing is not None:
            self._refuse_undecided(pairs)
        return found

    @staticmethod
    def _list(text: msgspec.Raw) -> list[Any] | None:
        try:
            found: list[Any] = _LIST.decode(text)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            return None
        return found

    def _given(self, record: dict[str, Any], line: int) -> str | float | None:
        """Return the id of a record; None if it has none."""
        if self._id is None:
            return None
        if self._id.name in record or not self._id.steps:
            raw = record.get(self._id.name)
        else:
            raw, holder = None, record
            for step, key in enumerate(self._id.steps, 1):
                raw = holder.get(str(key))
                if raw is None or step == len(self._id.steps):
                    break
                holder = self._object(raw, self._id.up_to(step), line) or {}
        if raw is None:
            return None
        try:
            given: str | float | None = self._read_id(raw)
        except (msgspec.MsgspecError, ValueError):
            naming = self._naming or Naming
            self._refuse(
                f"the value of {self._id.name} is no {naming.called}: {naming.called}s are "
                f"{naming.kinds_in_words}",
                line,
            )
        return given

    def _text(self, slot: _Slot, line: int) -> str | None:
        try:
            text: str | None = _TEXT.decode(slot.holder[slot.key])
        except (msgspec.MsgspecError, ValueError, TypeError):
            found = slot.holder[slot.key]
            listed = isinstance(found, list) or (
                isinstance(found, msgspec.Raw) and bytes(found).startswith(b"[")
            )
            advice = f"; it is a list: name its texts, as {slot.column}[]" if listed else ""
            if isinstance(found, dict) or (isinstance(found, msgspec.Raw) and bytes(found).startswith(b"{")):
                advice = f"; it is an object: name a text in it by its path, such as {slot.column}.text"
            self._refuse(f"the value of {slot.column} is not text or null{advice}", line)
        return text

    def _refuse(self, problem: str, line: int) -> NoReturn:
        if self.counted_as == "line":
            raise RecordError(self._name, problem, line=line) from None
        raise RecordError(self._name, problem, record=line) from None

    def _refuse_unseen(self, line: int) -> None:
        name = next(path.name for path in self._paths if path.name in self._unseen)
        raise unseen(name, self._keys, line, self._name)


def unseen(name: str, keys: set[str], records: int, source: str) -> InvalidParameter:
    """Return the error about a column that none of the first records has, whose keys these are."""
    # Keys can be private too: a file may hold what somebody said under their name.
    advice = meant_columns([name], keys) or TO_SEE_THE_NAMES
    others = number_of(len(keys), "other key")
    problem = (
        f"none of the first {records:,} records of {printable(source)} has it; they have {others}; {advice}"
    )
    return InvalidParameter("columns", name, problem)


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
