"""Each metric equals a value worked out by hand, and scikit-learn's where it computes the same."""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, label_ranking_average_precision_score

from deniable.errors import MissingExtra
from deniable.utility.classifiers import (
    Classifier,
    accuracy,
    average_precision,
    class_scores,
    ranking_scores,
    reciprocal_rank,
    sklearn,
)


def test_accuracy_by_hand_and_by_scikit_learn() -> None:
    predicted, true = np.array([0, 1, 1, 2]), np.array([0, 1, 2, 2])
    assert accuracy(predicted, true) == 0.75 == accuracy_score(true, predicted)


def test_average_precision_by_hand() -> None:
    # Right answers at places 1, 3 and 6 of the ranking: (1/1 + 2/3 + 3/6) / 3.
    hits = np.array([True, False, True, False, False, True])
    assert average_precision(hits, 3) == pytest.approx((1 + 2 / 3 + 3 / 6) / 3)
    # A fourth right answer that is not in the ranking counts as 0.
    assert average_precision(hits, 4) == pytest.approx((1 + 2 / 3 + 3 / 6) / 4)
    assert average_precision(np.array([False, False]), 1) == 0.0


def test_reciprocal_rank_by_hand() -> None:
    assert reciprocal_rank(np.array([False, False, True, True])) == pytest.approx(1 / 3)
    assert reciprocal_rank(np.array([False, False])) == 0.0


def test_rankings_by_hand() -> None:
    # Question 1 ranks 7, 5, 9 and 5 is right; question 2 ranks 4, 8, 6 and 4 and 6 are right.
    pools = np.array([[5, 7, 9], [4, 6, 8]])
    scores = np.array([[0.5, 0.9, 0.1], [0.9, 0.2, 0.3]])
    found = ranking_scores(scores, pools, [np.array([5]), np.array([4, 6])])
    assert found["top-1"] == 0.5
    assert found["MRR"] == pytest.approx((1 / 2 + 1) / 2)
    assert found["MAP"] == pytest.approx((1 / 2 + (1 + 2 / 3) / 2) / 2)


def test_mean_average_precision_equals_scikit_learn_when_all_right_answers_are_in_the_pool() -> None:
    rng = np.random.default_rng(0)
    pools = np.tile(np.arange(12), (50, 1))
    scores = rng.permuted(np.tile(np.arange(12.0), (50, 1)), axis=1)
    right = [rng.choice(12, rng.integers(1, 5), replace=False) for _ in range(50)]
    relevance = np.array([np.isin(np.arange(12), answers) for answers in right])
    expected = label_ranking_average_precision_score(relevance, scores)
    assert ranking_scores(scores, pools, right)["MAP"] == pytest.approx(expected)


def test_without_scikit_learn_the_error_says_what_needs_it_and_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for module in [name for name in sys.modules if name.partition(".")[0] == "sklearn"]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "sklearn", None)
    needing: dict[str, Callable[[], object]] = {
        "scoring a classifier": lambda: class_scores(np.array([0]), np.array([0])),
        "a classifier": lambda: Classifier("words", strength=1.0),
        "this audit": lambda: sklearn("svm"),
    }
    for purpose, call in needing.items():
        with pytest.raises(
            MissingExtra, match=rf"^{purpose} needs an optional library: pip install .*\[utility\]"
        ):
            call()
