"""How well a yes-or-no attack does."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.errors import MissingExtra


@dataclass(frozen=True, kw_only=True)
class Scores:
    """Precision, recall, accuracy, the area under the ROC curve, and that area with the sign turned if it helps.

    An AUC of 0.04 is not better privacy than chance: an adversary who turns the answer around has 0.96.
    """

    precision: float
    recall: float
    accuracy: float
    auc: float
    auc_either_way: float

    def to_dict(self) -> dict[str, float]:
        """Return the scores as JSON-ready data."""
        return asdict(self)


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


def sklearn(module: str) -> Any:
    """Return a module of scikit-learn.

    :raises MissingExtra: if scikit-learn is not installed.
    """
    import importlib

    try:
        return importlib.import_module(f"sklearn.{module}")
    except ImportError:
        raise MissingExtra("this audit", "experiments") from None
