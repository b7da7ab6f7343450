from __future__ import annotations

import numpy as np
import pytest

from deniable import (
    Embedding,
    InsecureSeededRandomness,
    InvalidParameter,
    Mechanism,
    Multivariate,
    SecureRandomness,
)
from deniable.noise.randomness import multivariate_noise
from tests.support.oracle import OracleNeighbours
from tests.support.strategies import line_embedding, random_embedding


def test_it_is_a_mechanism() -> None:
    assert isinstance(Multivariate(random_embedding(3, 2), epsilon=1), Mechanism)


@pytest.mark.parametrize("epsilon", [0.001, 0.5, 5.0, 1e6])
def test_it_releases_the_nearest_word_of_the_noisy_vector(epsilon: float) -> None:
    embedding = random_embedding(500, 20)
    ids = np.random.default_rng(0).integers(0, 501, 400)
    released = Multivariate(embedding, epsilon=epsilon).perturb(
        ids, InsecureSeededRandomness(insecure_seed=3)
    )
    noise = multivariate_noise(InsecureSeededRandomness(insecure_seed=3), epsilon, 400, 20)
    expected = OracleNeighbours(embedding).nearest((embedding.rows(ids) + noise).astype(np.float32))
    assert np.array_equal(released, expected)


def test_large_epsilon_keeps_every_word_and_small_epsilon_forgets_it() -> None:
    embedding = random_embedding(50, 5)
    ids = np.arange(50)
    assert np.array_equal(Multivariate(embedding, epsilon=1e9).perturb(ids, SecureRandomness()), ids)
    forgetful = Multivariate(embedding, epsilon=1e-6)
    first = np.bincount(forgetful.perturb(np.full(20_000, 0), SecureRandomness()), minlength=50)
    second = np.bincount(forgetful.perturb(np.full(20_000, 1), SecureRandomness()), minlength=50)
    seen = first + second > 0
    from scipy.stats import chi2_contingency

    assert chi2_contingency(np.stack([first[seen], second[seen]])).pvalue > 1e-6


@pytest.mark.parametrize("epsilon", [1e-200, 1e-30, 1e300])
def test_extreme_epsilons_release_words(epsilon: float) -> None:
    released = Multivariate(random_embedding(40, 7), epsilon=epsilon).perturb(
        np.arange(41), SecureRandomness()
    )
    assert ((released >= 0) & (released < 40)).all()


def test_the_unknown_word_goes_in_and_never_comes_out() -> None:
    embedding = random_embedding(30, 4)
    released = Multivariate(embedding, epsilon=3).perturb(
        np.full(5_000, embedding.unknown_id), SecureRandomness()
    )
    assert released.max() < embedding.unknown_id
    assert len(np.unique(released)) > 5


def test_the_release_follows_the_laplace_distribution_on_a_line() -> None:
    # On a line the noise is Laplace(1/ε), so each cell's probability is known in closed form.
    embedding = line_embedding(-1.0, 0.0, 2.0)
    epsilon, draws = 0.8, 200_000
    from scipy.stats import chisquare, laplace

    cells = laplace(scale=1 / epsilon).cdf(np.array([-0.5, 1.0]))
    expected = np.array([cells[0], cells[1] - cells[0], 1 - cells[1]])
    counts = np.bincount(
        Multivariate(embedding, epsilon=epsilon).perturb(np.full(draws, 1), SecureRandomness()), minlength=3
    )
    assert chisquare(counts, expected * draws).pvalue > 1e-6
    assert chisquare(counts, np.roll(expected, 1) * draws).pvalue < 1e-6


def test_every_token_can_have_its_own_epsilon() -> None:
    embedding = random_embedding(100, 10)
    epsilon = np.r_[np.full(500, 1e9), np.full(500, 1e-3)]
    released = Multivariate(embedding, epsilon=1.0).perturb(
        np.full(1000, 7), SecureRandomness(), epsilon=epsilon
    )
    assert (released[:500] == 7).all()
    assert (released[500:] == 7).mean() < 0.5


def test_ids_out_of_range_are_refused() -> None:
    mechanism = Multivariate(random_embedding(3, 2), epsilon=1)
    for bad in (-1, 4):
        with pytest.raises(InvalidParameter, match=f"ids = {bad}: must be from 0 to 3"):
            mechanism.perturb(np.array([bad]), SecureRandomness())


def test_words_that_share_a_vector_are_indistinguishable_and_the_first_is_released() -> None:
    embedding = Embedding(["first", "second", "far"], [[0.0, 0.0], [0.0, 0.0], [9.0, 9.0]])
    released = Multivariate(embedding, epsilon=1e9).perturb(np.array([0, 1]), SecureRandomness())
    assert released.tolist() == [0, 0]


def test_the_guarantee_says_what_is_promised() -> None:
    guarantee = Multivariate(random_embedding(3, 2), epsilon=4).guarantee
    assert guarantee.epsilon == 4
    assert "Euclidean" in guarantee.metric
    assert "exp" in guarantee.statement
