"""ε by what it does to words: the average N_w rises with ε, is right, and its inverse leads back."""

from __future__ import annotations

import numpy as np
import pytest

from deniable import Embedding, Multivariate
from deniable.calibration.run import (
    SHARES,
    epsilons_where_words_stay,
    sampled,
    source_of,
)
from deniable.mechanisms.catalogue import ChosenMechanism
from deniable.noise.randomness import InsecureSeededRandomness, SecureRandomness


def test_the_average_is_that_of_real_draws(two_kinds: Embedding) -> None:
    calibration, words = sampled(two_kinds), np.repeat(np.arange(40), 1000)
    for epsilon in (4.0, 12.0):
        stayed = Multivariate(two_kinds, epsilon=epsilon).perturb(words, SecureRandomness()) == words
        # Draws: a standard error below 0.0025. Rays: 40 words with 200 each, below 0.006.
        assert calibration.average(epsilon)[0] == pytest.approx(float(stayed.mean()), abs=0.035)
    assert source_of(calibration) == "40 words of the vocabulary, 200 rays each"


def test_the_inverse_leads_back_and_rises(two_kinds: Embedding) -> None:
    calibration = sampled(two_kinds)
    for share in SHARES:
        assert calibration.average(calibration.epsilon_reaching(share))[0] == pytest.approx(share, abs=0.01)


def test_the_default_values_of_an_installed_embedding(installed: Embedding) -> None:
    values = epsilons_where_words_stay("two-kinds")
    assert len(values) == len(SHARES)
    assert values == sorted(values)


@pytest.mark.parametrize(
    "name", ["mahalanobis", "gaussian", "vickrey", "santext", "line", "randomized-response"]
)
def test_other_mechanisms_reach_the_share_too(name: str, two_kinds: Embedding) -> None:
    mechanism = ChosenMechanism(name=name)
    calibration = sampled(two_kinds, mechanism)
    epsilon = calibration.epsilon_reaching(0.5)
    words = np.repeat(np.arange(40), 500)
    drawn = float(
        (
            mechanism(two_kinds, epsilon=epsilon).perturb(words, InsecureSeededRandomness(insecure_seed=1))
            == words
        ).mean()
    )
    assert calibration.average(epsilon)[0] == pytest.approx(drawn, abs=0.03)
    # A table gives the value between two of its own, in a straight line: near, not exact.
    assert drawn == pytest.approx(0.5, abs=0.1)
    assert abs(calibration.average(1.5 * epsilon)[0] - drawn) > 0.05
