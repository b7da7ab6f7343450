from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chisquare, laplace

from deniable import InsecureSeededRandomness, Multivariate, SecureRandomness
from deniable.noise.randomness import multivariate_noise
from tests.support.oracle import OracleNeighbours
from tests.support.strategies import line_embedding, random_embedding


@pytest.mark.parametrize("epsilon", [0.001, 0.5, 5.0, 1e6])
def test_it_releases_the_nearest_word_of_the_noisy_vector(epsilon: float) -> None:
    embedding = random_embedding(500, 20)
    ids = np.random.default_rng(0).integers(0, 501, 400)
    first, second = (InsecureSeededRandomness(insecure_seed=3) for _ in range(2))
    released = Multivariate(embedding, epsilon=epsilon).perturb(ids, first)
    points = embedding.rows(ids) + multivariate_noise(second, epsilon, 400, 20)
    assert np.array_equal(released, OracleNeighbours(embedding).nearest(points.astype(np.float32)))


def test_the_release_follows_the_laplace_distribution_on_a_line() -> None:
    # On a line the noise is Laplace(1/ε), so each cell's probability is known in closed form.
    mechanism, draws = Multivariate(line_embedding(-1.0, 0.0, 2.0), epsilon=0.8), 200_000
    cells = laplace(scale=1 / 0.8).cdf(np.array([-0.5, 1.0]))
    expected = np.array([cells[0], cells[1] - cells[0], 1 - cells[1]])
    counts = np.bincount(mechanism.perturb(np.full(draws, 1), SecureRandomness()), minlength=3)
    assert chisquare(counts, expected * draws).pvalue > 1e-6
    assert chisquare(counts, np.roll(expected, 1) * draws).pvalue < 1e-6


def test_every_token_can_have_its_own_epsilon() -> None:
    epsilon = np.r_[np.full(500, 1e9), np.full(500, 1e-3)]
    mechanism = Multivariate(random_embedding(100, 10), epsilon=1.0)
    released = mechanism.perturb(np.full(1000, 7), SecureRandomness(), epsilon=epsilon)
    assert (released[:500] == 7).all()
    assert (released[500:] == 7).mean() < 0.5
