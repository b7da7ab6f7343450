"""The capacity against the exact channel on a grid; wrong ways to compute it are refuted by the same
comparison."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from deniable import Embedding, Gaussian, Mahalanobis, Multivariate, Vickrey
from deniable.arrays import Floats
from deniable.calibration import Targets, calibrate
from deniable.calibration.choice import protect
from deniable.channel.draws import Draws
from deniable.embeddings.derived import leave_out
from deniable.interfaces import Mechanism
from deniable.measures.capacity import capacity, sum_of_unchanged
from deniable.measures.estimate import Estimate
from deniable.mechanisms.base import exact_sums
from deniable.mechanisms.catalogue import ChosenMechanism
from deniable.words.never_release import NeverRelease
from tests.measures.test_bayes_bound import density, small

GRID = 2e-3  # how far sums on the grid are off


def channel(mechanism: Mechanism) -> Floats:
    """Return P(y | x) for all words and ⊥ in two dimensions, on a grid."""
    embedding = mechanism.embedding
    reach = 14.0 / mechanism.epsilon + 6.0
    line = np.linspace(-reach, reach, 801)
    points = np.stack(np.meshgrid(line, line), axis=-1).reshape(-1, 2)
    nearest = ((points[:, None, :] - embedding.vectors[None]) ** 2).sum(axis=2).argmin(axis=1)
    rows = []
    for word in range(len(embedding) + 1):
        of_word = density(mechanism, points, word)
        rows.append(np.bincount(nearest, weights=of_word / of_word.sum(), minlength=len(embedding)))
    return np.array(rows)


def true_capacity(rows: Floats) -> float:
    return float(rows.max(axis=0).sum())


def summed(mechanism: Mechanism, rows: Floats, **options: Any) -> Estimate | None:
    words = np.arange(len(mechanism.embedding))
    return sum_of_unchanged(mechanism, words, np.diag(rows), 0.0, at_random=False, **options)


def by_points(mechanism: Mechanism, **options: Any) -> Estimate:
    found = capacity(mechanism, draws=30_000, **options)
    assert found is not None
    assert found.low <= found.value <= found.high
    return found


@pytest.mark.parametrize(("kind", "epsilon"), [(Multivariate, 1.0), (Multivariate, 4.0), (Gaussian, 1.5)])
def test_the_sum_of_unchanged_shares_is_the_capacity_of_known_words(kind: Any, epsilon: float) -> None:
    mechanism = kind(small(), epsilon=epsilon)
    rows = channel(mechanism)
    known = summed(mechanism, rows, unknown="error")
    assert known is not None
    assert known.value == pytest.approx(true_capacity(rows[:-1]), abs=GRID)
    whole = summed(mechanism, rows)
    assert whole is not None
    assert true_capacity(rows) <= whole.value + GRID
    without, everything = by_points(mechanism, unknown="error"), by_points(mechanism)
    assert without.low - GRID <= true_capacity(rows[:-1]) <= without.high + GRID
    assert true_capacity(rows) <= everything.high + GRID
    if epsilon > 1.0:
        return
    # The median times the size, which a page might quote, is no bound.
    assert np.median(np.diag(rows)) * 12 < true_capacity(rows[:-1]) - 0.1


def test_stretched_noise_needs_its_own_metric() -> None:
    mechanism = Mahalanobis(small(seed=3), epsilon=1.5, lam=0.95)
    rows = channel(mechanism)
    assert np.trace(rows) < true_capacity(rows[:-1]) - GRID  # the sum of N_w undershoots
    assert summed(mechanism, rows) is None
    assert true_capacity(rows) <= by_points(mechanism).high + GRID
    assert by_points(Vickrey(small(seed=3), epsilon=1.5, noise="mahalanobis", lam=0.95)) == by_points(
        mechanism
    )


def test_protected_words_come_out_less_often_than_the_capacity_counts() -> None:
    safe = protect(small(seed=1), np.array([0, 5, 7]), by="unknown")
    mechanism = Multivariate(safe, epsilon=3.0)
    rows = channel(mechanism)
    assert np.trace(rows) < true_capacity(rows[:-1]) - 10 * GRID
    assert summed(mechanism, rows) is None
    assert true_capacity(rows) <= by_points(mechanism).high + GRID


def test_words_with_one_vector_count_once() -> None:
    vectors = small().vectors.copy()
    vectors[[3, 9]] = vectors[1]
    mechanism = Multivariate(Embedding([f"w{i}" for i in range(12)], vectors), epsilon=2.0)
    rows = channel(mechanism)
    stays = np.diag(rows).copy()
    stays[[3, 9]] = rows[1, 1]  # as calibrations count them
    found = sum_of_unchanged(mechanism, np.arange(12), stays, 0.0, at_random=False, unknown="error")
    assert found is not None
    assert found.value == pytest.approx(true_capacity(rows[:-1]), abs=GRID)
    assert stays.sum() > found.value + 0.1
    points = by_points(mechanism, unknown="error")
    assert points.low - GRID <= true_capacity(rows[:-1]) <= points.high + GRID


@pytest.mark.parametrize("unknown", ["perturb", "redact", "drop", "error"])
def test_policies_around_the_mechanism_count(unknown: str) -> None:
    mechanism, kept = Multivariate(small(), epsilon=1.0), np.array([2, 4])
    rows = channel(mechanism)
    released = np.zeros((13, 13))
    released[:, :12] = rows
    released[kept] = np.eye(13)[kept]
    if unknown in ("redact", "drop"):
        released[12] = np.eye(13)[12]
    inputs = released[:12] if unknown == "error" else released
    found = summed(mechanism, rows, unknown=unknown, kept=kept)
    assert found is not None
    assert true_capacity(inputs) <= found.value + GRID
    assert true_capacity(inputs) <= by_points(mechanism, unknown=unknown, kept=kept).high + GRID
    plain = summed(mechanism, rows, unknown=unknown)
    assert plain is not None
    assert plain.value < found.value - 0.5
    if unknown != "perturb":
        assert plain.value < true_capacity(inputs)  # kept words must not be forgotten
    assert capacity(mechanism, unknown="subwords") is None


def test_an_unknown_word_far_from_all_others_is_counted() -> None:
    mechanism = Multivariate(
        Embedding(small().words, small().vectors, unknown=5.0 * small().vectors[0]), epsilon=1.0
    )
    rows = channel(mechanism)
    known, whole = summed(mechanism, rows, unknown="error"), summed(mechanism, rows)
    assert known is not None
    assert whole is not None
    assert known.value < true_capacity(rows) - 10 * GRID  # Σ N_w alone undershoots
    assert true_capacity(rows) <= min(whole.value, by_points(mechanism).high) + GRID


def test_words_that_are_never_released_go_in_as_the_unknown_word() -> None:
    whole = small()
    held_back = leave_out(whole, NeverRelease.of(["w2", "w7"]))
    mechanism = Multivariate(held_back, epsilon=2.0)
    rows = channel(mechanism)
    found = summed(mechanism, rows)
    assert found is not None
    assert true_capacity(rows) <= min(found.value, by_points(mechanism).high) + GRID
    # The sum over the whole vocabulary is that of another release.
    others = channel(Multivariate(whole, epsilon=2.0))
    assert abs(np.trace(others) - true_capacity(rows)) > 10 * GRID


EXACT: list[tuple[str, dict[str, Any]]] = [
    ("tem", {}),
    ("santext", {}),
    ("santext-plus", {"sensitive": ["w1", "w5"]}),
    ("custext", {"k": 4}),
    ("line", {}),
    ("randomized-response", {}),
]


def rows_of(name: str, options: dict[str, Any], embedding: Embedding, epsilon: float) -> tuple[Any, Floats]:
    mechanism = ChosenMechanism(name=name, options=options)(embedding, epsilon=epsilon)
    sums = exact_sums(mechanism)
    assert sums is not None
    rows = np.zeros((13, 12))
    for word, (outputs, chances) in enumerate(sums.distributions(np.arange(13), np.array([epsilon]))):
        rows[word, outputs] = chances[0]
    return mechanism, rows


@pytest.mark.parametrize(("name", "options"), EXACT)
@pytest.mark.parametrize("seed", [0, 1])
def test_exact_sums_give_the_exact_capacity_of_all_rows(
    name: str, options: dict[str, Any], seed: int
) -> None:
    vectors = small(seed=seed).vectors.copy()
    vectors[[3, 9]] = vectors[1]  # words that share a vector
    mechanism, rows = rows_of(name, options, Embedding([f"w{i}" for i in range(12)], vectors), 2.0)
    found = capacity(mechanism)
    assert found is not None
    assert found.value == found.high == pytest.approx(true_capacity(rows))
    assert summed(mechanism, rows) is None  # never from N_w, though the two often agree


def test_the_sum_of_unchanged_shares_undershoots_where_another_word_is_likelier() -> None:
    vectors = np.random.default_rng(1).normal(size=(12, 2))
    vectors[[3, 9]] = vectors[1]
    embedding = Embedding([f"w{i}" for i in range(12)], vectors)
    mechanism, rows = rows_of("custext", {"k": 4}, embedding, 3.0)
    found = capacity(mechanism)
    assert found is not None
    assert np.trace(rows[:12]) < found.value - 0.01


@pytest.mark.parametrize("kind", ["vickrey", "rank-smoothing"])
def test_what_is_made_of_the_noisy_point_has_no_more_than_the_noise(kind: str) -> None:
    plain = Multivariate(small(), epsilon=2.0)
    made = ChosenMechanism(name=kind)(small(), epsilon=2.0)
    assert by_points(made) == by_points(plain)
    draws = 20_000
    drawn = Draws(made, seed=3).of_each(np.repeat(np.arange(13), draws)).reshape(13, draws)
    rows = np.array([np.bincount(each, minlength=12) / draws for each in drawn])
    assert np.trace(rows[:12]) < true_capacity(rows) - 0.02 < by_points(made).high
    assert summed(made, rows) is None  # its own Σ N_w undershoots


def test_the_capacity_rises_with_epsilon_and_budgets_count_at_the_largest() -> None:
    found = [by_points(Multivariate(small(), epsilon=epsilon)).value for epsilon in (0.5, 1.0, 2.0, 4.0)]
    assert found == sorted(found)
    # Records of one and of eight words, with a budget of 2 each: the capacity at the budget of the median
    # record would not hold for the other.
    assert true_capacity(channel(Multivariate(small(), epsilon=2.0))) > 1.5 * found[0]


def test_a_sample_is_scaled_up_with_the_error_of_the_mean() -> None:
    mechanism = Multivariate(small(words=400), epsilon=5.0)
    stays = np.random.default_rng(0).uniform(0.1, 0.3, 400)
    ids = np.random.default_rng(1).choice(400, 50, replace=False)
    whole = sum_of_unchanged(mechanism, np.arange(400), stays, 0.001, at_random=False)
    some = sum_of_unchanged(mechanism, ids, stays[ids], 0.001, at_random=True)
    assert whole is not None
    assert some is not None
    assert whole.high - whole.value == pytest.approx(
        400 * 1.645 * 0.001, rel=1e-3
    )  # of the sum: not a root of summed squares
    assert some.high > whole.value > some.low
    assert some.high - some.value > whole.high - whole.value
    assert sum_of_unchanged(mechanism, ids, stays[ids], 0.001, at_random=False) is None


def test_a_calibration_knows_the_capacity_and_meets_a_target_on_it() -> None:
    result = calibrate(small(words=150, dimension=4), targets=Targets(max_capacity=12.0), draws=60)
    row = result.to_dict()["table"][0]
    assert result.choice is not None
    assert result.choice.meets_targets
    assert row["capacity"]["value"] <= row["capacity"]["at_most"] <= 12.0
    assert result.to_dict()["targets"]["max_capacity"] == 12.0
    larger = calibrate(
        small(words=150, dimension=4),
        targets=Targets(max_capacity=12.0),
        epsilons=[1.1 * result.choice.epsilon],
        draws=60,
    )
    assert larger.choice is not None
    assert not larger.choice.meets_targets
    # Against the noisy points, which know nothing of rays.
    points = by_points(Multivariate(small(words=150, dimension=4), epsilon=result.choice.epsilon))
    assert points.low <= row["capacity"]["at_most"]
    assert row["capacity"]["value"] <= points.high + 1.0


@pytest.mark.parametrize("name", ["vickrey", "tem", "mahalanobis"])
def test_the_capacity_of_other_mechanisms_is_known_in_a_calibration(name: str) -> None:
    result = calibrate(
        small(words=30, dimension=3), mechanism=ChosenMechanism(name=name), epsilons=[2.0], draws=20
    )
    assert result.table[0].capacity is not None
    assert result.table[0].capacity.high <= 31.0


@pytest.mark.parametrize("kind", [Multivariate, Gaussian])
def test_no_reader_in_context_gains_more_than_the_capacity(kind: Any) -> None:
    mechanism = kind(small(), epsilon=1.5)
    rows, words = channel(mechanism)[:-1], len(mechanism.embedding)
    factor, smaller = capacity(mechanism), capacity(kind(small(), epsilon=0.05))
    assert factor is not None
    assert smaller is not None
    gains, chance = [], np.random.default_rng(8)
    for spread in np.repeat([0.01, 0.1, 1.0, 100.0], 10):
        # Two words that follow each other in some language. The first is asked for, by the best reader.
        together = chance.dirichlet(np.full(words**2, spread)).reshape(words, words)
        both = np.einsum("ab,ay,bz->ayz", together, rows, rows).max(axis=0).sum()
        masked = (together @ rows).max(axis=0).sum()  # the same reader, who is not shown the first word
        assert both <= min(1.0, factor.high * masked) + GRID
        gains.append(float(both / masked))
    assert max(gains) > smaller.high  # the capacity of another release is refuted by the same readers
