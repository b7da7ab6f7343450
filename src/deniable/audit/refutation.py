"""Tries to show Pr[M(w) ∈ S] > exp(bound)·Pr[M(w') ∈ S] for some words w, w' and some set S of outputs.

Words and sets are chosen on one half of the draws and judged on the other, so that looking for the worst
costs no confidence beyond the number of pairs that are judged: the level is divided by it (Bonferroni), and
by two for the two probabilities of a ratio. Judging uses the exact intervals of Clopper and Pearson. A
mechanism that keeps its bound, even one that reaches it, is refuted with a probability of at most the level.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Generic, TypeVar

import numpy as np

from deniable.arrays import Floats, Ids

W = TypeVar("W", bound=Hashable)

Draw = Callable[[W, int], Ids]
"""Given an input and a number of draws, return the released outputs as numbers."""


@dataclass(frozen=True, kw_only=True)
class Finding(Generic[W]):
    """What was found for one ordered pair: the promise, and the log of the ratio that the draws show, both as
    logarithms."""

    first: W
    second: W
    promised: float
    shown: float
    outputs: int

    @property
    def refuted(self) -> bool:
        """Whether the promise is broken."""
        return self.shown > self.promised


def search_and_judge(
    draw: Draw[W],
    inputs: Sequence[W],
    log_bound: Callable[[W, W], float],
    *,
    draws: int,
    level: float,
    pairs: int,
) -> list[Finding[W]]:
    """Return findings for the ``pairs`` ordered pairs of inputs that look worst on one half of the draws,
    judged on the other.

    Each input is drawn ``draws`` times in all.
    """
    half = max(1, draws // 2)
    seen = {word: draw(word, half) for word in inputs}
    suspects = _most_suspect(seen, log_bound, pairs, level)
    if not suspects:
        return []
    fresh: dict[W, Ids] = {}
    each = level / (2 * len(suspects))
    findings = []
    for first, second, event in suspects:
        for word in (first, second):
            if word not in fresh:
                fresh[word] = draw(word, half)
        hits, others = (int(np.isin(fresh[word], event).sum()) for word in (first, second))
        shown = _log(lower(hits, half, each)) - math.log(upper(others, half, each))
        findings.append(
            Finding(
                first=first, second=second, promised=log_bound(first, second), shown=shown, outputs=len(event)
            )
        )
    return sorted(findings, key=lambda finding: finding.promised - finding.shown)


def _most_suspect(
    seen: Mapping[W, Ids], log_bound: Callable[[W, W], float], pairs: int, level: float
) -> list[tuple[W, W, Ids]]:
    size = max(int(ids.max()) for ids in seen.values()) + 1
    counts = {word: np.bincount(ids, minlength=size) for word, ids in seen.items()}
    judged: list[tuple[float, W, W, Ids]] = []
    for first, second in permutations(seen, 2):
        allowed = log_bound(first, second)
        if math.isfinite(allowed):
            excess, event = _worst_event(counts[first], counts[second], level / (2 * pairs))
            judged.append((excess - allowed, first, second, event))
    judged.sort(key=lambda found: -found[0])
    return [(first, second, event) for _, first, second, event in judged[:pairs]]


def _worst_event(first: Ids, second: Ids, level: float) -> tuple[float, Ids]:
    """Return the log ratio that is certain for the worst set of outputs, and the set: outputs by falling
    ratio, up to the best place."""
    draws = int(first.sum())
    order = np.argsort(-(first + 0.5) / (second + 0.5), kind="stable")
    order = order[(first + second)[order] > 0]
    low = lower_bounds(np.cumsum(first[order]), draws, level)
    high = upper_bounds(np.cumsum(second[order]), draws, level)
    with np.errstate(divide="ignore"):
        certain = np.log(low) - np.log(high)
    best = int(np.argmax(certain))
    return float(certain[best]), order[: best + 1]


def lower(hits: int, draws: int, level: float) -> float:
    """Return what a probability exceeds unless an event of probability ``level`` happened
    (Clopper–Pearson)."""
    return float(lower_bounds(np.array([hits]), draws, level)[0])


def upper(hits: int, draws: int, level: float) -> float:
    """Return what a probability does not exceed unless an event of probability ``level`` happened."""
    return float(upper_bounds(np.array([hits]), draws, level)[0])


def lower_bounds(hits: Ids, draws: int, level: float) -> Floats:
    """Return ``lower`` of many counts."""
    from scipy.special import betaincinv

    bounds: Floats = np.where(hits > 0, betaincinv(np.maximum(hits, 1), draws - hits + 1, level), 0.0)
    return bounds


def upper_bounds(hits: Ids, draws: int, level: float) -> Floats:
    """Return ``upper`` of many counts."""
    from scipy.special import betainccinv

    inside = np.minimum(hits, draws - 1)
    bounds: Floats = np.where(hits < draws, betainccinv(inside + 1, draws - inside, level), 1.0)
    return bounds


def _log(value: float) -> float:
    return math.log(value) if value > 0.0 else -math.inf
