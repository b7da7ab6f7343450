from __future__ import annotations

from typing import Any

import pytest

from deniable import Embedding, InvalidParameter
from deniable.release.release import resolve_release


@pytest.mark.parametrize(
    ("settings", "per_word", "per_record"),
    [
        ({"epsilon": 6}, 6, None),
        ({"record_epsilon": 6}, None, 6),
        ({"epsilon": 6, "record_epsilon": 60}, 6, 60),
        ({"max_unchanged": 0.5, "quantile": 0.95}, 5.5, None),
        ({"max_unchanged": 0.5, "quantile": 0.95, "record_epsilon": 60}, 5.5, 60),
    ],
)
def test_what_may_be_spent_reaches_the_privatizer(
    settings: dict[str, Any], per_word: float | None, per_record: float | None
) -> None:
    made = resolve_release(**settings).make()
    assert (made.settings.ceiling, made.settings.record_epsilon) == (per_word, per_record)
    receipt = made.receipt()
    assert (receipt.settings.ceiling, receipt.settings.record_epsilon) == (per_word, per_record)


@pytest.mark.parametrize("name", ["epsilon", "record_epsilon"])
def test_wrong_spending_is_refused_before_the_embedding_is_opened(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(Embedding, "open")
    settings: dict[str, Any] = {"epsilon": 6, "record_epsilon": 60, name: 0}
    with pytest.raises(InvalidParameter, match=f"^{name} = 0"):
        resolve_release(**settings)


def test_other_wrong_settings_are_refused_before_the_embedding_is_opened_for_its_calibration(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr(Embedding, "open")
    with pytest.raises(InvalidParameter, match=r"^unknown = 'keep'"):
        resolve_release(max_unchanged=0.5, unknown="keep")


def test_a_calibration_is_not_asked_for_an_epsilon_that_is_given() -> None:
    with pytest.raises(InvalidParameter, match="give one of the two"):
        resolve_release(max_unchanged=0.5, epsilon=6)


def test_an_epsilon_that_a_few_isolated_words_force_is_explained() -> None:
    messages: list[str] = []
    assert resolve_release(max_unchanged=0.5, say=messages.append).epsilon == 1
    which, why = messages
    assert (
        which
        == "ε = 1: by the calibration of all 50,000 words, N_w, how often a word stays itself, is at most "
        "0.5 for every word"
    )
    assert "a few isolated words" in why
    assert "--quantile" in why
    assert "calibrate --protect" in why


@pytest.mark.parametrize(("max_unchanged", "quantile"), [(0.5, 0.95), (0.0002, 0.5)])
def test_an_epsilon_that_all_words_force_is_not_blamed_on_a_few(
    max_unchanged: float, quantile: float
) -> None:
    messages: list[str] = []
    resolve_release(max_unchanged=max_unchanged, quantile=quantile, say=messages.append)
    assert len(messages) == 1
