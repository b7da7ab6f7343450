"""The fast classifier: how often each word stands in a text (TF-IDF), and a logistic regression. Utility and
comparison use it.

It reads words as they stand, or counts of words that need not be whole: how often each word is expected
behind a decoded text.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from deniable.arrays import Floats, Ids
from deniable.learning.scores import sklearn
from deniable.learning.version import Classify, Version

_MANY_TEXTS = 1_000
_STRENGTH = 10.0
_SETTLED = 1e-4
"""The slope of the mean loss at which a fit ends, as for whole words. At 10⁻³ texts that say little teach
nothing: it begins below that."""


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
    """TF-IDF with sublinear counts and logistic regression, by scikit-learn. Texts are lists of words."""

    def __init__(self, *, strength: float, rounds: int, least: int = 1) -> None:
        """Use words that stand in at least ``least`` texts; fit with 1/``strength`` of regularisation in at
        most ``rounds`` rounds.

        :raises MissingExtra: if scikit-learn is not installed.
        """
        extraction, linear, pipeline = (
            sklearn(m, "a classifier") for m in ("feature_extraction.text", "linear_model", "pipeline")
        )
        self._model: Any = pipeline.make_pipeline(
            extraction.TfidfVectorizer(analyzer=_keep_words, sublinear_tf=True, min_df=least),
            linear.LogisticRegression(C=strength, max_iter=rounds),
        )

    def fit(self, texts: Sequence[list[str]], labels: Any) -> WordClassifier:
        """Learn the labels of the texts; nothing in it is random."""
        self._model.fit(texts, labels)
        return self

    def predict(self, texts: Sequence[list[str]]) -> Any:
        """Return the label of each text."""
        return self._model.predict(texts)


class CountClassifier:
    """The same for counts that need not be whole numbers: one row a text, one column a word."""

    def __init__(self, *, strength: float, rounds: int) -> None:
        """Fit with 1/``strength`` of regularisation in at most ``rounds`` rounds.

        :raises MissingExtra: if scikit-learn is not installed.
        """
        self._weights = SoftTfidf()
        self._model: Any = sklearn("linear_model", "a classifier").LogisticRegression(
            C=strength, max_iter=rounds, tol=_SETTLED
        )

    def fit(self, counts: Any, labels: Any) -> CountClassifier:
        """Learn the labels of the texts; nothing in it is random."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a fit that stopped early is a slightly worse classifier
            self._model.fit(self._weights.fit(counts).transform(counts), labels)
        return self

    def predict(self, counts: Any) -> Any:
        """Return the label of each text."""
        return self._model.predict(self._weights.transform(counts))


class LinearLearner:
    """The fast learner: TF-IDF and logistic regression on the words of a version."""

    name = "TF-IDF and logistic regression"

    def __init__(self) -> None:
        """Find the library.

        :raises MissingExtra: if scikit-learn is not installed.
        """
        _classifier_for(0)

    def learn(self, version: Version, places: Ids, labels: Ids, *, seed: int) -> Classify:  # noqa: ARG002 - nothing in it is random
        """Return what classifies texts after learning from those at ``places``; ``labels`` are those of all
        texts."""
        model = _classifier_for(len(places)).fit([version.words[i] for i in places], labels[places])

        def classify(other: Version, where: Ids) -> Ids:
            classes: Ids = model.predict([other.words[i] for i in where])
            return classes

        return classify


class CountLearner:
    """The same learner for the counts of a version instead of its words."""

    name = "TF-IDF and logistic regression on expected counts of words"

    def learn(self, version: Version, places: Ids, labels: Ids, *, seed: int) -> Classify:  # noqa: ARG002 - nothing in it is random
        """Return what classifies texts after learning from those at ``places``; ``labels`` are those of all
        texts."""
        model = CountClassifier(strength=_STRENGTH, rounds=300).fit(version.counts[places], labels[places])

        def classify(other: Version, where: Ids) -> Ids:
            classes: Ids = model.predict(other.counts[where])
            return classes

        return classify


def _classifier_for(texts: int) -> WordClassifier:
    return WordClassifier(strength=_STRENGTH, rounds=2000, least=2 if texts >= _MANY_TEXTS else 1)


def _keep_words(words: list[str]) -> list[str]:
    return words
