"""How often something was right: as a share of tries with an interval, or as an estimate for all text with
its standard error.

Tries that come in clusters, words of documents and texts of authors, resemble one another, so that fewer of
them count than there are. Their interval is that of Korn and Graubard (1998). The number of tries is divided
by the design effect, which compares how much the clusters differ with what independent tries would show, and
by what is not known of that from few clusters (Student's t); where every try was right, or none, a cluster
counts as one try. The interval of Clopper and Pearson for that many tries is given. It is never narrower than
for independent tries, and says what to expect of other documents or authors of this kind.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from deniable.arrays import Floats, Ids

Flags = np.ndarray[Any, np.dtype[np.bool_]]

_TAIL = 0.025
_SAYS_LITTLE = 0.5


@dataclass(frozen=True, kw_only=True)
class Share:
    """How often something was right, of how many tries, with a 95 % interval."""

    value: float
    low: float
    high: float
    tries: int

    @property
    def says_little(self) -> bool:
        """Whether the interval is so wide that too few were tried to say how often something is right."""
        return self.high - self.low > _SAYS_LITTLE

    @property
    def interval(self) -> str:
        """The interval, in per cent, for tables."""
        return f"{100.0 * self.low:.1f} – {100.0 * self.high:.1f}"


@dataclass(frozen=True, kw_only=True)
class OverallShare:
    """A share of all text, with its standard error."""

    value: float
    standard_error: float

    @property
    def high(self) -> float:
        """The upper end of its 95 % interval."""
        return min(1.0, self.value + 1.959964 * self.standard_error)  # standard errors to either side


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


def share_of(hits: int, tries: int) -> Share:
    """Return a share with the interval of Clopper and Pearson."""
    return Share(
        value=hits / tries, low=lower(hits, tries, _TAIL), high=upper(hits, tries, _TAIL), tries=tries
    )


def share_by_cluster(hits: Flags, clusters: Ids) -> Share | None:
    """Return how often something was right; ``clusters`` says which cluster each try is of. None without
    tries."""
    from scipy.special import betainccinv, betaincinv

    tries = len(hits)
    if not tries:
        return None
    right, independent = float(hits.mean()), _independent(hits, clusters)
    named = right * independent
    low = float(betaincinv(named, independent - named + 1.0, _TAIL)) if right > 0.0 else 0.0
    high = float(betainccinv(named + 1.0, independent - named, _TAIL)) if right < 1.0 else 1.0
    return Share(value=right, low=low, high=high, tries=tries)


def _independent(hits: Flags, clusters: Ids) -> float:
    """Return how many independent tries would tell as much as these; one cluster tells as much as one try."""
    from scipy.special import stdtrit

    tries, right = len(hits), float(hits.mean())
    _, of = np.unique(clusters, return_inverse=True)
    count = int(of.max()) + 1
    if count == 1:
        return 1.0
    if right in (
        0.0,
        1.0,
    ):  # all clusters are alike, which says nothing of how much they differ: the worst is taken
        return float(count)
    surer = (stdtrit(tries - 1, 1.0 - _TAIL) / stdtrit(count - 1, 1.0 - _TAIL)) ** 2
    surplus = np.bincount(of, weights=hits - right)
    effect = float((surplus**2).sum() * count / (count - 1) / (tries * right * (1.0 - right)))
    return float(tries * surer / max(1.0, effect))
