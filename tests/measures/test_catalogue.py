"""Every measure of the catalogue answers in one form, and a measure of risk is brought to a target."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from deniable import InvalidParameter
from deniable.audit.named import ShareNamed
from deniable.errors import TargetsNotMet
from deniable.measures.catalogue import MEASURES, Setting, measure, solve_for
from deniable.measures.texts import Texts
from deniable.mechanisms.catalogue import ChosenMechanism
from deniable.utility.accuracy import AccuracyOfLabels, DecodingEffort
from tests.support.strategies import random_embedding

SPACE = random_embedding(120, 3, seed=1)
SETTING = Setting(embedding=SPACE, mechanism=ChosenMechanism(name="santext"), epsilon=4.0)


def labelled(texts: int = 400) -> Texts:
    """Texts of ten words: of low ranks under one label, of high ranks under the other."""
    rng, labels = np.random.default_rng(2), np.arange(texts) % 2
    ids = (rng.zipf(1.3, (texts, 10)) % 60 + 60 * labels[:, None]).ravel()
    return Texts(
        ids=ids,
        offsets=np.arange(0, 10 * texts + 1, 10),
        spelled=[str(SPACE.words[i]) for i in ids.tolist()],
        labels=["low" if label else "high" for label in labels],
    )


@pytest.mark.parametrize("name", sorted(MEASURES))
def test_a_measure_grows_from_a_blind_guess_and_is_the_same_again(name: str) -> None:
    texts = labelled()
    nothing, some, all_of_it = (
        measure(name, replace(SETTING, epsilon=epsilon), texts) for epsilon in (1e-3, 4.0, 200.0)
    )
    for estimate in (nothing, some, all_of_it):
        assert 0.0 <= estimate.low <= estimate.value <= estimate.high <= 1.0
        assert estimate.statement
    assert nothing.value == pytest.approx(nothing.blind, abs=0.12)
    assert nothing.value < some.value <= all_of_it.value + 0.02
    assert all_of_it.value > 0.95
    assert measure(name, SETTING, texts) == measure(name, SETTING, texts)


def test_the_bound_is_above_the_attack_and_texts_may_be_strings() -> None:
    texts = [" ".join(words) for words in labelled().words]
    assert measure("named", SETTING, texts).low <= measure("bayes-bound", SETTING, texts).high
    assert measure("named", SETTING, texts) == measure("named", SETTING, labelled())


@pytest.mark.parametrize("name", ["named", "unchanged"])
def test_the_largest_epsilon_that_meets_a_target_is_found(name: str) -> None:
    texts = labelled()
    setting, estimate = solve_for(name, SETTING, texts, at_most=0.5)
    assert 0.45 < estimate.value <= estimate.high <= 0.5
    assert measure(name, replace(setting, epsilon=1.3 * setting.epsilon), texts, seed=9).value > 0.5
    with pytest.raises(TargetsNotMet):
        solve_for(ShareNamed(), SETTING, texts, at_most=0.01)


def test_labels_are_told_from_decoded_text_too() -> None:
    decoded = AccuracyOfLabels(reading="decoded", effort=DecodingEffort(support=120, directions=20))
    assert measure(decoded, SETTING, labelled()).low > 0.6


def test_what_cannot_be_measured_is_refused() -> None:
    texts = labelled()
    with pytest.raises(InvalidParameter, match="must be one of: accuracy"):
        measure("nothing", SETTING, texts)
    with pytest.raises(InvalidParameter, match="public"):
        measure(ShareNamed(way="context"), SETTING, texts)
    with pytest.raises(InvalidParameter, match="labels"):
        measure("accuracy", SETTING, replace(texts, labels=()))
    with pytest.raises(InvalidParameter, match="texts"):
        measure("named", SETTING, ["unheard of"])
