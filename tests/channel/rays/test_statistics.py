from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import gammainc
from scipy.stats import laplace

from deniable import Multivariate
from deniable.calibration.bounds import simultaneous_upper
from deniable.channel.distribution import Distribution
from deniable.channel.rays.rays import Rays
from deniable.channel.rays.statistics import (
    LengthFunction,
    average_unchanged,
    distinct_words,
    distribution_on_rays,
    furthest_radius,
    jackknife,
    unchanged,
    unchanged_counts,
)
from deniable.noise.randomness import InsecureSeededRandomness
from tests.support.strategies import line_embedding, random_embedding


@pytest.mark.parametrize("dimension", [1, 2, 50, 300])
def test_the_table_of_the_distribution_function_is_true_to_seven_digits(dimension: int) -> None:
    lengths = np.linspace(0.0, 3.0 * dimension + 40, 20_001)
    gamma = LengthFunction("gamma", dimension)
    assert np.abs(gamma(lengths) - gammainc(dimension, lengths)).max() < 1e-7
    assert gamma(np.array([0.0, np.inf])).tolist() == [0.0, 1.0]


def test_probabilities_on_a_line_are_those_of_the_laplace_distribution() -> None:
    embedding = line_embedding(-1.0, 0.0, 2.0)
    rays, gamma = Rays(embedding, rays=4000), LengthFunction("gamma", 1)
    cells = laplace(scale=1 / 0.8).cdf(np.array([-0.5, 1.0]))
    envelope = next(rays.envelopes(np.array([1]), furthest=furthest_radius(0.8, gamma)))
    found = distribution_on_rays(envelope, 0.8, gamma)
    expected = {0: cells[0], 1: cells[1] - cells[0], 2: 1 - cells[1]}
    for word, probability, error in zip(
        found.words.tolist(), found.probabilities, found.standard_errors, strict=True
    ):
        assert abs(probability - expected[word]) < 5 * error
    assert math.isclose(found.probabilities.sum(), 1.0)


@pytest.mark.parametrize("epsilon", [1.0, 4.0, 20.0])
def test_walking_further_than_an_epsilon_needs_changes_nothing(epsilon: float) -> None:
    rays, gamma, ids = (
        Rays(random_embedding(400, 6), rays=100),
        LengthFunction("gamma", 6),
        np.array([0, 7, 9]),
    )
    needed, more = (
        rays.envelopes(ids, furthest=furthest_radius(epsilon / times, gamma)) for times in (1.0, 50.0)
    )
    for short, far in zip(needed, more, strict=True):
        first, second = distribution_on_rays(short, epsilon, gamma), distribution_on_rays(far, epsilon, gamma)
        assert np.array_equal(first.words, second.words)
        assert np.array_equal(first.probabilities, second.probabilities)
        assert first.entropies() == second.entropies()
        assert np.array_equal(jackknife(short, epsilon, gamma)[1], jackknife(far, epsilon, gamma)[1])


def test_the_curve_agrees_with_direct_draws() -> None:
    embedding = random_embedding(400, 8)
    rays, gamma = Rays(embedding, rays=2000), LengthFunction("gamma", 8)
    ids = np.arange(6)
    radii, _ = rays.first_breakpoints(ids)
    epsilons = np.array([1.0, 3.0, 6.0, 12.0])
    means, errors = unchanged(radii, epsilons, gamma)
    source = InsecureSeededRandomness(insecure_seed=5)
    for e, epsilon in enumerate(epsilons):
        mechanism = Multivariate(embedding, epsilon=float(epsilon))
        for word in ids:
            share = (mechanism.perturb(np.full(20_000, word), source) == word).mean()
            assert (
                abs(share - means[word, e])
                < 4.5 * math.hypot(errors[word, e], math.sqrt(share * (1 - share) / 20_000)) + 1e-3
            )
    assert (np.diff(means, axis=1) >= 0).all()


