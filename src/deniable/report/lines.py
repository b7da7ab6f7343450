"""Measurements against ε or another setting, as figures take them.

>>> in_words({"in context": [Point(3.0, 0.10), Point(6.0, 0.31)]}, x="ε")
'in context: from 10 % at ε = 3 to 31 % at ε = 6.'
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from deniable.report.wording import percent


class Point(NamedTuple):
    """A value at a setting, and the ends of its interval where it has one."""

    x: float
    value: float
    low: float | None = None
    high: float | None = None


Lines = Mapping[str, Sequence[Point]]
"""Points by the name of their line."""


def in_words(lines: Lines, *, x: str, shares: bool = True) -> str:
    """Return where each line begins and ends, for readers who cannot see it."""

    def number(value: float) -> str:
        return percent(value) if shares else f"{value:,.4g}"

    sentences = []
    for name, points in lines.items():
        first, last = points[0], points[-1]
        end = "" if first == last else f" to {number(last.value)} at {x} = {last.x:g}"
        sentences.append(f"{name}: from {number(first.value)} at {x} = {first.x:g}{end}.")
    return " ".join(sentences)
