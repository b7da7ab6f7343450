"""The fast classifiers, and how well a model or an attack does.

A classifier is logistic regression on TF-IDF of words, on TF-IDF of counts, or on mean vectors. Counts need
not be whole numbers: a decoded text has the number of times that each word is expected in it.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from deniable.arrays import Floats, Ids
from deniable.embeddings.embedding import Embedding
from deniable.errors import MissingExtra


def sklearn(module: str, purpose: str = "this audit", *, extra: str = "utility") -> Any:
    """Return a module of scikit-learn; ``purpose`` and ``extra`` are for the error.

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
    """Return accuracy, and F1 averaged over the classes, in which rare classes count as much as others."""
    metrics = sklearn("metrics", "scoring a classifier")
    macro = float(metrics.f1_score(true, given, average="macro", zero_division=0.0))
    return {"accuracy": float(metrics.accuracy_score(true, given)), "macro F1": macro}


def average_precision(hits: NDArray[np.bool_], relevant: int) -> float:
    """Return the mean over all relevant answers of the precision where each was found, or 0."""
    ranks = np.flatnonzero(hits) + 1
    return float((np.arange(1, len(ranks) + 1) / ranks).sum() / relevant) if relevant else 0.0


def reciprocal_rank(hits: NDArray[np.bool_]) -> float:
    """Return 1 over the place of the first relevant answer; 0 if there is none."""
    places = np.flatnonzero(hits)
    return 1.0 / (int(places[0]) + 1) if len(places) else 0.0


def ranking_scores(scores: Floats, pools: Ids, right: Sequence[Ids]) -> dict[str, float]:
    """Return MAP, MRR and top-1 of pools ranked by falling scores, one row a question; ties by pool order."""
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
    helps: an AUC of 0.04 is no better privacy than 0.96."""

    precision: float
    recall: float
    accuracy: float
    auc: float
    auc_either_way: float


def scores_of(truth: NDArray[np.bool_], decision: NDArray[np.float64]) -> Scores:
    """Return the scores of decision values, where more than 0 means yes."""
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


Form = Literal["words", "counts", "vectors"]
"""What a classifier reads a text as: a list of words, a row of counts, or its mean vector."""

_MANY_TEXTS = 1_000
_ROUNDS = 1_000
_SETTLED = 1e-4
"""The slope of the mean loss at which a fit ends, as for whole words. At 10⁻³ texts that say little teach
nothing: it begins below that."""


class SoftTfidf:
    """TF-IDF of counts that need not be whole, scaled to length 1. For whole counts these are the usual
    weights. Words that none of the learnt texts holds are left out."""

    weights: Floats
    seen: Ids

    def fit(self, counts: Any) -> Self:
        """Learn how rare each word is from a sparse matrix of counts, one row a text."""
        self.seen = np.unique(counts.indices)
        held = counts.copy()
        held.data = np.minimum(held.data, 1.0)
        self.weights = np.log((1.0 + counts.shape[0]) / (1.0 + np.asarray(held.sum(axis=0)).ravel())) + 1.0
        return self

    def transform(self, counts: Any) -> Any:
        """Return the weighted counts of the words that were seen, sparse."""
        weighted = counts.astype(np.float64).multiply(self.weights[None, :]).tocsr()
        lengths = np.sqrt(np.asarray(weighted.multiply(weighted).sum(axis=1)).ravel())
        weighted.data /= np.repeat(np.maximum(lengths, 1e-300), np.diff(weighted.indptr))
        return weighted[:, self.seen]


class Classifier:
    """Logistic regression on TF-IDF of words (sublinear), on ``SoftTfidf`` of counts, or on mean vectors of
    unit spread; nothing in it is random."""

    def __init__(self, form: Form, *, strength: float) -> None:
        options = {"tol": _SETTLED} if form == "counts" else {}
        self._form = form
        self._regression = sklearn("linear_model", "a classifier").LogisticRegression(
            C=strength, max_iter=_ROUNDS, **options
        )

    def fit(self, texts: Any, labels: Any) -> Self:
        """Learn from texts; of many, from those words that stand in two texts or more."""
        if self._form == "words":
            least = 2 if len(texts) >= _MANY_TEXTS else 1
            vectorizer = sklearn("feature_extraction.text", "a classifier").TfidfVectorizer
            weights = vectorizer(analyzer=_same, sublinear_tf=True, min_df=least)
        elif self._form == "counts":
            weights = SoftTfidf()
        else:
            weights = sklearn("preprocessing", "a classifier").StandardScaler()
        self._weights = weights.fit(texts)
        # Threads of the matrix library wait for one another longer than such small sums take.
        limits = importlib.import_module("threadpoolctl").threadpool_limits(limits=1, user_api="blas")
        with warnings.catch_warnings(), limits:
            warnings.simplefilter("ignore")  # a fit that stopped early is a slightly worse classifier
            self._regression.fit(self._weights.transform(texts), labels)
        return self

    def predict(self, texts: Any) -> Any:
        """Return the label of each text."""
        return self._regression.predict(self._weights.transform(texts))


def mean_vectors(counts: Any, embedding: Embedding) -> Floats:
    """Return the mean word vector of each text, given as counts, the last column being ⊥."""
    seen = np.unique(counts.indices)
    sums = counts[:, seen] @ embedding.rows(seen.astype(np.int64)).astype(np.float64)
    means: Floats = sums / np.maximum(np.asarray(counts.sum(axis=1)).reshape(-1, 1), 1e-12)
    return means


def _same(words: list[str]) -> list[str]:
    return words
