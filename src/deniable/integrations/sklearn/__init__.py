"""scikit-learn: a transformer that releases texts, and two that turn released texts into features.

>>> from sklearn.feature_extraction.text import CountVectorizer
>>> from sklearn.pipeline import make_pipeline
>>> from deniable.integrations.sklearn import TextPrivatizer
>>> pipeline = make_pipeline(TextPrivatizer(epsilon=6), CountVectorizer())
>>> counts = pipeline.fit_transform(["one text", "another text"])

Who receives a release puts ``ExpectedCounts`` where ``CountVectorizer`` stands:

>>> from deniable.integrations.sklearn import ExpectedCounts
>>> counts = ExpectedCounts(card="released.csv.card.json")  # doctest: +SKIP
>>> model = make_pipeline(counts, LogisticRegression())  # doctest: +SKIP
>>> model.fit(released, labels)  # doctest: +SKIP
"""

from __future__ import annotations

from deniable.errors import MissingExtra

try:
    import sklearn  # noqa: F401
except ImportError as error:
    raise MissingExtra("the scikit-learn transformer", "sklearn") from error

from deniable.integrations.sklearn.features import ExpectedCounts, ExpectedVectors
from deniable.integrations.sklearn.privatizer import TextPrivatizer

__all__ = ["ExpectedCounts", "ExpectedVectors", "TextPrivatizer"]
