"""Linear models of the experiments on a GPU are those of scikit-learn, and fewer numbers a text change
nothing of them."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
linear_model = pytest.importorskip("sklearn.linear_model")


@pytest.fixture
def models(monkeypatch: pytest.MonkeyPatch) -> Any:
    return importlib.import_module("scripts.gpu.models")


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
@pytest.mark.parametrize("strength", [1.0, 10.0])
def test_the_model_is_that_of_scikit_learn(models: Any, classes: int, strength: float) -> None:
    counts, labels = made_counts(classes)
    learnt, judged = torch.arange(180), torch.arange(180, 240)
    made = models.word_weights(counts, learnt)
    span = models.Span(made[learnt])
    own, shown = span.own(), span.of(made[judged])
    assert own.shape == (180, 180)
    _, weights = models.fit(own, labels[learnt], (1000.0, strength))
    oracle = linear_model.LogisticRegression(C=strength, tol=1e-8, max_iter=5000).fit(
        made[learnt].double().numpy(), labels[learnt].numpy()
    )
    expected = oracle.predict_proba(made[judged].double().numpy())
    found = torch.softmax(shown @ weights[:-1] + weights[-1], dim=1).numpy()
    np.testing.assert_allclose(found, expected, atol=1e-3)
    assert models.accuracy(weights, shown, labels[judged]) == pytest.approx(
        oracle.score(made[judged].double().numpy(), labels[judged])
    )


def test_products_of_texts_are_kept(models: Any) -> None:
    counts, _ = made_counts(2)
    made = models.word_weights(counts, torch.arange(180))
    span = models.Span(made[:180])
    np.testing.assert_allclose(span.of(made) @ span.of(made[:180]).T, made @ made[:180].T, atol=1e-5)


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("kind", ["words", "vectors"])
def test_nothing_that_is_reported_changes(
    models: Any, classes: int, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts, labels = made_counts(classes)
    split = models.Split(labels, torch.arange(180), torch.arange(180, 240))
    others = {"train": counts.flip(1)}
    found = split.learn(counts, kind, others=others)
    monkeypatch.setattr(models.Span, "of", lambda self, features: features)
    monkeypatch.setattr(models.Span, "own", lambda self: self.learnt)
    assert found == split.learn(counts, kind, others=others)
    assert found["both"] > 1.3 / classes, "what is learnt must be more than chance"
