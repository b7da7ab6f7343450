"""Accounting against integrals of the true curve, sums of exact rows and closed forms; what rounds the wrong
way is refuted."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import betainc, gammainc

from deniable import (
    Embedding,
    Gaussian,
    InvalidParameter,
    Mahalanobis,
    Multivariate,
    RandomizedResponse,
    SanText,
    Vickrey,
)
from deniable.arrays import Floats
from deniable.measures.accounting import (
    Loss,
    account,
    coins,
    exponents,
    loss_of,
    normal_epsilon,
    radial_loss,
    radial_survival,
)
from tests.measures.test_bayes_bound import small


def true_delta(dimension: int, exponent: float, epsilon: float, points: int = 1_500) -> float:
    """Return ∫ (p(z) - e^ε p(z - v))₊ dz around the axis through both points, in two or three dimensions."""
    reach = 30.0 + exponent
    along = np.linspace(-reach, reach + exponent, 2 * points)
    across = (np.arange(points) + 0.5) * (reach / points)
    x, y = np.meshgrid(along, across)
    density, other = np.exp(-np.hypot(x, y)), np.exp(-np.hypot(x - exponent, y))
    weight = np.ones_like(y) if dimension == 2 else y
    total = float((density * weight).sum())
    return float((np.maximum(density - math.exp(epsilon) * other, 0.0) * weight).sum()) / total


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("exponent", [0.7, 3.0, 8.0])
def test_the_curve_lies_above_the_true_one_and_close_to_it(dimension: int, exponent: float) -> None:
    loss = radial_loss(dimension, exponent)
    assert loss.chances.sum() == pytest.approx(1.0)
    for share in (0.2, 0.5, 0.8):
        true = true_delta(dimension, exponent, share * exponent)
        assert true * (1 - 2e-3) <= loss.delta(share * exponent) <= true * 1.06 + 1e-5
    assert loss.delta(exponent) == 0.0
    assert loss.epsilon(1e-9) <= exponent


def test_bins_by_their_upper_ends_are_refuted() -> None:
    dimension, exponent, bins = 3, 3.0, 20
    edges = np.linspace(0.0, 30.0, bins + 1)
    weights = np.diff(gammainc(dimension, edges))
    wrong, right = (
        _survival(ends, weights, exponent, dimension) for ends in (edges[1:], np.maximum(edges[:-1], 1e-9))
    )
    epsilon = 0.5 * exponent
    true = true_delta(dimension, exponent, epsilon)
    assert wrong.delta(epsilon) < true < right.delta(epsilon)
    assert true * (1 - 2e-3) < radial_loss(dimension, exponent, bins=bins).delta(epsilon)


def _survival(ends: Floats, weights: Floats, exponent: float, dimension: int) -> Loss:
    grid = np.arange(-400, 400) * (exponent / 400)
    places = (exponent**2 - grid[:, None] ** 2) / (2 * exponent * ends) - grid[:, None] / exponent
    half = (dimension - 1) / 2
    beyond = np.append(betainc(half, half, np.clip((places + 1) / 2, 0, 1)) @ weights, 0.0)
    return Loss(chances=np.append(1.0 - beyond[0], -np.diff(beyond)), lowest=-400, step=exponent / 400)


def test_draws_never_exceed_the_bound_in_many_dimensions() -> None:
    chance, exponent = np.random.default_rng(1), 12.0
    for dimension in (2, 17, 50):
        z = chance.normal(size=(40_000, dimension))
        z *= (chance.gamma(dimension, size=40_000) / np.linalg.norm(z, axis=1))[:, None]
        away = z.copy()
        away[:, 0] -= exponent
        losses = np.linalg.norm(away, axis=1) - np.linalg.norm(z, axis=1)
        for loss in (-6.0, 0.0, 3.0, 8.0):
            bound = float(radial_survival(np.array([loss]), exponent, dimension)[0])
            drawn = float((losses > loss).mean())
            assert drawn - 4.5 * math.sqrt(max(drawn, 1e-4) / 40_000) <= bound <= drawn + 0.02


def test_one_dimension_is_the_laplace_mechanism() -> None:
    a, epsilon = 2.0, 0.8
    true = 1.0 - math.exp((epsilon - a) / 2.0)  # the well-known curve
    assert true <= radial_loss(1, a).delta(epsilon) <= true + 0.01


def test_one_word_is_the_single_curve_and_several_are_the_convolution() -> None:
    loss = radial_loss(5, 4.0, steps=50)
    assert loss.composed(1) is loss
    three, direct = loss.composed(3), np.convolve(np.convolve(loss.chances, loss.chances), loss.chances)
    by_hand = Loss(chances=direct, lowest=-150, step=loss.step)
    for epsilon in (0.0, 3.0, 8.0, 11.9):
        assert three.delta(epsilon) == pytest.approx(by_hand.delta(epsilon) + three.slack, abs=1e-14)
        assert by_hand.delta(epsilon) <= three.delta(epsilon)
    assert three.slack < 1e-11


REFERENCE = json.loads((Path(__file__).parent / "dp_accounting.json").read_text())


@pytest.mark.parametrize("given", REFERENCE, ids=lambda given: "-".join(map(str, given.values())))
def test_it_agrees_with_the_library_dp_accounting(given: dict[str, Any]) -> None:
    size, exponent, words, delta = (given[name] for name in ("size", "exponent", "words", "delta"))
    if given["noise"] == "gaussian":
        found = normal_epsilon(exponent * math.sqrt(words), delta)
    elif given["noise"] == "radial":
        found = radial_loss(size, exponent).composed(words).epsilon(delta)
    else:
        embedding = small(words=size)
        loss = loss_of(RandomizedResponse(embedding, epsilon=exponent), exponent)
        found = loss.composed(words).epsilon(delta)
    assert 0.999 * given["epsilon"] - 1e-3 <= found <= 1.015 * given["epsilon"] + 1e-3


def test_a_longer_distance_never_spends_less() -> None:
    spent = [radial_loss(17, a).composed(5).epsilon(1e-6) for a in (1.0, 2.0, 4.0, 8.0)]
    assert spent == sorted(spent)
    assert all(few <= 5 * a for few, a in zip(spent, (1.0, 2.0, 4.0, 8.0), strict=True))


def test_the_figures_of_the_design_are_reached() -> None:
    # 20 words, ε = 3, d = 5.5: Σεd = 330, and about 102 with δ = 1e-6 in 50 dimensions.
    assert 85.0 < radial_loss(50, 16.5).composed(20).epsilon(1e-6) < 103.0


def test_normal_noise_follows_its_closed_form() -> None:
    mechanism = Gaussian(small(), epsilon=1.5)
    for first, second, count in ((0, 1, 1), (3, 7, 4)):
        mu = mechanism.mu(first, second) * math.sqrt(count)
        epsilon = normal_epsilon(mu, 1e-5)
        assert Gaussian(small(), epsilon=1.5 * math.sqrt(count)).delta(
            first, second, epsilon
        ) == pytest.approx(1e-5, rel=1e-6)
    assert all(row.pure == math.inf and row.to_dict()["pure"] is None for row in account(mechanism))


def delta_of_rows(first: Floats, second: Floats, epsilon: float) -> float:
    return float(np.maximum(first - math.exp(epsilon) * second, 0.0).sum())


@pytest.mark.parametrize("kind", [RandomizedResponse, SanText])
def test_exact_rows_never_spend_more(kind: Any) -> None:
    mechanism = kind(small(), epsilon=2.0)
    rows = np.zeros((13, 12))
    for word, (outputs, chances) in enumerate(mechanism.probabilities(np.arange(13))):
        rows[word, outputs] = chances
    for first, second in ((0, 5), (5, 0), (2, 12)):
        loss = loss_of(mechanism, mechanism.log_bound(first, second))
        twice = [np.outer(rows[word], rows[word]).ravel() for word in (first, second)]
        for epsilon in (0.0, 0.5, 1.5):
            assert delta_of_rows(rows[first], rows[second], epsilon) <= loss.delta(epsilon) + 1e-12
            assert delta_of_rows(twice[0], twice[1], epsilon) <= loss.composed(2).delta(epsilon)
    if kind is RandomizedResponse:
        assert delta_of_rows(rows[0], rows[5], 0.5) == pytest.approx(loss_of(mechanism, 2.0).delta(0.5))


def test_two_coins_dominate_what_has_their_pure_bound() -> None:
    for dimension in (1, 2, 9):
        assert all(
            radial_loss(dimension, 3.0).delta(e) <= coins(3.0).delta(e) + 1e-12 for e in (0.0, 1.0, 2.0)
        )


def test_the_table_has_both_distances_and_never_exceeds_the_pure_bound() -> None:
    plain = small(words=40, dimension=6)
    embedding = Embedding(plain.words, plain.vectors, unknown=9.0 * plain.vectors[3])
    for mechanism in (
        Multivariate(embedding, epsilon=3.0),
        Vickrey(embedding, epsilon=3.0),
        Mahalanobis(embedding, epsilon=3.0),
    ):
        rows = account(mechanism, words=(1, 5, 5_000))
        assert [(row.words, row.distance) for row in rows] == [
            (n, d) for d in ("median", "largest") for n in (1, 5, 5_000)
        ]
        for row in rows:
            if row.words == 5_000:
                assert row.epsilon is None
            else:
                assert row.epsilon is not None
                assert 0.0 < row.epsilon <= row.pure
        pairs = [mechanism.log_bound(i, j) for i in range(41) for j in range(i)]  # ⊥ is one of them
        assert exponents(mechanism)["largest"] >= max(pairs)
        assert min(pairs) <= exponents(mechanism)["median"] <= max(pairs)
    with pytest.raises(InvalidParameter, match="delta"):
        account(Multivariate(embedding, epsilon=3.0), delta=1.0)
