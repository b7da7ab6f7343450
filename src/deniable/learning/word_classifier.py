"""The fast classifier: how often each word stands in a text (TF-IDF), and a logistic regression. Utility and comparison use it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from deniable.arrays import Ids
from deniable.learning.scores import sklearn
from deniable.learning.version import Classify, Version

_MANY_TEXTS = 1_000


class WordClassifier:
    """TF-IDF with sublinear counts and logistic regression, by scikit-learn. Texts are lists of words."""

    def __init__(self, *, strength: float, rounds: int, least: int = 1) -> None:
        """Use words that stand in at least ``least`` texts; fit with 1/``strength`` of regularisation in at most ``rounds`` rounds.

        :raises MissingExtra: if scikit-learn is not installed.
        """
        extraction, linear, pipeline = (sklearn(m, "a classifier") for m in ("feature_extraction.text", "linear_model", "pipeline"))
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


class LinearLearner:
    """The fast learner: TF-IDF and logistic regression on the words of a version."""

    name = "TF-IDF and logistic regression"

    def __init__(self) -> None:
        """Find the library.

        :raises MissingExtra: if scikit-learn is not installed.
        """
        _classifier_for(0)

    def learn(self, version: Version, places: Ids, labels: Ids, *, seed: int) -> Classify:  # noqa: ARG002 - nothing in it is random
        """Return what classifies texts after learning from those at ``places``; ``labels`` are those of all texts."""
        model = _classifier_for(len(places)).fit([version.words[i] for i in places], labels[places])

        def classify(other: Version, where: Ids) -> Ids:
            classes: Ids = model.predict([other.words[i] for i in where])
            return classes

        return classify


def _classifier_for(texts: int) -> WordClassifier:
    return WordClassifier(strength=10.0, rounds=2000, least=2 if texts >= _MANY_TEXTS else 1)


def _keep_words(words: list[str]) -> list[str]:
    return words
