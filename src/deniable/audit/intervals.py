"""Intervals for tries that come in clusters, words of documents and texts of authors: those of one cluster
resemble one another.

So fewer of them count than there are. The way is that of Korn and Graubard (1998). The number of tries is
divided by the design effect, which compares how much the clusters differ with what independent tries would
show, and by what is not known of that from few clusters (Student's t); where every try was right, or none, a
cluster counts as one try. The interval of Clopper and Pearson for that many tries is given. It is never
narrower than for independent tries, and says what to expect of other documents or authors of this kind.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from deniable.arrays import Ids
from deniable.audit.shares import Share

Flags = np.ndarray[Any, np.dtype[np.bool_]]

_TAIL = 0.025


def share_by_cluster(hits: Flags, clusters: Ids) -> Share | None:
    """Return how often something was right, with a 95 % interval; ``clusters`` says which cluster each try is
    of. None without tries."""
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
