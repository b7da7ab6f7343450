from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from deniable import TEM, Embedding, Mahalanobis, Multivariate, SanTextPlus, Vickrey
from deniable.measures.risk import share_unchanged, warning_of
from tests.support.strategies import random_embedding


def test_a_mechanism_that_keeps_words_at_every_epsilon_is_warned_about_in_records_of_any_length() -> None:
    far = Embedding([f"w{i}" for i in range(20)], 9.0 * np.eye(20), name="far")
    keeps = SanTextPlus(far, epsilon=5.0, sensitive=["w0"], p=0.05)
    warning = warning_of(keeps, record_epsilon=5.0)
    assert warning is not None
    assert warning.startswith("whatever the budget, most words of far are released as they are")


def test_an_epsilon_that_changes_words_is_not_warned_about() -> None:
    assert warning_of(Multivariate(Embedding.open(), epsilon=6)) is None
    assert warning_of(Multivariate(Embedding.open(), epsilon=5), record_epsilon=40) is None


def test_a_large_epsilon_and_a_large_budget_are_warned_about() -> None:
    embedding = Embedding.open()
    assert "at ε = 40 about" in str(warning_of(Multivariate(embedding, epsilon=40)))
    assert "a budget of 40 per record is too large for records of" in str(
        warning_of(Multivariate(embedding, epsilon=40), record_epsilon=40)
    )


def test_the_share_of_unchanged_words_is_between_none_and_all() -> None:
    embedding = random_embedding(200, 5)
    assert share_unchanged(Multivariate(embedding, epsilon=1e9)) == 1.0
    assert share_unchanged(Multivariate(embedding, epsilon=1e-6)) < 0.5


def test_a_protected_word_does_not_count_as_unchanged() -> None:
    embedding = random_embedding(200, 5)
    embedding.protection = np.full(201, 7)  # every word goes in as one and the same
    assert share_unchanged(Multivariate(embedding, epsilon=1e9)) < 0.2


@pytest.mark.parametrize("mechanism", [Multivariate, Mahalanobis, Vickrey, TEM])
def test_an_epsilon_that_leaves_nothing_is_warned_about(mechanism: Any) -> None:
    embedding = Embedding.open()
    tiny = 0.01 if mechanism is TEM else 0.5
    warning = str(warning_of(mechanism(embedding, tiny)))
    assert f"ε = {tiny:g} leaves hardly anything of the text" in warning
    assert warning == str(warning_of(mechanism(embedding, tiny))), "nothing of it is by chance"
    assert "even for a record of one word" in str(warning_of(mechanism(embedding, 6), record_epsilon=tiny))


@pytest.mark.parametrize("epsilon", [3, 4, 6])
def test_an_epsilon_at_which_something_is_left_is_not_warned_about(epsilon: float) -> None:
    assert warning_of(Multivariate(Embedding.open(), epsilon)) is None


def test_epsilon_one_is_warned_about() -> None:
    assert "ε = 1 leaves hardly anything" in str(warning_of(Multivariate(Embedding.open(), 1)))
