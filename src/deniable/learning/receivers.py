"""Models that a receiver trains on released text: from its words, from expected counts of words, or from mean
vectors."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from deniable.arrays import Floats
from deniable.embeddings.embedding import Embedding
from deniable.learning.scores import sklearn
from deniable.learning.word_classifier import CountClassifier, WordClassifier

_STRENGTH, _ROUNDS = 1.0, 200


def learn_words(texts: list[list[str]], labels: Sequence[str]) -> WordClassifier:
    """Return TF-IDF and logistic regression that learnt from the words of texts.

    :raises MissingExtra: if scikit-learn is not installed.
    """
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore"
        )  # a fit that stopped early is a slightly worse classifier, for every mechanism alike
        return WordClassifier(strength=_STRENGTH, rounds=_ROUNDS).fit(texts, labels)


def learn_counts(counts: Any, labels: Sequence[str]) -> CountClassifier:
    """Return the same that learnt from counts of words, which need not be whole."""
    return CountClassifier(strength=_STRENGTH, rounds=_ROUNDS).fit(counts, labels)


def mean_vectors(counts: Any, embedding: Embedding) -> Floats:
    """Return the mean of the word vectors of each text, given as counts of words that need not be whole, the
    last column being ⊥."""
    seen = np.unique(counts.indices)
    sums = counts[:, seen] @ embedding.rows(seen.astype(np.int64)).astype(np.float64)
    means: Floats = sums / np.maximum(np.asarray(counts.sum(axis=1)).reshape(-1, 1), 1e-12)
    return means


def learn_vectors(vectors: Floats, labels: Sequence[str]) -> Any:
    """Return a logistic regression that learnt from mean vectors, each coordinate brought to the same
    spread."""
    scaler, linear, pipeline = (
        sklearn(module, "a classifier") for module in ("preprocessing", "linear_model", "pipeline")
    )
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore"
        )  # a fit that stopped early is a slightly worse classifier, for every mechanism alike
        model = pipeline.make_pipeline(
            scaler.StandardScaler(), linear.LogisticRegression(C=_STRENGTH, max_iter=_ROUNDS)
        )
        return model.fit(vectors, labels)
