"""The Bayes bound against integrals on a grid and sums of exact channels; wrong forms of it are refuted by
the same checks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from deniable import (
    TEM,
    Embedding,
    Gaussian,
    InvalidParameter,
    Mahalanobis,
    Multivariate,
    RankSmoothing,
    TargetsNotMet,
    Vickrey,
)
from deniable.arrays import Floats
from deniable.calibration.choice import protect
from deniable.embeddings.kinds import Kinds
from deniable.interfaces import Mechanism
from deniable.measures.bayes_bound import Words, bayes_bound, largest_epsilon
from deniable.measures.estimate import Estimate
from deniable.mechanisms.base import ExactSums
from deniable.mechanisms.catalogue import ChosenMechanism
from deniable.words.frequency import in_english

SPREAD = np.array([[2.0, 0.0], [0.0, 0.4]])


def small(words: int = 12, dimension: int = 2, seed: int = 0) -> Embedding:
    vectors = np.random.default_rng(seed).normal(size=(words, dimension)) @ (
        SPREAD if dimension == 2 else np.eye(dimension)
    )
    return Embedding([f"w{i}" for i in range(words)], vectors)


def zipf(embedding: Embedding) -> Words:
    return Words(shares=1.0 / np.arange(1, len(embedding) + 2), in_words="made-up shares")


def density(mechanism: Mechanism, points: Floats, word: int) -> Floats:
    """Return the unscaled density of the noisy point of a word, from its definition."""
    embedding = mechanism.embedding
    entering = embedding.rows(embedding.stands_in(np.array([word])))[0].astype(np.float64)
    away = points - entering
    if isinstance(mechanism, Gaussian):
        normal: Floats = np.exp(-0.5 * (mechanism.epsilon**2) * (away**2).sum(axis=1))
        return normal
    if isinstance(mechanism, Mahalanobis):
        away = np.linalg.solve(mechanism.shape, away.T).T
    radial: Floats = np.exp(-mechanism.epsilon * np.sqrt((away**2).sum(axis=1)))
    return radial


def by_grid(mechanism: Mechanism, shares: Floats, kinds: Kinds | None = None) -> float:
    """Return ∫ max_x π(x) p(z | x) dz in two dimensions."""
    reach = 14.0 / mechanism.epsilon + 6.0
    line = np.linspace(-reach, reach, 801)
    points = np.stack(np.meshgrid(line, line), axis=-1).reshape(-1, 2)
    joint = []
    for word in range(len(shares)):
        of_word = density(mechanism, points, word)
        joint.append(shares[word] * of_word / of_word.sum())
    if kinds is None:
        return float(np.max(joint, axis=0).sum())
    grouped = [
        np.sum([joint[word] for word in np.flatnonzero(kinds.of == kind)], axis=0)
        for kind in range(kinds.count)
    ]
    return float(np.max(grouped, axis=0).sum())


def bound_of(mechanism: Mechanism, words: Words, draws: int = 40_000) -> Estimate:
    found = bayes_bound(mechanism, words, draws=draws)
    assert found is not None
    assert found.low <= found.value <= found.high
    assert found.blind <= found.value
    return found


@pytest.mark.parametrize(
    ("kind", "epsilon"),
    [(Multivariate, 1.5), (Multivariate, 8.0), (Gaussian, 1.5), (Mahalanobis, 1.5), (Mahalanobis, 5.0)],
)
def test_it_is_the_integral_over_the_noisy_point(kind: Any, epsilon: float) -> None:
    mechanism = kind(small(), epsilon=epsilon)
    words = zipf(mechanism.embedding)
    found, true = bound_of(mechanism, words), by_grid(mechanism, words.shares)
    assert found.low - 0.003 < true < found.high + 0.003
    assert found.high - found.low < 0.03
    assert "single" not in found.statement
    assert "made-up shares" in found.statement


def test_wrong_densities_are_refuted_by_the_same_integral() -> None:
    embedding = small()
    words = zipf(embedding)
    for right, wrong in (
        (Gaussian(embedding, epsilon=1.5), Multivariate(embedding, epsilon=1.5)),
        (Mahalanobis(embedding, epsilon=1.5, lam=0.9), Multivariate(embedding, epsilon=1.5)),
    ):
        found = bound_of(right, words)
        assert not found.low - 0.003 < by_grid(wrong, words.shares) < found.high + 0.003


def test_in_one_dimension_no_reader_of_the_released_word_exceeds_it() -> None:
    embedding = Embedding(
        [f"w{i}" for i in range(9)], np.sort(np.random.default_rng(4).normal(size=(9, 1)), axis=0)
    )
    words, places = (
        zipf(embedding),
        np.append(embedding.vectors[:, 0], embedding.unknown[0]).astype(np.float64),
    )
    edges = np.concatenate([[-np.inf], (places[:8] + places[1:9]) / 2, [np.inf]])
    for epsilon in (0.5, 2.0, 10.0):
        apart = (edges - places[:, None]) * epsilon
        below = np.where(apart < 0, np.exp(np.minimum(apart, 0)) / 2, 1 - np.exp(-np.maximum(apart, 0)) / 2)
        by_words = float((np.diff(below, axis=1) * words.shares[:, None]).max(axis=0).sum())
        assert by_words <= bound_of(Multivariate(embedding, epsilon=epsilon), words).high


def test_many_words_in_single_precision_give_what_one_matrix_in_double_precision_gives() -> None:
    embedding = small(words=9_001, dimension=12, seed=3)
    mechanism, words = Multivariate(embedding, epsilon=6.0), zipf(embedding)
    places = np.vstack([embedding.vectors, embedding.unknown]).astype(np.float64)
    chance = np.random.default_rng(9)
    own = chance.choice(len(places), 1_500, p=words.shares)
    noise = chance.normal(size=(1_500, 12))
    noise *= (chance.gamma(12, size=1_500) / np.linalg.norm(noise, axis=1) / 6.0)[:, None]
    tops = []
    for point in places[own] + noise:
        logs = np.log(words.shares) - 6.0 * np.linalg.norm(places - point, axis=1)
        tops.append(1.0 / np.exp(logs - logs.max()).sum())
    found = bound_of(mechanism, words, draws=1_500)
    assert abs(found.value - np.mean(tops)) < 4.0 * np.std(tops) * np.sqrt(2.0 / 1_500)


def test_kinds_are_summed_before_the_best_is_taken() -> None:
    embedding = small()
    kinds = Kinds(of=np.array([0, 0, 0, 1, 1, 1, 2, 2, 2, -1, 0, 1, -1]), count=3)
    mechanism = Multivariate(embedding, epsilon=1.5)
    words = Words(shares=zipf(embedding).shares, in_words="words that have a kind", kinds=kinds)
    found, true = bound_of(mechanism, words), by_grid(mechanism, words.shares, kinds)
    assert found.low - 0.003 < true < found.high + 0.003
    assert by_grid(mechanism, words.shares) < found.low  # the likeliest word's kind alone is less
    assert found.blind == pytest.approx(
        np.bincount(kinds.of[:12][kinds.of[:12] >= 0], weights=words.shares[:12][kinds.of[:12] >= 0]).max()
    )


def test_a_group_is_judged_among_its_own_words() -> None:
    embedding = small()
    shares = np.zeros(13)
    shares[[3, 8]] = 1.0
    found = bound_of(Multivariate(embedding, epsilon=1.0), Words(shares=shares, in_words="two diagnoses"))
    assert found.blind == 0.5
    assert found.value < 1.0


def test_revealed_words_count_as_named() -> None:
    embedding = small()
    words = zipf(embedding)
    plain = bound_of(Multivariate(embedding, epsilon=0.01), words)
    shown = bound_of(
        Multivariate(embedding, epsilon=0.01),
        Words(shares=words.shares, in_words="", revealed=np.array([1, 12])),
    )
    assert shown.value >= words.shares[[1, 12]].sum() + words.shares[0] - 1e-9 > plain.value
    everything = Words(shares=words.shares, in_words="", revealed=np.arange(13))
    assert bound_of(Multivariate(embedding, epsilon=1.0), everything).value == 1.0


def test_protected_words_are_as_hard_to_name_as_their_stand_ins() -> None:
    embedding = small()
    safe = protect(embedding, np.array([0, 4]))
    words = zipf(embedding)
    mechanism = Multivariate(safe, epsilon=8.0)
    found, true = bound_of(mechanism, words), by_grid(mechanism, words.shares)
    assert found.low - 0.003 < true < found.high + 0.003


@pytest.mark.parametrize(
    "kinds", [None, Kinds(of=np.array([0, 0, 0, 1, 1, 1, 2, 2, 2, -1, 0, 1, -1]), count=3)]
)
def test_exact_sums_give_the_exact_share(kinds: Kinds | None) -> None:
    embedding = small()
    mechanism = TEM(embedding, epsilon=3.0)
    assert isinstance(mechanism, ExactSums)
    words = Words(shares=zipf(embedding).shares, in_words="made-up shares", kinds=kinds)
    joint = np.zeros((13, 12))
    for word, (outputs, chances) in enumerate(mechanism.probabilities(np.arange(13))):
        joint[word, outputs] = words.shares[word] * chances
    if kinds is not None:
        joint = np.stack([joint[kinds.of == kind].sum(axis=0) for kind in range(3)])
    found = bound_of(mechanism, words)
    assert found.value == found.low == found.high
    assert found.value == pytest.approx(joint.max(axis=0).sum())


def test_what_is_made_of_the_noisy_point_is_bounded_by_it() -> None:
    embedding = small()
    words = zipf(embedding)
    plain = bound_of(Multivariate(embedding, epsilon=2.0), words, draws=500)
    assert bound_of(RankSmoothing(Multivariate(embedding, epsilon=2.0)), words, draws=500) == plain
    assert bound_of(Vickrey(embedding, epsilon=2.0), words, draws=500) == plain
    stretched = bound_of(Mahalanobis(embedding, epsilon=2.0), words, draws=500)
    assert bound_of(Vickrey(embedding, epsilon=2.0, noise="mahalanobis"), words, draws=500) == stretched


def test_it_is_not_known_of_a_mechanism_that_draws_in_a_way_of_its_own() -> None:
    class Own(Multivariate):
        def noise(self, source: Any, epsilon: Floats) -> Floats:
            return super().noise(source, 10.0 * epsilon)

    assert bayes_bound(Own(small(), epsilon=1.0), zipf(small())) is None
    with pytest.raises(InvalidParameter, match="shares"):
        Words(shares=np.array([1.0, np.nan]), in_words="")


def test_the_largest_epsilon_meets_its_target_by_fresh_draws() -> None:
    embedding = small(words=300, dimension=6)
    words = zipf(embedding)
    for target in (0.25, 0.5):
        epsilon, found = largest_epsilon(ChosenMechanism(), embedding, words, target)
        assert found.high <= target < bound_of(Multivariate(embedding, epsilon=1.25 * epsilon), words).value
        assert bound_of(Multivariate(embedding, epsilon=epsilon), words).value < target
    with pytest.raises(TargetsNotMet, match="before anything is released"):
        largest_epsilon(ChosenMechanism(), embedding, words, 0.1)
    with pytest.raises(InvalidParameter, match="named_at_most"):
        largest_epsilon(ChosenMechanism(), embedding, words, 1.5)


def test_the_counts_that_come_with_the_package_are_those_of_running_text() -> None:
    shares = in_english(Embedding.open())
    assert shares is not None
    assert shares.sum() == pytest.approx(1.0)
    assert (shares > 0.0).all()
    assert 0.05 < shares.max() < 0.06
    assert in_english(Embedding(["Wort", "Haus"], np.eye(2))) is None
