"""The classifier of counts learns from texts in which no single word says much."""

from __future__ import annotations

import numpy as np
import pytest

from deniable.utility import classifiers
from deniable.utility.classifiers import Classifier


def accuracy() -> float:
    """Return the accuracy where 14 of 20 words come from the half of the vocabulary that belongs to the
    class, all words alike."""
    from scipy.sparse import csr_array

    random, labels = np.random.default_rng(0), np.arange(2_000) % 2
    own = random.random((2_000, 20)) < 0.7
    words = 2_000 * np.where(own, labels[:, None], 1 - labels[:, None]) + random.integers(0, 2_000, own.shape)
    counts = csr_array(
        (np.ones(words.size), (np.repeat(np.arange(2_000), 20), words.ravel())), shape=(2_000, 4_000)
    )
    model = Classifier("counts", strength=10.0).fit(counts[:1_500], labels[:1_500])
    return float((model.predict(counts[1_500:]) == labels[1_500:]).mean())


def test_many_words_that_each_say_little_are_learnt_from(monkeypatch: pytest.MonkeyPatch) -> None:
    assert accuracy() > 0.85
    monkeypatch.setattr(classifiers, "_SETTLED", 1e-3)
    assert accuracy() == 0.5, "a fit that ends where it begins"


def test_words_that_no_learnt_text_holds_change_nothing() -> None:
    from scipy.sparse import csr_array
    from sklearn.linear_model import LogisticRegression

    random, labels = np.random.default_rng(1), np.arange(200) % 2
    expected = random.random((200, 60)) ** 4 * (1.0 + (np.arange(60) % 2 == labels[:, None]))
    expected[:150, 40:] = 0.0  # a third of the words stands in judged texts only
    given = Classifier("counts", strength=10.0).fit(csr_array(expected[:150]), labels[:150])
    rarity = np.log(151.0 / (1.0 + np.minimum(expected[:150], 1.0).sum(axis=0))) + 1.0
    weighted = expected * rarity / np.linalg.norm(expected * rarity, axis=1, keepdims=True)
    oracle = LogisticRegression(C=10.0, tol=1e-4, max_iter=1_000).fit(weighted[:150], labels[:150])
    assert (given.predict(csr_array(expected)) == oracle.predict(weighted)).all()
    assert 0.6 < (oracle.predict(weighted[150:]) == labels[150:]).mean() < 1.0
