"""Tries to refute exp(ε·d) for a mechanism seen as a black box.

The event is chosen on one half of the draws and judged on the other, so that looking for the worst event costs no
confidence. With Clopper–Pearson bounds at level ALPHA a true mechanism is refuted in fewer than 2·ALPHA of all tries,
even where its ratio equals the bound.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy import stats

from deniable.interfaces import Ids

ALPHA = 1e-5

Draw = Callable[[int, int], Ids]
"""Given a word id and a number of draws, return the released ids."""


def refuted(draw: Draw, first: int, second: int, bound: float, *, draws: int = 200_000) -> bool:
    """Return whether Pr[M(first) ∈ S] > exp(bound)·Pr[M(second) ∈ S] is shown for some set S of outputs."""
    chosen = _worst_event(draw(first, draws // 2), draw(second, draws // 2))
    hits = int(np.isin(draw(first, draws // 2), chosen).sum())
    others = int(np.isin(draw(second, draws // 2), chosen).sum())
    return _lower(hits, draws // 2) > math.exp(bound) * _upper(others, draws // 2)


def refuted_either_way(draw: Draw, first: int, second: int, bound: float, *, draws: int = 200_000) -> bool:
    """Return whether the bound is refuted in one direction or the other."""
    return refuted(draw, first, second, bound, draws=draws) or refuted(draw, second, first, bound, draws=draws)


def _worst_event(first: Ids, second: Ids) -> Ids:
    size = int(max(first.max(), second.max())) + 1
    p, q = np.bincount(first, minlength=size), np.bincount(second, minlength=size)
    order = np.argsort(-(p + 0.5) / (q + 0.5))
    mass_p, mass_q = np.cumsum(p[order]), np.cumsum(q[order])
    certain = [_lower(int(a), len(first)) / _upper(int(b), len(second)) for a, b in zip(mass_p, mass_q, strict=True)]
    worst: Ids = order[: int(np.argmax(certain)) + 1]
    return worst


def _lower(hits: int, draws: int) -> float:
    return float(stats.beta.ppf(ALPHA, hits, draws - hits + 1)) if hits else 0.0


def _upper(hits: int, draws: int) -> float:
    return float(stats.beta.ppf(1 - ALPHA, hits + 1, draws - hits)) if hits < draws else 1.0
