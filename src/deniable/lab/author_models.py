"""Classifiers that name the author of a text: by words and spelling, and by the words that are expected
behind them as well."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from deniable.learning.classifiers import SoftTfidf
from deniable.learning.scores import sklearn


class AuthorClassifier:
    """TF-IDF of words, pairs of words and short strings of characters, and a linear SVM.

    Texts are taken as they are: a release folds case where the embedding does, and where it does not, case
    tells authors apart.
    """

    def __init__(self, texts: Sequence[str], authors: Sequence[str]) -> None:
        """Learn.

        :raises MissingExtra: if scikit-learn is not installed.
        """
        self._features = _words_and_spelling(len(texts))
        self._model = _machine()
        self._model.fit(self._features.fit_transform(texts), authors)

    def predict(self, texts: Sequence[str]) -> list[str]:
        """Return the author it names for each text."""
        return [str(author) for author in self._model.predict(self._features.transform(texts))]


class DecodingClassifier:
    """The same, which also sees how often each word is expected behind a text: TF-IDF of counts that need not
    be whole numbers."""

    def __init__(self, texts: Sequence[str], counts: Any, authors: Sequence[str]) -> None:
        """Learn from texts and their expected counts, one row a text.

        :raises MissingExtra: if scikit-learn is not installed.
        """
        self._features = _words_and_spelling(len(texts)).fit(texts)
        self._weights = SoftTfidf().fit(counts)
        self._model = _machine()
        self._model.fit(self._both(texts, counts), authors)

    def predict(self, texts: Sequence[str], counts: Any) -> list[str]:
        """Return the author it names for each text."""
        return [str(author) for author in self._model.predict(self._both(texts, counts))]

    def _both(self, texts: Sequence[str], counts: Any) -> Any:
        from scipy.sparse import hstack

        both = hstack([self._features.transform(texts), self._weights.transform(counts)], format="csr")
        both.indices, both.indptr = (
            both.indices.astype(np.int32),
            both.indptr.astype(np.int32),
        )  # the library takes no others
        return both


def _words_and_spelling(texts: int) -> Any:
    pipeline, extraction = sklearn("pipeline"), sklearn("feature_extraction.text")
    least = 2 if texts > 200 else 1
    words = extraction.TfidfVectorizer(lowercase=False, sublinear_tf=True, ngram_range=(1, 2), min_df=least)
    characters = extraction.TfidfVectorizer(
        lowercase=False,
        sublinear_tf=True,
        analyzer="char_wb",
        ngram_range=(2, 4),
        min_df=least,
        max_features=200_000,
    )
    return pipeline.make_union(words, characters)


def _machine() -> Any:
    return sklearn("svm").LinearSVC(dual=True, C=1.0, random_state=0, max_iter=5000)
