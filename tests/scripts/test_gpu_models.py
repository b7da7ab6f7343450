"""Linear models of the experiments on a GPU are those of scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
torch.set_num_threads(1)
linear_model = pytest.importorskip("sklearn.linear_model")


def made_counts(classes: int, *, texts: int = 240, words: int = 900) -> tuple[Any, Any]:
    """Return word counts that say something of the label: more words than texts, two texts alike, one
    empty."""
    random = np.random.default_rng(3)
    labels = random.integers(classes, size=texts)
    rates = np.full((classes, words), 0.02)
    for label in range(classes):
        rates[label, label * 40 : (label + 1) * 40] = 0.12
    counts = random.poisson(rates[labels]).astype(np.float32)
    counts[1], counts[2] = counts[0], 0.0
    return torch.tensor(counts), torch.tensor(labels)


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("strength", [1.0, 100.0])
def test_the_model_is_that_of_scikit_learn(classes: int, strength: float) -> None:
    from scripts.gpu import models

    counts, labels = made_counts(classes)
    learnt, judged = torch.arange(180), torch.arange(180, 240)
    features = models.word_weights(counts, learnt)
    weights = models.fit(features[learnt], labels[learnt], strength)
    oracle = linear_model.LogisticRegression(C=strength, tol=1e-8, max_iter=5000).fit(
        features[learnt].double().numpy(), labels[learnt].numpy()
    )
    expected = oracle.predict_proba(features[judged].double().numpy())
    chances = torch.softmax(features[judged] @ weights[:-1] + weights[-1], dim=1).numpy()
    np.testing.assert_allclose(chances, expected, atol=2e-3)
    right = oracle.score(features[judged].double().numpy(), labels[judged])
    assert models.accuracy(weights, features[judged], labels[judged]) == pytest.approx(right)


@pytest.mark.parametrize("kind", ["words", "vectors"])
def test_a_split_learns_more_than_chance(kind: str) -> None:
    from scripts.gpu import models

    counts, labels = made_counts(4)
    split = models.Split(labels, torch.arange(180), torch.arange(180, 240))
    accuracies = split.learn(counts, kind, others={"train": counts.flip(1)})
    assert accuracies["both"] > max(1.3 / 4, accuracies["train"])
    assert accuracies["strength"] in models.STRENGTHS[kind]
