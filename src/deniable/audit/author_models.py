"""Classifiers that name the author of a text: of words and spelling, and of expected counts of words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from deniable.learning.scores import sklearn
from deniable.learning.soft_counts import SoftTfidf


class AuthorClassifier:
    """TF-IDF of words, pairs of words and short strings of characters, and a linear SVM.

    Texts are taken as they are: a release folds case where the embedding does, and where it does not, case tells authors apart.
    """

    def __init__(self, texts: Sequence[str], authors: Sequence[str]) -> None:
        """Learn.

        :raises MissingExtra: if scikit-learn is not installed.
        """
        pipeline, extraction, svm = sklearn("pipeline"), sklearn("feature_extraction.text"), sklearn("svm")
        words = extraction.TfidfVectorizer(lowercase=False, sublinear_tf=True, ngram_range=(1, 2), min_df=2 if len(texts) > 200 else 1)
        characters = extraction.TfidfVectorizer(
            lowercase=False,
            sublinear_tf=True,
            analyzer="char_wb",
            ngram_range=(2, 4),
            min_df=2 if len(texts) > 200 else 1,
            max_features=200_000,
        )
        self._model: Any = pipeline.make_pipeline(
            pipeline.make_union(words, characters), svm.LinearSVC(dual=True, C=1.0, random_state=0, max_iter=5000)
        )
        self._model.fit(texts, authors)

    def predict(self, texts: Sequence[str]) -> list[str]:
        """Return the author it names for each text."""
        return [str(author) for author in self._model.predict(texts)]


class CountedAuthors:
    """TF-IDF of counts that need not be whole numbers, and a linear SVM."""

    def __init__(self, counts: Any, authors: Sequence[str]) -> None:
        """Learn.

        :raises MissingExtra: if scikit-learn is not installed.
        """
        self._weights = SoftTfidf().fit(counts)
        self._model: Any = sklearn("svm").LinearSVC(dual=True, C=1.0, random_state=0, max_iter=5000)
        self._model.fit(self._weighed(counts), authors)

    def predict(self, counts: Any) -> list[str]:
        """Return the author it names for each text."""
        return [str(author) for author in self._model.predict(self._weighed(counts))]

    def _weighed(self, counts: Any) -> Any:
        weighed = self._weights.transform(counts)
        weighed.indices, weighed.indptr = weighed.indices.astype(np.int32), weighed.indptr.astype(np.int32)  # the library takes no others
        return weighed
