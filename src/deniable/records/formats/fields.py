"""The fields of a record by their paths: ``review``, ``visit.note``, ``visits[].note``, ``notes[]``.

A column may also be called just that, dots and brackets included. A column with exactly the name that was
asked for is always meant; where a file has both, both hold private text.
"""

from __future__ import annotations

import datetime
import decimal
import enum
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

EVERY = None
"""The step of a path into every element of a list."""

WHOLE_LINE = None
"""The path of a text that has none: a line, or a file of a folder. No column has this name, not even an empty
one."""

_DEEPEST = 20
_PART = re.compile(r"(?P<key>.*?)(?P<lists>(?:\[\])*)")


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

    def spelt(self, step: int) -> Iterator[tuple[str, bool]]:
        """Yield the keys that spell two or more steps from a step on, and whether they spell all the rest;
        not the name of the whole."""
        for end in range(step + 2, len(self.steps) + 1):
            if self.steps[step] is not EVERY and (step, end) != (0, len(self.steps)):
                yield Path(name="", steps=self.steps[step:end]).up_to(end - step), end == len(self.steps)


def parse_path(name: str) -> Path:
    """Return the path that a name stands for, beside the column of just that name."""
    steps: list[str | None] = []
    for part in name.split("."):
        match = _PART.fullmatch(part)
        if match is None or not match["key"]:
            return Path(name=name)
        steps += [match["key"], *[EVERY] * (len(match["lists"]) // 2)]
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
