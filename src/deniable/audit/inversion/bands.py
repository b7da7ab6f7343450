"""Words by how frequent they are, so that rare words are seen in an audit although they hardly occur."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from deniable.arrays import Floats, Ids

_EDGES = (100, 1_000, 10_000)


@dataclass(frozen=True, kw_only=True)
class Band:
    """Words of a range of ranks: their ids, the share of all text they make up, and each one's share within the band."""

    name: str
    ids: Ids
    mass: float
    weights: Floats


def frequency_bands(prior: Floats) -> list[Band]:
    """Return the most frequent 100 words, the next up to 1,000, up to 10,000, and the rest; words that never occur are left out."""
    order = np.lexsort((np.arange(len(prior)), -prior))
    order = order[prior[order] > 0.0]
    edges = [0, *(edge for edge in _EDGES if edge < len(order)), len(order)]
    bands = []
    for start, end in pairwise(edges):
        ids = order[start:end]
        mass = float(prior[ids].sum())
        bands.append(Band(name=f"{start + 1:,} to {end:,}", ids=ids, mass=mass, weights=prior[ids] / mass))
    return bands
