"""The noise has density proportional to exp(-ε‖z‖), and wrong samplers are told from it.

Every check runs at a false-alarm rate of 1e-6 and is shown, with the mutants at the end, to have the power to
fail.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from deniable import InsecureSeededRandomness, SecureRandomness
from deniable.arrays import Floats
from deniable.noise.randomness import multivariate_noise, shaped_noise

DRAWS = 20_000
ALPHA = 1e-6
DIMENSIONS = [3, 50, 300]

Sampler = Callable[[np.random.Generator, int], Floats]


def radius_p_value(noise: Floats, epsilon: float) -> float:
    radii = np.linalg.norm(noise, axis=1) * epsilon
    return float(stats.kstest(radii, stats.gamma(noise.shape[1]).cdf).pvalue)


def direction_p_value(noise: Floats) -> float:
    """The smallest of several p-values about the direction, corrected for their number."""
    draws, n = noise.shape
    directions = noise / np.linalg.norm(noise, axis=1, keepdims=True)
    axis = np.ones(n) / np.sqrt(n)
    projection = stats.beta((n - 1) / 2, (n - 1) / 2)
    p_values = [
        stats.kstest((directions @ line + 1) / 2, projection.cdf).pvalue for line in (np.eye(n)[0], axis)
    ]
    means = directions.mean(axis=0) * np.sqrt(draws * n)
    p_values.append(stats.chi2(n).sf(means @ means))
    # Off-diagonal second moments: xᵢxⱼ has mean 0 and variance 1/(n(n+2)); check a band of neighbouring axes.
    products = (directions[:, :-1] * directions[:, 1:]).mean(axis=0) * np.sqrt(draws * n * (n + 2))
    p_values.append(min(1.0, 2 * (n - 1) * stats.norm.sf(np.abs(products).max())))
    squares = (directions**2 - 1 / n).mean(axis=0) * np.sqrt(draws) / np.sqrt(2 * (n - 1) / (n * n * (n + 2)))
    p_values.append(min(1.0, 2 * n * stats.norm.sf(np.abs(squares).max())))
    return float(min(1.0, len(p_values) * min(p_values)))


@pytest.mark.parametrize("dimension", DIMENSIONS)
@pytest.mark.parametrize("epsilon", [0.5, 12.0])
def test_radius_is_gamma_and_direction_is_uniform(dimension: int, epsilon: float) -> None:
    noise = multivariate_noise(SecureRandomness(), epsilon, DRAWS, dimension)
    assert radius_p_value(noise, epsilon) > ALPHA
    assert direction_p_value(noise) > ALPHA


def test_radius_and_direction_are_independent() -> None:
    noise = multivariate_noise(SecureRandomness(), 1.0, 100_000, 3)
    radii = np.linalg.norm(noise, axis=1)
    assert stats.pearsonr(radii, noise[:, 0] / radii).pvalue > ALPHA
    assert stats.pearsonr(radii, np.abs(noise[:, 0] / radii)).pvalue > ALPHA


def test_draws_are_independent_of_one_another() -> None:
    noise = multivariate_noise(SecureRandomness(), 1.0, 50_000, 3)
    radii = np.linalg.norm(noise, axis=1)
    assert stats.pearsonr(radii[:-1], radii[1:]).pvalue > ALPHA
    assert stats.pearsonr(noise[:-1, 0], noise[1:, 0]).pvalue > ALPHA


def test_every_token_can_have_its_own_epsilon() -> None:
    epsilon = np.repeat([0.5, 8.0], DRAWS)
    noise = multivariate_noise(SecureRandomness(), epsilon, 2 * DRAWS, 50)
    assert radius_p_value(noise[:DRAWS], 0.5) > ALPHA
    assert radius_p_value(noise[DRAWS:], 8.0) > ALPHA


def test_one_dimension_is_the_laplace_distribution() -> None:
    noise = multivariate_noise(SecureRandomness(), 2.0, DRAWS, 1)
    assert stats.kstest(noise[:, 0], stats.laplace(scale=0.5).cdf).pvalue > ALPHA


def test_a_zero_direction_does_not_become_not_a_number() -> None:
    class Zeros(InsecureSeededRandomness):
        def normals(self, tokens: int, dimension: int) -> Floats:
            return np.zeros((tokens, dimension))

    noise = multivariate_noise(Zeros(insecure_seed=0), 1.0, 5, 3)
    assert np.isfinite(noise).all()
    assert (np.linalg.norm(noise, axis=1) > 0).all()


@pytest.mark.parametrize("epsilon", [1e-200, 1e-3, 1e6, 1e300])
def test_extreme_epsilons_give_finite_noise(epsilon: float) -> None:
    assert np.isfinite(multivariate_noise(SecureRandomness(), epsilon, 100, 300)).all()


def _uniform_direction(rng: np.random.Generator, n: int) -> Floats:
    normal = rng.standard_normal((DRAWS, n))
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    return normal


WRONG_RADIUS: dict[str, Sampler] = {
    "shape n-1": lambda rng, n: _uniform_direction(rng, n) * rng.standard_gamma(n - 1, DRAWS)[:, None],
    "shape n+1": lambda rng, n: _uniform_direction(rng, n) * rng.standard_gamma(n + 1, DRAWS)[:, None],
    "scale -5 %": lambda rng, n: _uniform_direction(rng, n) * rng.standard_gamma(n, DRAWS)[:, None] * 0.95,
    "scale +5 %": lambda rng, n: _uniform_direction(rng, n) * rng.standard_gamma(n, DRAWS)[:, None] * 1.05,
    "half the noise": lambda rng, n: _uniform_direction(rng, n) * rng.standard_gamma(n, DRAWS)[:, None] / 2,
    "independent Laplace": lambda rng, n: rng.laplace(size=(DRAWS, n)),
    "Gaussian": lambda rng, n: rng.standard_normal((DRAWS, n)) * np.sqrt(n + 1),
    "direction not normalised": lambda rng, n: (
        rng.standard_normal((DRAWS, n)) * rng.standard_gamma(n, DRAWS)[:, None] / np.sqrt(n)
    ),
}

WRONG_DIRECTION: dict[str, Sampler] = {
    "from a cube": lambda rng, n: rng.uniform(-1, 1, (DRAWS, n)),
    "one orthant": lambda rng, n: np.abs(rng.standard_normal((DRAWS, n))),
    "one axis shrunk": lambda rng, n: rng.standard_normal((DRAWS, n)) * np.r_[0.8, np.ones(n - 1)],
    "one axis repeated": lambda rng, n: rng.standard_normal((DRAWS, n))[:, np.r_[0, 0, 2:n]],
    "off centre": lambda rng, n: rng.standard_normal((DRAWS, n)) + np.r_[0.2, np.zeros(n - 1)],
}


@pytest.mark.parametrize("dimension", DIMENSIONS)
@pytest.mark.parametrize("wrong", WRONG_RADIUS)
def test_a_wrong_radius_is_rejected(wrong: str, dimension: int) -> None:
    caught = [
        radius_p_value(WRONG_RADIUS[wrong](np.random.default_rng(seed), dimension), 1.0) < ALPHA
        for seed in range(3)
    ]
    assert all(caught)


@pytest.mark.parametrize("wrong", [name for name in WRONG_DIRECTION if name != "from a cube"])
@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_a_wrong_direction_is_rejected(wrong: str, dimension: int) -> None:
    assert direction_p_value(WRONG_DIRECTION[wrong](np.random.default_rng(1), dimension)) < ALPHA


def test_a_cube_direction_is_rejected_where_it_differs() -> None:
    # In high dimension a normalised cube is close to a sphere in every projection; three dimensions show it.
    assert direction_p_value(WRONG_DIRECTION["from a cube"](np.random.default_rng(1), 3)) < ALPHA


def test_shaped_noise_is_round_noise_times_the_shape() -> None:
    shape = np.array([[2.0, 0.5], [0.5, 1.0]])
    shaped = shaped_noise(InsecureSeededRandomness(insecure_seed=1), 2.0, 20_000, shape)
    length = np.linalg.norm(shaped @ np.linalg.inv(shape), axis=1)
    assert stats.kstest(2.0 * length, stats.gamma(2).cdf).pvalue > ALPHA
    assert stats.kstest(2.0 * np.linalg.norm(shaped, axis=1), stats.gamma(2).cdf).pvalue < ALPHA
