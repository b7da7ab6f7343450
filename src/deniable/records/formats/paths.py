"""Columns that stand inside others, by their path: ``visit.note``, ``visits[].note``, ``notes[]``.

``leaves`` gives the values of a record by these paths.

A column may also be called just that, dots and brackets included. What has exactly the name that was asked
for is always meant; where a file has both, both hold private text.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

EVERY = None
"""The step of a path into every element of a list."""

_DEEPEST = 20
_PART = re.compile(r"(?P<key>.*?)(?P<lists>(?:\[\])*)")


@dataclass(frozen=True, kw_only=True)
class Path:
    """A column by its name, and the steps to it: the key of an object, or ``EVERY`` element of a list.
    Without steps it is not nested."""

    name: str
    steps: tuple[str | None, ...] = ()

    def up_to(self, step: int) -> str:
        """Return the path as far as a step, as it is written."""
        said = ""
        for each in self.steps[:step]:
            said += "[]" if each is EVERY else f".{each}" if said else each
        return said

    def spelt(self, step: int) -> Iterator[tuple[str, bool]]:
        """Yield the keys that spell two steps and more from a step on, and whether they spell all the rest;
        not the name of the whole."""
        for end in range(step + 2, len(self.steps) + 1):
            if self.steps[step] is not EVERY and (step, end) != (0, len(self.steps)):
                yield Path(name="", steps=self.steps[step:end]).up_to(end - step), end == len(self.steps)


def leads_into_lists(names: Sequence[str]) -> bool:
    """Return whether one of the names is a path into a list."""
    return any(EVERY in parse_path(name).steps for name in names)


def parse_path(name: str) -> Path:
    """Return the path that a name stands for, beside the column of just that name."""
    steps: list[str | None] = []
    for part in name.split("."):
        found = _PART.fullmatch(part)
        if found is None or not found["key"]:
            return Path(name=name)
        steps += [found["key"], *[EVERY] * (len(found["lists"]) // 2)]
    return Path(name=name, steps=tuple(steps)) if len(steps) > 1 else Path(name=name)


def is_inside(name: str, other: str) -> bool:
    """Return whether a path leads to something inside the column of another name or path."""
    steps, through = parse_path(name).steps or (name,), parse_path(other).steps or (other,)
    return len(steps) > len(through) and steps[: len(through)] == through


class Leaf(enum.Enum):
    """What ``leaves`` gives in place of what it does not look into."""

    NAMED = "named"
    TOO_DEEP = "too deep"


class Pairs(list[tuple[str, Any]]):
    """The keys of an object with their values, in order; a key may stand there twice."""


def leaves(path: str, value: Any, named: Collection[str] = ()) -> Iterator[tuple[str, Any]]:
    """Yield every value inside a value with its path; ``Leaf.NAMED`` for all that stands at or under one of
    the ``named`` paths."""
    yield from _leaves(path, value, named, 0)


def _leaves(path: str, value: Any, named: Collection[str], depth: int) -> Iterator[tuple[str, Any]]:
    if path in named:
        yield path, Leaf.NAMED
    elif depth > _DEEPEST:
        yield path, Leaf.TOO_DEEP
    elif isinstance(value, dict | Pairs):
        for key, inner in value if isinstance(value, Pairs) else value.items():
            yield from _leaves(f"{path}.{key}", inner, named, depth + 1)
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(f"{path}[]", inner, named, depth + 1)
    else:
        yield path, value
