"""The fields of a record by their paths: ``review``, ``visit.note``, ``visits[].note``, ``notes[]``.

A column may also be called just that, dots and brackets included. A column with exactly the name that was
asked for is always meant; where a file has both, both hold private text.

Messages about columns never show the first line of a file: without a header, that is a private record.
"""

from __future__ import annotations

import datetime
import decimal
import enum
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from deniable.errors import InvalidParameter, printable
from deniable.records.formats.naming import Place

EVERY = None
"""The step of a path into every element of a list."""

WHOLE_LINE = None
"""The path of a text that has none: a line, or a file of a folder. No column has this name, not even an empty
one."""

_DEEPEST = 20


class Leaf(enum.Enum):
    """Stands for a value that is not looked into: it has a role, a formula makes it, or it is something else
    (bytes, times, maps, dates that no calendar has, deep values)."""

    NAMED = "named"
    FORMULA = "formula"
    OTHER = "other"


class Unnamed(str):
    """The path of cells that the header has no name for: no ``--column`` takes it."""

    __slots__ = ()


class Pairs(list[tuple[str, Any]]):
    """The keys of an object with their values, in order; a key may be there twice."""


Value = str | float | bool | datetime.date | Leaf | None
Field = tuple[str | None, Value]
"""The path of a value, as ``--column`` takes it, and the value."""


@dataclass(frozen=True, kw_only=True)
class Path:
    """A column by its name, and the steps to it: the key of an object, or ``EVERY`` element of a list.
    Without steps it is not nested."""

    name: str
    steps: tuple[str | None, ...] = ()

    def up_to(self, step: int) -> str:
        """Return the path as far as a step, as it is written."""
        written = ""
        for each in self.steps[:step]:
            written += "[]" if each is EVERY else f".{each}" if written else each
        return written

    @property
    def trunk(self) -> Path:
        """The path to the list whose elements it leads to, or the path itself."""
        steps = self.steps
        while steps and steps[-1] is EVERY:
            steps = steps[:-1]
        return Path(name=self.name, steps=steps)

    @cached_property
    def spelt(self) -> list[dict[str, bool]]:
        """For each step the keys that spell two or more steps from it on, and whether they spell all the
        rest; not the name of the whole."""
        return [
            {
                Path(name="", steps=self.steps[step:end]).up_to(end - step): end == len(self.steps)
                for end in range(step + 2, len(self.steps) + 1)
                if self.steps[step] is not EVERY and (step, end) != (0, len(self.steps))
            }
            for step in range(len(self.steps))
        ]


class Slot(NamedTuple):
    """Where a text stood in a record and its release goes: in an object or a list, by a key or a number."""

    holder: Any
    key: str | int
    place: Place


def find_slots(record: dict[str, Any], path: Path) -> Iterator[Slot]:
    """Yield where the texts of a column are: under its very name, and where its path leads.

    What is absent or null on the way stays so. Anything else that is no object or list, and a key that spells
    a part of the path, is a ValueError: anybody who named it may have meant what is there, and it would pass.
    """
    if path.name in record:
        yield Slot(record, path.name, path.name)
    yield from nested_slots(record, path)


def nested_slots(
    holder: Any, path: Path, step: int = 0, numbers: tuple[int, ...] = (), *, under_null: bool = False
) -> Iterator[Slot]:
    """Yield where the path leads from what holds one of its steps.

    With ``under_null`` a text is missing, and is written nowhere, where an object on the way is null.
    """
    if step == len(path.steps):
        return
    each, is_last = path.steps[step], step + 1 == len(path.steps)
    fits = isinstance(holder, list if each is EVERY else dict)
    if not fits:
        kind = "a list" if each is EVERY else "an object"
        problem = f"the value of {path.up_to(step)} is not {kind} or null"
        raise ValueError(f"{problem}; a list is named with [], as in visits[].note")
    for key, is_the_rest in path.spelt[step].items():
        if key in holder and (is_the_rest or isinstance(holder[key], dict | list)):
            problem = f"a key is called as a part of the path {path.name}, dots or brackets included"
            raise ValueError(f"{problem}; rename it")
    keys: Iterable[Any] = range(len(holder)) if each is EVERY else [each] if each in holder else []
    for key in keys:
        passed = (*numbers, key) if isinstance(key, int) else numbers
        if is_last:
            yield Slot(holder, key, (path.name, ".", *passed))
        elif holder[key] is not None:
            yield from nested_slots(holder[key], path, step + 1, passed, under_null=under_null)
        elif under_null and EVERY not in path.steps[step + 1 :]:
            yield Slot([None], 0, (path.name, ".", *passed))


