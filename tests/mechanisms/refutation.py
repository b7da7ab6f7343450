"""Tries to refute exp(bound) for two words of a mechanism seen as a black box, by the audit that users run
(deniable.audit.bound).

With Clopper–Pearson bounds at level ALPHA a true mechanism is refuted in fewer than 4·ALPHA of all tries,
even where its ratio equals the bound.
"""

from __future__ import annotations

from collections.abc import Callable

from deniable.arrays import Ids
from deniable.audit.bound import search_and_judge

ALPHA = 1e-5

Draw = Callable[[int, int], Ids]
"""Given a word id and a number of draws, return the released ids."""


def refuted(draw: Draw, first: int, second: int, bound: float, *, draws: int = 200_000) -> bool:
    """Return whether Pr[M(first) ∈ S] > exp(bound)·Pr[M(second) ∈ S] is shown for some set S of outputs."""
    findings = search_and_judge(
        draw, [first, second], lambda _first, _second: bound, draws=draws, level=4 * ALPHA, pairs=2
    )
    return any(finding.refuted for finding in findings if finding.first == first)


def refuted_either_way(draw: Draw, first: int, second: int, bound: float, *, draws: int = 200_000) -> bool:
    """Return whether the bound is refuted in one direction or the other."""
    findings = search_and_judge(
        draw, [first, second], lambda _first, _second: bound, draws=draws, level=4 * ALPHA, pairs=2
    )
    return any(finding.refuted for finding in findings)