def test_one_draw_per_ray_gives_the_counts_of_the_walks() -> None:
    embedding = random_embedding(300, 5)
    rays, gamma, draws = (
        Rays(embedding, rays=500),
        LengthFunction("gamma", 5),
        LengthFunction("gamma", 5).draws(500),
    )
    ids = np.arange(20)
    radii, _ = rays.first_breakpoints(ids)
    for epsilon in (1.0, 4.0):
        counts = unchanged_counts(radii, epsilon, draws)
        for word, envelope in enumerate(rays.envelopes(ids, furthest=furthest_radius(epsilon, gamma, draws))):
            drawn = envelope.at(draws / epsilon)
            assert counts[word] == (drawn == word).sum()
            assert distinct_words(envelope, epsilon, draws) == len(set(drawn.tolist()))


def test_the_average_over_words_has_the_error_of_its_rays() -> None:
    embedding = random_embedding(200, 4)
    gamma = LengthFunction("gamma", 4)
    averages = []
    for seed in range(40):
        radii, _ = Rays(embedding, rays=50, seed=seed).first_breakpoints(np.arange(200))
        averages.append(average_unchanged(radii, 3.0, gamma))
    spread = np.std([a for a, _ in averages], ddof=1)
    assert 0.6 < np.mean([e for _, e in averages]) / spread < 1.6


@pytest.mark.parametrize("epsilon", [1.0, 4.0])
def test_errors_of_support_and_entropies_are_the_spread_over_sets_of_rays(epsilon: float) -> None:
    embedding, gamma, sets, word = random_embedding(400, 3), LengthFunction("gamma", 3), 150, np.array([17])
    reach = furthest_radius(epsilon, gamma)
    found, errors = np.empty((sets, 5)), np.empty((sets, 5))
    for seed in range(sets):
        envelope = next(Rays(embedding, rays=200, seed=seed).envelopes(word, furthest=reach))
        distribution = distribution_on_rays(envelope, epsilon, gamma)
        found[seed] = distribution.support(), *distribution.entropies()
        support, entropies = jackknife(envelope, epsilon, gamma)
        errors[seed] = support, *entropies
    ratio = errors.mean(axis=0) / found.std(axis=0, ddof=1)
    # H₀ counts words that hardly any ray meets: its spread is overstated, which errs on the side of caution.
    assert (ratio > 0.75).all()
    assert (ratio[[0, 2, 3, 4]] < 1.35).all()
    covered = (np.abs(found - found.mean(axis=0)) < 2.0 * errors).mean(axis=0)
    assert (covered > 0.88).all()


def test_one_ray_has_no_error() -> None:
    envelope = next(Rays(random_embedding(50, 3), rays=1).envelopes(np.array([0])))
    support, entropies = jackknife(envelope, 1.0, LengthFunction("gamma", 3))
    assert math.isnan(support)
    assert np.isnan(entropies).all()


def test_support_and_entropies_of_a_known_distribution() -> None:
    known = Distribution(
        words=np.arange(4), probabilities=np.array([0.5, 0.25, 0.125, 0.125]), standard_errors=np.zeros(4)
    )
    assert known.entropies() == pytest.approx((2.0, 1.75, -math.log2(0.34375), 1.0))
    assert [known.support(eta) for eta in (0.0, 0.125, 0.25, 0.5, 0.9)] == [4, 3, 2, 1, 1]


@pytest.mark.parametrize("shape", [(0.02, 0.05), (0.5, 0.5), (5.0, 0.1), (300.0, 300.0)])
def test_the_bound_holds_for_all_words_together(shape: tuple[float, float]) -> None:
    random = np.random.default_rng(1)
    words, rays = 100, 60
    truth = shape[0] / (shape[0] + shape[1])
    failed = 0
    for _ in range(200):
        values = random.beta(*shape, (words, rays))
        upper = simultaneous_upper(
            values.mean(axis=1), values.std(axis=1, ddof=1) / math.sqrt(rays), rays, words=words, alpha=0.2
        )
        failed += bool((upper < truth).any())
    assert failed <= 0.2 * 200
    assert (upper <= 1.0).all()
