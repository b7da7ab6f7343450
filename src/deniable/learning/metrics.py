"""Accuracy, and mean average precision, mean reciprocal rank and top-1 of rankings."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from deniable.arrays import Floats, Ids


def accuracy(predicted: Ids, true: Ids) -> float:
    """Return the share of the texts that got their class."""
    return float((predicted == true).mean())


def average_precision(hits: NDArray[np.bool_], relevant: int) -> float:
    """Return the mean over all relevant answers of the precision where each was found; 0 for one that is not in the ranking."""
    ranks = np.flatnonzero(hits) + 1
    return float((np.arange(1, len(ranks) + 1) / ranks).sum() / relevant) if relevant else 0.0


def reciprocal_rank(hits: NDArray[np.bool_]) -> float:
    """Return 1 over the place of the first relevant answer; 0 if there is none."""
    places = np.flatnonzero(hits)
    return 1.0 / (int(places[0]) + 1) if len(places) else 0.0


def ranking_scores(scores: Floats, pools: Ids, right: Sequence[Ids]) -> dict[str, float]:
    """Return MAP, MRR and top-1 of pools ranked by their scores (higher is better), one row a question; ties by pool order."""
    order = np.argsort(-scores, axis=1, kind="stable")
    ranked = np.take_along_axis(pools, order, axis=1)
    hits = [np.isin(row, answers) for row, answers in zip(ranked, right, strict=True)]
    return {
        "MAP": float(np.mean([average_precision(row, len(answers)) for row, answers in zip(hits, right, strict=True)])),
        "MRR": float(np.mean([reciprocal_rank(row) for row in hits])),
        "top-1": float(np.mean([row[0] for row in hits])),
    }
