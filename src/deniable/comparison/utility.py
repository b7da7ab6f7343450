"""What a release is still good for: a classifier learns from released text and is tested on original text; how far words moved."""

from __future__ import annotations

import warnings

import numpy as np

from deniable.arrays import Ids
from deniable.embeddings.embedding import Embedding
from deniable.learning.word_classifier import WordClassifier

_ROWS_AT_ONCE = 16_384


def accuracy(learn: list[list[str]], labels: list[str], test: list[list[str]], truth: list[str]) -> float:
    """Return the accuracy of TF-IDF and logistic regression that learnt from some texts, on others.

    :raises MissingExtra: if scikit-learn is not installed.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a fit that stopped early is a slightly worse classifier, for every mechanism alike
        model = WordClassifier(strength=1.0, rounds=200).fit(learn, labels)
    return float((model.predict(test) == np.array(truth)).mean())


def mean_distance(embedding: Embedding, before: Ids, after: Ids) -> float:
    """Return the mean distance between words and what became of them."""
    total = 0.0
    for start in range(0, len(before), _ROWS_AT_ONCE):
        part = slice(start, start + _ROWS_AT_ONCE)
        gaps = embedding.rows(before[part]).astype(np.float64) - embedding.rows(after[part])
        total += float(np.linalg.norm(gaps, axis=1).sum())
    return total / len(before)
