"""Linking: how often does a released text lead back to its original, or to the person who wrote it?

The attacker holds the original texts of N people (or N records) and their released texts, and looks for the
right original behind each released one. It compares TF-IDF vectors of the words, of the released words as
they are or of the words expected behind them, and mean vectors of the embedding. Guessing blindly finds one
in N. The best reader is the one that counts; it is chosen after the fact, which can only overstate the risk.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from deniable.arrays import Floats, Ids
from deniable.audit.results import NO_BOUND
from deniable.audit.shares import Share, share_of
from deniable.errors import InvalidParameter
from deniable.utility.classifiers import SoftTfidf

FIRST_FEW = 10
_TIE = 1e-12


@dataclass(frozen=True, kw_only=True)
class Linked:
    """How often the right one of ``candidates`` comes first, or among the first ten, for the best reader."""

    reader: str
    first: float
    among_first_few: float
    tries: int
    candidates: int

    @property
    def share(self) -> Share:
        """How often the right one comes first, with its 95 % interval."""
        return share_of(round(self.first * self.tries), self.tries)

    @property
    def blind(self) -> float:
        """How often a guess without the release is right."""
        return 1.0 / self.candidates

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as JSON-ready data."""
        ends = {"low": self.share.low, "high": self.share.high}
        return {**asdict(self), **ends, "blind": self.blind, "bound": NO_BOUND}


def linked(originals: Any, readings: Mapping[str, Any], *, vectors: Floats | None = None) -> Linked | None:
    """Return what the best reader links; None if there are fewer than two texts.

    ``originals`` are word counts of the original texts, a row a text, and each of ``readings`` those of the
    released texts as one reader has them, in the same order. With ``vectors``, one for each column, the mean
    vectors of each reading are compared too.

    :raises InvalidParameter: if a reading is of another number of texts.
    """
    count = originals.shape[0]
    if count < 2:
        return None
    found, weights = [], SoftTfidf().fit(originals)
    for name, counts in readings.items():
        if counts.shape != originals.shape:
            raise InvalidParameter("readings", name, f"must have {count:,} texts, as the originals have")
        found.append(_judge(name, weights.transform(originals), weights.transform(counts)))
        if vectors is not None:
            means = (_unit_rows(originals @ vectors), _unit_rows(counts @ vectors))
            found.append(_judge(f"{name}, mean vectors", *means))
    return max(found, key=lambda each: (each.first, each.among_first_few))


def _judge(name: str, originals: Any, released: Any) -> Linked:
    firsts, few = [], []
    for start in range(0, released.shape[0], 512):
        scores = released[start : start + 512] @ originals.T
        dense: Floats = scores.toarray() if hasattr(scores, "toarray") else np.asarray(scores)
        places: Ids = np.arange(start, start + len(dense))
        own = dense[np.arange(len(dense)), places][:, None]
        alike = np.abs(dense - own) <= _TIE  # ties are guessed
        above, alike = ((dense > own) & ~alike).sum(axis=1), alike.sum(axis=1)
        firsts.append((above == 0) / alike)
        few.append(np.clip((FIRST_FEW - above) / alike, 0.0, 1.0))
    return Linked(
        reader=name,
        first=float(np.concatenate(firsts).mean()),
        among_first_few=float(np.concatenate(few).mean()),
        tries=released.shape[0],
        candidates=released.shape[0],
    )


def _unit_rows(rows: Floats) -> Floats:
    scaled: Floats = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    return scaled
