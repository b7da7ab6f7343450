from __future__ import annotations

import numpy as np
import pytest

from deniable import Embedding
from deniable.calibration.by_rays import measure_by_rays
from deniable.calibration.choice import Targets
from deniable.calibration.page import (
    SENTENCES,
    SHOWN_AVERAGES,
    calibration_page,
    example_releases,
    findings,
)
from deniable.mechanisms.catalogue import ChosenMechanism
from deniable.report.wording import percent, percent_up, words
from tests.calibration.reported import HOSTILE, calibrated, found
from tests.report.html_check import outline


def test_the_page_without_targets_is_sound_whatever_the_words_are() -> None:
    page = outline(calibration_page(found()).html())
    assert page.problems == []
    assert page.outside == []
    assert not {"script", "img", "iframe", "i", "b"} & set(page.tags)
    assert len(page.ids) == len(set(page.ids))
    assert "<script>alert(1)</script>" in page.text
    assert "\\u{202e}" in page.text
    assert "{{ 7 * 7 }}" in page.text
    for heading in (
        "What happens to a text",
        "The words that are least protected",
        "What this page does not say",
        "How it was measured",
    ):
        assert heading in page.text


def test_the_page_with_targets_says_first_whether_they_are_met() -> None:
    met, missed = found(epsilon=0.5), found(epsilon=20.0)
    assert "the target is met" in outline(calibration_page(met).html()).lead
    assert "the target is missed" in outline(calibration_page(missed).html()).lead
    counted = found(epsilon=float(calibrated().epsilons[0]), targets=Targets(min_distinct=10**6))
    assert "at least 1,000,000 distinct words" in outline(calibration_page(counted).html()).lead


def test_the_curves_are_those_of_the_calibration() -> None:
    made = found()
    for name, quantile in (("median word", 0.5), ("99 % of words", 0.99), ("worst word", 1.0)):
        for epsilon, value, *_ in made.unchanged[name]:
            assert value == pytest.approx(np.quantile(made.calibration.unchanged(epsilon)[0], quantile))
    assert (np.diff([point.value for point in made.unchanged["average word"]]) >= 0).all()
    assert made.sample.support is not None
    fewest = {point.x: point.value for point in made.support["worst word"]}
    assert fewest == dict(zip(made.sample.epsilons, made.sample.support.min(axis=0), strict=True))


def test_the_range_goes_from_all_words_changed_to_none() -> None:
    calibration = calibrated()
    span = calibration.span(16)
    assert calibration.unchanged(span[0])[0].mean() < 0.2  # the words that lie alone stay at any ε
    assert calibration.unchanged(span[-1])[0].mean() > 0.98
    for share in (0.3, 0.6):
        assert calibration.unchanged(calibration.epsilon_reaching(share))[0].mean() == pytest.approx(
            share, abs=0.01
        )
    assert [curve.average for curve in found().shown] == sorted(curve.average for curve in found().shown)
    assert len(found().shown) <= len(SHOWN_AVERAGES)


def test_examples_are_released_by_the_mechanism_or_left_out() -> None:
    embedding = calibrated().embedding
    assert example_releases(embedding, ChosenMechanism(), [1.0]) == []
    before, after = example_releases(embedding, ChosenMechanism(), [1e9], ("w1 w2",))
    assert before == after == ["w1 w2"]
    hidden = [
        example_releases(embedding, ChosenMechanism(), [0.5], ("w1 w2 w3 w4 w5 w6",))[1] for _ in range(3)
    ]
    assert len({tuple(texts) for texts in hidden}) > 1
    vocabulary = sorted({word for sentence in SENTENCES for word in sentence.split()})
    english = Embedding(vocabulary, np.random.default_rng(0).standard_normal((len(vocabulary), 3)))
    assert example_releases(english, ChosenMechanism(), [1.0])[0] == list(SENTENCES)


def test_words_that_stayed_are_marked() -> None:
    calibration = calibrated()
    page = calibration_page(findings(calibration, calibration, epsilons=[1e6], sentences=("w1 w2",)))
    assert page.html().count('<u class="stayed">') == 2


def test_a_vocabulary_of_two_words_has_a_page() -> None:
    tiny = measure_by_rays(Embedding(["a", "b"], np.array([[0.0], [1.0]])), rays=20, support=True, keep=False)
    assert outline(calibration_page(findings(tiny, tiny)).html()).problems == []


@pytest.mark.parametrize(
    ("share", "said"),
    [
        (0.0, "0 %"),
        (1.0, "100 %"),
        (1e-9, "under 0.01 %"),
        (0.999999, "over 99.99 %"),
        (0.05, "5 %"),
        (0.123, "12 %"),
        (0.9951, "99.51 %"),
    ],
)
def test_shares_are_never_rounded_to_always_or_never(share: float, said: str) -> None:
    assert percent(share) == said


def test_bounds_are_rounded_up() -> None:
    assert percent_up(0.50001) == "50.1 %"
    assert percent_up(0.5) == "50 %"
    assert percent_up(1.0) == "100 %"
    assert words(1) == "1 word"
    assert len(HOSTILE) == len(set(HOSTILE))
