"""The fast classifiers: logistic regression on TF-IDF of words, on TF-IDF of counts, or on mean vectors.

Counts need not be whole numbers: a decoded text has the number of times that each word is expected in it.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, Protocol, Self, TypeVar

import numpy as np

from deniable.arrays import Floats
from deniable.embeddings.embedding import Embedding
from deniable.utility.scores import sklearn

C = TypeVar("C")

_MANY_TEXTS = 1_000
_ROUNDS = 1_000
_SETTLED = 1e-4
"""The slope of the mean loss at which a fit ends, as for whole words. At 10⁻³ texts that say little teach
nothing: it begins below that."""


class Classifier(Protocol):
    """Learns the labels of texts, and predicts those of others."""

    def fit(self, texts: Any, labels: Any) -> Self:
        """Learn the labels of texts; nothing in it is random."""
        ...

    def predict(self, texts: Any) -> Any:
        """Return the label of each text."""
        ...


class SoftTfidf:
    """Weights words by how rare they are, and brings every text to length 1.

    A text in which a word is expected 0.1 times counts as a tenth of a text that holds it. For whole counts
    these are the usual weights.
    """

    weights: Floats

    def fit(self, counts: Any) -> Self:
        """Learn how rare each word is from a sparse matrix of counts, one row a text."""
        held = counts.copy()
        held.data = np.minimum(held.data, 1.0)
        self.weights = np.log((1.0 + counts.shape[0]) / (1.0 + np.asarray(held.sum(axis=0)).ravel())) + 1.0
        return self

    def transform(self, counts: Any) -> Any:
        """Return the weighted counts, sparse."""
        weighted = counts.astype(np.float64).multiply(self.weights[None, :]).tocsr()
        lengths = np.sqrt(np.asarray(weighted.multiply(weighted).sum(axis=1)).ravel())
        weighted.data /= np.repeat(np.maximum(lengths, 1e-300), np.diff(weighted.indptr))
        return weighted


class WordClassifier:
    """Reads texts as lists of words: TF-IDF with sublinear counts."""

    def __init__(self, *, strength: float) -> None:
        """Fit with 1/``strength`` of regularisation.

        :raises MissingExtra: if scikit-learn is not installed.
        """
        self._model, self._strength = _regression(strength), strength

    def fit(self, texts: Sequence[list[str]], labels: Any) -> Self:
        """Learn from words; of many texts, from those words that stand in two texts or more."""
        extraction = sklearn("feature_extraction.text", "a classifier")
        least = 2 if len(texts) >= _MANY_TEXTS else 1
        weights = extraction.TfidfVectorizer(analyzer=_same, sublinear_tf=True, min_df=least)
        self._model = sklearn("pipeline").make_pipeline(weights, _regression(self._strength))
        return _fit(self, self._model, texts, labels)

    def predict(self, texts: Sequence[list[str]]) -> Any:
        """Return the label of each text."""
        return self._model.predict(texts)


class CountClassifier:
    """Reads texts as a sparse matrix of counts: one row a text, one column a word."""

    def __init__(self, *, strength: float) -> None:
        """Fit with 1/``strength`` of regularisation.

        :raises MissingExtra: if scikit-learn is not installed.
        """
        self._weights, self._model = SoftTfidf(), _regression(strength, tol=_SETTLED)

    def fit(self, counts: Any, labels: Any) -> Self:
        """Learn from counts."""
        return _fit(self, self._model, self._weights.fit(counts).transform(counts), labels)

    def predict(self, counts: Any) -> Any:
        """Return the label of each text."""
        return self._model.predict(self._weights.transform(counts))


class VectorClassifier:
    """Reads texts as their mean vectors, each coordinate brought to the same spread."""

    def __init__(self, *, strength: float) -> None:
        """Fit with 1/``strength`` of regularisation.

        :raises MissingExtra: if scikit-learn is not installed.
        """
        scaler = sklearn("preprocessing", "a classifier").StandardScaler()
        self._model = sklearn("pipeline").make_pipeline(scaler, _regression(strength))

    def fit(self, vectors: Floats, labels: Any) -> Self:
        """Learn from mean vectors."""
        return _fit(self, self._model, vectors, labels)

    def predict(self, vectors: Floats) -> Any:
        """Return the label of each text."""
        return self._model.predict(vectors)


def mean_vectors(counts: Any, embedding: Embedding) -> Floats:
    """Return the mean of the word vectors of each text, given as counts of words that need not be whole, the
    last column being ⊥."""
    seen = np.unique(counts.indices)
    sums = counts[:, seen] @ embedding.rows(seen.astype(np.int64)).astype(np.float64)
    means: Floats = sums / np.maximum(np.asarray(counts.sum(axis=1)).reshape(-1, 1), 1e-12)
    return means


def _regression(strength: float, **options: float) -> Any:
    return sklearn("linear_model", "a classifier").LogisticRegression(C=strength, max_iter=_ROUNDS, **options)


def _fit(classifier: C, model: Any, texts: Any, labels: Any) -> C:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a fit that stopped early is a slightly worse classifier
        model.fit(texts, labels)
    return classifier


def _same(words: list[str]) -> list[str]:
    return words
