"""A matcher of regular expressions that counts its steps: how much work a pattern is, whatever the machine
and its clock.

It backtracks as the library does, without any of its short cuts, so that a pattern may be linear there and
not here, but not the other way round in what the cutter uses: classes, alternatives, repeats and looking
around.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from re import _constants as ops  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

import regex

_CLASSES = {
    r"\p{L}": "\ue001",
    r"\p{N}": "\ue002",
    r"\p{M}": "\ue003",
    r"\w": "\ue004",
    r"\s": "\ue005",
    r"\S": "\ue006",
    r"\d": "\ue007",
    r"\W": "\ue008",
}
_IS = {ord(mark): regex.compile(known) for known, mark in _CLASSES.items()}


class Match:
    """Where a match starts and ends."""

    def __init__(self, start: int, stop: int) -> None:
        self._span = start, stop

    def span(self) -> tuple[int, int]:
        return self._span

    def end(self) -> int:
        return self._span[1]


class CountingPattern:
    """A pattern that counts in ``steps`` how often it looks at a character."""

    def __init__(self, pattern: str) -> None:
        for known, mark in _CLASSES.items():
            pattern = pattern.replace(known, mark)
        self._items = list(parser.parse(pattern))
        self.steps = 0

    def fullmatch(self, text: str) -> bool:
        """Return whether the pattern matches all of a text."""
        self._text, self._stop = text, len(text)
        return any(end == len(text) for end in self._run(self._items, 0))

    def finditer(self, text: str, start: int, stop: int) -> Iterator[Match]:
        """Yield the matches as the library does."""
        self._text, self._stop = text, stop
        while start <= stop:
            end = next(self._run(self._items, start), None)
            if end is None or end == start:
                start += 1
            else:
                yield Match(start, end)
                self._text, self._stop, start = text, stop, end

    def _run(self, items: list[Any], at: int) -> Iterator[int]:
        if not items:
            yield at
            return
        for end in self._one(items[0][0], items[0][1], at):
            yield from self._run(items[1:], end)

    def _one(self, op: Any, given: Any, at: int) -> Iterator[int]:
        if op in (ops.LITERAL, ops.NOT_LITERAL, ops.IN, ops.ANY):
            if self._is_one(op, given, at):
                yield at + 1
        elif op is ops.BRANCH:
            for branch in given[1]:
                yield from self._run(list(branch), at)
        elif op is ops.AT:
            if at == (0 if given is ops.AT_BEGINNING else len(self._text)):
                yield at
        elif op is ops.SUBPATTERN:
            yield from self._run(list(given[3]), at)
        elif op is ops.ASSERT or op is ops.ASSERT_NOT:
            if self._looks(given[0], given[1], at) is (op is ops.ASSERT):
                yield at
        elif op is ops.MIN_REPEAT:
            yield from self._lazily(given[0], given[1], given[2], at)
        else:
            assert op in (ops.MAX_REPEAT, ops.POSSESSIVE_REPEAT), op
            yield from self._greedily(
                given[0], given[1], given[2], at, possessive=op is ops.POSSESSIVE_REPEAT
            )

    def _greedily(self, least: int, most: Any, inner: Any, at: int, *, possessive: bool) -> Iterator[int]:
        if most == 1 and not possessive:
            yield from self._run(list(inner), at)
            if not least:
                yield at
            return
        # What is repeated here is one character or possessive in itself, so its first way is its only one.
        ends = [at]
        while (
            len(ends) <= most
            and (end := next(self._run(list(inner), ends[-1]), None)) is not None
            and end > ends[-1]
        ):
            ends.append(end)
        if len(ends) > least:
            yield from ends[-1:] if possessive else ends[: least - 1 if least else None : -1]

    def _lazily(self, least: int, most: int, inner: Any, at: int) -> Iterator[int]:
        if least <= 0:
            yield at
        if most > 0:
            for end in self._run(list(inner), at):
                yield from self._lazily(least - 1, most - 1, inner, end)

    def _looks(self, direction: int, inner: Any, at: int) -> bool:
        if direction > 0:
            return next(self._run(list(inner), at), None) is not None
        widest = inner.getwidth()[1]
        return any(at in self._run(list(inner), begin) for begin in range(at, max(0, at - widest) - 1, -1))

    def _is_one(self, op: Any, given: Any, at: int) -> bool:
        if at >= len(self._text) or at >= self._stop:
            return False
        self.steps += 1
        return _holds(
            op,
            repr(given) if op is ops.IN else "",
            given if op is not ops.IN else tuple(given),
            self._text[at],
        )


@lru_cache(maxsize=100_000)
def _holds(op: Any, _key: str, given: Any, character: str) -> bool:
    if op is ops.ANY:
        return character != "\n"
    if op is ops.IN:
        negated = given[0][0] is ops.NEGATE
        found = any(
            given_one[0] <= ord(character) <= given_one[1]
            if kind is ops.RANGE
            else _holds(kind, "", given_one, character)
            for kind, given_one in given[negated:]
        )
        return found != negated
    found = bool(_IS[given].match(character)) if given in _IS else chr(given).lower() == character.lower()
    return found == (op is ops.LITERAL)
