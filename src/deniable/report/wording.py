"""Numbers as people say them: the one place that pages and tables take shares from.

``percent`` is for sentences, where digits that say nothing are in the way. ``percent_fixed`` is for tables,
where digits stand below digits, and for shares that are compared. ``percent_up`` is for bounds. ``in_words``
says measurements against ε or another setting, as figures take them.

>>> in_words({"in context": [Point(3.0, 0.10), Point(6.0, 0.31)]}, x="ε")
'in context: from 10 % at ε = 3 to 31 % at ε = 6.'
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple


def percent(share: float) -> str:
    """Return a share in per cent, with as many digits as say something, and 0 % or 100 % only for what is
    just that."""
    if 0.0 < share < 0.0001:
        return "under 0.01 %"
    if 0.9999 < share < 1.0:
        return "over 99.99 %"
    value = 100.0 * share
    digits = 0 if value in (0.0, 100.0) or 10.0 <= value <= 90.0 else 1 if 1.0 <= value <= 99.0 else 2
    return f"{round(value, digits):g} %"


def percent_fixed(share: float | None, digits: int = 1) -> str:
    """Return a share in per cent with this many digits after the point; a dash where there is none."""
    return "–" if share is None else f"{100.0 * share:.{digits}f} %"


def percent_signed(difference: float, digits: int = 2) -> str:
    """Return a difference of shares in per cent, with its sign."""
    return f"{100.0 * difference:+.{digits}f} %"


def percent_up(share: float) -> str:
    """Return a bound in per cent, rounded up."""
    return f"{min(math.ceil(1000.0 * share - 1e-9) / 10.0, 100.0):g} %"


def rounded_up(count: int) -> int:
    """Return a number with its first two digits, rounded up."""
    unit = int(f"1{'0' * (len(str(count)) - 2)}")
    return -(-count // unit) * unit


def most_words(quantile: float) -> str:
    """Return which words a share of them is."""
    return "every word" if quantile == 1.0 else f"{percent(quantile)} of the words"


def words(count: int) -> str:
    """Return a number of words."""
    return "1 word" if count == 1 else f"{count:,} words"


def one_in(share: float, what: str = "word") -> str:
    """Return a share as people say it: 1 word in 6, 7 words in 10, every word, fewer than 1 word in 1,000."""
    if share >= 0.995:
        return f"every {what}"
    if share < 0.001:
        return f"fewer than 1 {what} in 1,000"
    if share > 0.4:
        return f"{min(9, round(10.0 * share))} {what}s in 10"
    return f"1 {what} in {round(1.0 / share):,}"


def no_curve(setting: str, value: float) -> str:
    """Return what stands in place of a figure that would be one point."""
    return f"Only {setting} = {value:g} was tried, and one point is no curve: see the table."


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
