"""What the words of all results share: tables, and the advice on ε."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from deniable.audit.results import AdvisedResult


class Table(NamedTuple):
    """A table of a result; the first ``text_columns`` columns hold text, the others numbers."""

    caption: str
    columns: list[str]
    rows: list[list[str]]
    text_columns: int = 1


def unsure(result: AdvisedResult, found: Iterable[tuple[float, float, float]], what_helps: str) -> str:
    """Return why an ε is not advised at which the best attacker looks acceptable, and what would help;
    nothing if there is none.

    For each ε ``found`` has the ε, how often the best attacker is right, and the upper end of the 95 %
    interval.
    """
    close = [epsilon for epsilon, success, at_most in found if success <= result.acceptable < at_most]
    if max(close, default=0.0) <= (result.largest_acceptable_epsilon or 0.0):
        return ""
    return f" The upper end of the 95 % interval counts: {what_helps}"


def advise(result: AdvisedResult, what: str, *, who: str = "it") -> str:
    """Return up to which ε an attacker stays at or below what was called acceptable."""
    largest = result.largest_acceptable_epsilon
    if largest is None:
        return f"At none of the values tried does {who} stay at or below {result.acceptable:g} {what}."
    return (
        f"Up to ε = {largest:g}, of the values tried, {who} stays at or below {result.acceptable:g} {what}."
    )
