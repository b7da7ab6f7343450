"""The fast learner: how often each word stands in a text (TF-IDF), and a logistic regression."""

from __future__ import annotations

from typing import Any

from deniable.errors import MissingExtra
from deniable.interfaces import Ids
from deniable.utility.version import Judge, Version

_MANY_TEXTS = 1_000


class LinearLearner:
    """TF-IDF and logistic regression, by scikit-learn."""

    name = "TF-IDF and logistic regression"

    def __init__(self) -> None:
        """Find the library.

        :raises MissingExtra: if scikit-learn is not installed.
        """
        try:
            from sklearn.feature_extraction.text import TfidfVectorizer
            from sklearn.linear_model import LogisticRegression
            from sklearn.pipeline import make_pipeline
        except ImportError as error:
            raise MissingExtra("a classifier", "experiments") from error
        self._vectorizer, self._regression, self._join = TfidfVectorizer, LogisticRegression, make_pipeline

    def learnt(self, version: Version, places: Ids, labels: Ids, *, seed: int) -> Judge:
        """Return what was learnt; nothing in it is random."""
        least = 2 if len(places) >= _MANY_TEXTS else 1
        model: Any = self._join(
            self._vectorizer(analyzer=_as_it_is, sublinear_tf=True, min_df=least),
            self._regression(C=10.0, max_iter=2000, random_state=seed),
        )
        model.fit([version.words[i] for i in places], labels[places])

        def judge(judged: Version, where: Ids) -> Ids:
            classes: Ids = model.predict([judged.words[i] for i in where])
            return classes

        return judge


def _as_it_is(words: list[str]) -> list[str]:
    return words
