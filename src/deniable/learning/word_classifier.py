"""The classifier that everything here is measured by: how often each word stands in a text (TF-IDF), and a logistic regression."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from deniable.errors import MissingExtra


class WordClassifier:
    """TF-IDF with sublinear counts and logistic regression, by scikit-learn. Texts are lists of words."""

    def __init__(self, *, strength: float, rounds: int, least: int = 1) -> None:
        """Take words that stand in ``least`` texts or more; fit with 1/``strength`` of regularisation in at most so many ``rounds``.

        :raises MissingExtra: if scikit-learn is not installed.
        """
        try:
            from sklearn.feature_extraction.text import TfidfVectorizer
            from sklearn.linear_model import LogisticRegression
            from sklearn.pipeline import make_pipeline
        except ImportError as error:
            raise MissingExtra("a classifier", "experiments") from error
        self._model: Any = make_pipeline(
            TfidfVectorizer(analyzer=_as_it_is, sublinear_tf=True, min_df=least), LogisticRegression(C=strength, max_iter=rounds)
        )

    def fit(self, texts: Sequence[list[str]], labels: Any) -> WordClassifier:
        """Learn the labels of the texts; nothing in it is random."""
        self._model.fit(texts, labels)
        return self

    def predict(self, texts: Sequence[list[str]]) -> Any:
        """Return the label of each text."""
        return self._model.predict(texts)


def _as_it_is(words: list[str]) -> list[str]:
    return words