def column_of(place: Place) -> str:
    """Return the column that a text stands in."""
    return place if isinstance(place, str) else str(place[0])


def parse_path(name: str) -> Path:
    """Return the path that a name stands for, beside the column of just that name."""
    steps: list[str | None] = []
    for part in name.split("."):
        end, lists = len(part), 0
        while part.endswith("[]", 0, end):
            end, lists = end - 2, lists + 1
        if not end:
            return Path(name=name)
        steps += [part[:end], *[EVERY] * lists]
    return Path(name=name, steps=tuple(steps)) if len(steps) > 1 else Path(name=name)


def leads_into_lists(names: Sequence[str]) -> bool:
    """Return whether one of the names is a path into a list."""
    return any(EVERY in parse_path(name).steps for name in names)


def is_inside(name: str, other: str) -> bool:
    """Return whether a path leads to something inside the column of another name or path."""
    steps, through = parse_path(name).steps or (name,), parse_path(other).steps or (other,)
    return len(steps) > len(through) and steps[: len(through)] == through


def fields_of(path: str, value: Any, named: Collection[str] = (), depth: int = 0) -> Iterator[Field]:
    """Yield every value inside a value with its path; ``Leaf.NAMED`` for everything at or under one of the
    ``named`` paths."""
    if path in named:
        yield path, Leaf.NAMED
    elif depth > _DEEPEST:
        yield path, Leaf.OTHER
    elif isinstance(value, dict | Pairs):
        for key, inner in value if isinstance(value, Pairs) else value.items():
            yield from fields_of(f"{path}.{key}", inner, named, depth + 1)
    elif isinstance(value, list):
        for inner in value:
            yield from fields_of(f"{path}[]", inner, named, depth + 1)
    elif value is None or isinstance(value, str | bool | int | float | datetime.date | Leaf):
        yield path, value
    else:
        yield path, float(value) if isinstance(value, decimal.Decimal) else Leaf.OTHER


def title_at(titles: Sequence[str] | None, place: int) -> str:
    """Return the path of a cell by its place; without ``titles`` columns are numbers from 1."""
    if titles is None:
        return str(place + 1)
    return titles[place] if place < len(titles) else Unnamed(f"(cell {place + 1})")


TO_SEE_THE_NAMES = "`deniable check FILE` shows the names"
OTHER_DELIMITERS = {";": "';'", "\t": "tab", "|": "'|'", ",": "','"}
"""What may stand between cells, and how ``--delimiter`` takes it."""

_NAMES_SHOWN = 50
_SHORTEST_MISTYPED = 4


def find_named_columns(wanted: Sequence[str], names: Sequence[str], source: str) -> list[int]:
    """Return the places of the wanted columns in a schema, whose names are public."""
    return _find(wanted, names, source, lambda _: (names_as_text(names), "name one of its columns"))


def find_header_columns(
    wanted: Sequence[str], titles: Sequence[str], source: str, *, header: bool = True, or_else: str = ""
) -> list[int]:
    """Return the places of the wanted columns in what should be a header, and may be a private record.

    Without a ``header`` the titles are numbers. ``or_else`` is what to advise if no column can be meant.
    """

    def there_and_advice(missing: set[str]) -> tuple[str, str]:
        advice = "without a header, columns are numbers from 1"
        if header:
            advice = meant_columns(missing, titles) or or_else or _about_delimiters(missing, titles)
        return number_of(len(titles), "column"), advice

    return _find(wanted, titles, source, there_and_advice)


