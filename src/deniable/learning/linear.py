"""The fast learner: TF-IDF and a logistic regression."""

from __future__ import annotations

from deniable.arrays import Ids
from deniable.learning.version import Judge, Version
from deniable.learning.word_classifier import WordClassifier

_MANY_TEXTS = 1_000


class LinearLearner:
    """TF-IDF and logistic regression."""

    name = "TF-IDF and logistic regression"

    def __init__(self) -> None:
        """Find the library.

        :raises MissingExtra: if scikit-learn is not installed.
        """
        _classifier(0)

    def learnt(self, version: Version, places: Ids, labels: Ids, *, seed: int) -> Judge:  # noqa: ARG002 - nothing in it is random
        """Return what was learnt."""
        model = _classifier(len(places)).fit([version.words[i] for i in places], labels[places])

        def judge(judged: Version, where: Ids) -> Ids:
            classes: Ids = model.predict([judged.words[i] for i in where])
            return classes

        return judge


def _classifier(texts: int) -> WordClassifier:
    return WordClassifier(strength=10.0, rounds=2000, least=2 if texts >= _MANY_TEXTS else 1)
