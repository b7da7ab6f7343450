"""How well a model or an attack does: shares of right answers, rankings, and yes-or-no decisions."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.arrays import Floats, Ids
from deniable.errors import MissingExtra


def sklearn(module: str, purpose: str = "this audit", *, extra: str = "utility") -> Any:
    """Return a module of scikit-learn, for a purpose that the error names, with the extra that brings all
    that it needs.

    :raises MissingExtra: if scikit-learn is not installed.
    """
    try:
        return importlib.import_module(f"sklearn.{module}")
    except ImportError:
        raise MissingExtra(purpose, extra) from None


def accuracy(given: Ids, true: Ids) -> float:
    """Return the share of the texts that got their class."""
    return float((given == true).mean())


def class_scores(given: Ids, true: Ids) -> dict[str, float]:
    """Return accuracy, and F1 averaged over the classes, in which rare classes count as much as frequent
    ones.

    :raises MissingExtra: if scikit-learn is not installed.
    """
    metrics = sklearn("metrics", "scoring a classifier")
    macro = float(metrics.f1_score(true, given, average="macro", zero_division=0.0))
    return {"accuracy": float(metrics.accuracy_score(true, given)), "macro F1": macro}


def average_precision(hits: NDArray[np.bool_], relevant: int) -> float:
    """Return the mean over all relevant answers of the precision where each was found; 0 for one that is not
    in the ranking."""
    ranks = np.flatnonzero(hits) + 1
    return float((np.arange(1, len(ranks) + 1) / ranks).sum() / relevant) if relevant else 0.0


def reciprocal_rank(hits: NDArray[np.bool_]) -> float:
    """Return 1 over the place of the first relevant answer; 0 if there is none."""
    places = np.flatnonzero(hits)
    return 1.0 / (int(places[0]) + 1) if len(places) else 0.0


def ranking_scores(scores: Floats, pools: Ids, right: Sequence[Ids]) -> dict[str, float]:
    """Return MAP, MRR and top-1 of pools ranked by their scores (higher is better), one row a question; ties
    by pool order."""
    order = np.argsort(-scores, axis=1, kind="stable")
    ranked = np.take_along_axis(pools, order, axis=1)
    hits = [np.isin(row, answers) for row, answers in zip(ranked, right, strict=True)]
    return {
        "MAP": float(
            np.mean([average_precision(row, len(answers)) for row, answers in zip(hits, right, strict=True)])
        ),
        "MRR": float(np.mean([reciprocal_rank(row) for row in hits])),
        "top-1": float(np.mean([row[0] for row in hits])),
    }


@dataclass(frozen=True, kw_only=True)
class Scores:
    """Precision, recall, accuracy, the area under the ROC curve, and that area with the sign turned if it
    helps.

    An AUC of 0.04 is not better privacy than chance: an adversary who turns the answer around has 0.96.
    """

    precision: float
    recall: float
    accuracy: float
    auc: float
    auc_either_way: float


def scores_of(truth: NDArray[np.bool_], decision: NDArray[np.float64]) -> Scores:
    """Return the scores of decision values, where more than 0 means yes.

    :raises MissingExtra: if scikit-learn is not installed.
    """
    metrics = sklearn("metrics")
    said = decision > 0.0
    auc = float(metrics.roc_auc_score(truth, decision))
    return Scores(
        precision=float(metrics.precision_score(truth, said, zero_division=0.0)),
        recall=float(metrics.recall_score(truth, said)),
        accuracy=float(metrics.accuracy_score(truth, said)),
        auc=auc,
        auc_either_way=max(auc, 1.0 - auc),
    )