def _find(
    wanted: Sequence[str],
    names: Sequence[str],
    source: str,
    there_and_advice: Callable[[set[str]], tuple[str, str]],
) -> list[int]:
    problem = next((name for name in wanted if names.count(name) != 1), None)
    if wanted and problem is None:
        return [names.index(name) for name in wanted]
    source, (there, advice) = printable(source), there_and_advice(set(wanted).difference(names))
    if problem is None:
        how = f"choose at least one column of private text with --column; {source} has {there}; {advice}"
        raise InvalidParameter("columns", [], how)
    if problem not in names:
        raise InvalidParameter("columns", problem, f"{source} has no such column (it has {there}); {advice}")
    twice = f"{source} has {names.count(problem)} columns of that name; rename them"
    raise InvalidParameter("columns", problem, twice)


def _about_delimiters(missing: set[str], header: Sequence[str]) -> str:
    for delimiter, option in OTHER_DELIMITERS.items():
        parts = {part.strip(' "') for cell in header if delimiter in cell for part in cell.split(delimiter)}
        if not missing.isdisjoint(parts):
            return f"try --delimiter {option}"
    other = "try another --delimiter, such as ';'; " if len(header) == 1 else ""
    return f"{other}if the file has no header use --no-header; {TO_SEE_THE_NAMES}"


def likely_delimiter(header: Sequence[str], delimiter: str) -> str | None:
    """Return the option for ``--delimiter`` if another mark is more frequent in the first row; else None."""
    marks = {mark: sum(cell.count(mark) for cell in header) for mark in OTHER_DELIMITERS if mark != delimiter}
    mark = max(marks, key=lambda each: marks[each])
    return OTHER_DELIMITERS[mark] if marks[mark] >= max(1, len(header)) else None


def meant_columns(missing: Collection[str], names: Collection[str]) -> str | None:
    """Return which columns are probably meant: up to case, blanks or one slip, or as a comma list.

    No other name of the file is shown: its first row may be a private record. The answer tells at most one
    letter of it.
    """
    for name in sorted(missing):
        parts = [part.strip() for part in name.split(",")]
        if len(parts) > 1 and set(parts) <= set(names):
            options = " ".join(f"--column {printable(part)}" for part in parts)
            return f"give each column its own option: {options}"
        for most_slips in (0, 1):
            similar = [each for each in names if _slips(_plain(each), _plain(name)) <= most_slips]
            if len(similar) == 1:
                return f"did you mean {printable(similar[0])}?"
    return None


def _slips(one: str, other: str) -> int:
    """Return 0 for equal names, 1 if a character is left out, put in, mistaken or swapped, else 2."""
    if one == other:
        return 0
    if min(len(one), len(other)) < _SHORTEST_MISTYPED:
        return 2
    pairs = enumerate(zip(one, other, strict=False))
    start = next((i for i, (mine, yours) in pairs if mine != yours), min(len(one), len(other)))
    one, other = one[start:], other[start:]
    swapped = one[1::-1] == other[:2] and one[2:] == other[2:]
    return 1 if one[1:] == other[1:] or one[1:] == other or one == other[1:] or swapped else 2


def _plain(name: str) -> str:
    return "".join(name.split()).replace("_", "").casefold()


def untouched_columns(names: Sequence[str]) -> str | None:
    """Return in words that these columns are released as they are; None if there are none."""
    return f"every value of {names_as_text(names)}" if names else None


def number_of(number: int, what: str) -> str:
    """Return the number with its noun."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def names_as_text(names: Sequence[str], what: str = "column") -> str:
    """Return the names as words, the first few if they are many."""
    if not names:
        return f"no {what}s"
    shown = ", ".join(map(printable, names[:_NAMES_SHOWN]))
    more = f" and {len(names) - _NAMES_SHOWN:,} more" if len(names) > _NAMES_SHOWN else ""
    return f"the {what}{'s' if len(names) > 1 else ''} {shown}{more}"
