"""Distinct words without walks: the same counts and the same ε as whole walks give."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest

from deniable import Embedding
from deniable.calibration.by_rays import RayCalibration, measure_by_rays
from deniable.calibration.choice import choose, count_distinct, evaluate
from deniable.calibration.distinct import DistinctWords
from deniable.calibration.protection import protect
from deniable.calibration.result import Targets
from deniable.channel.rays.rays import RadialRays
from deniable.errors import TargetsNotMet
from deniable.mechanisms.catalogue import ChosenMechanism
from tests.calibration.walked import choose_by_walks, count_by_walks
from tests.channel.rays.test_rays import KINDS, hostile
from tests.support.strategies import random_embedding

MECHANISMS = ("multivariate", "mahalanobis", "gaussian")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DENIABLE_HOME", str(tmp_path))


def clustered(words: int, dimension: int, seed: int = 1) -> Embedding:
    """Return words in clusters of different widths, as real ones lie."""
    random = np.random.default_rng(seed)
    centres = random.standard_normal((words // 20, dimension))
    apart = random.gamma(1.0, 0.3, (words, 1)) * random.standard_normal((words, dimension))
    vectors = centres[random.integers(0, len(centres), words)] + apart
    return Embedding([f"w{i}" for i in range(words)], vectors)


def both(
    embedding: Embedding, mechanism: str = "multivariate", *, rays: int = 200
) -> tuple[RayCalibration, RayCalibration]:
    """Return a calibration of first breakpoints alone, and one that walked all words."""
    chosen = ChosenMechanism(name=mechanism)
    quick = measure_by_rays(embedding, mechanism=chosen, rays=rays, keep=False)
    return quick, measure_by_rays(embedding, mechanism=chosen, rays=rays, support=True, keep=False)


def assert_same_choice(quick: RayCalibration, walked: RayCalibration, targets: Targets) -> None:
    expected = choose_by_walks(walked, targets)
    if expected is None:
        with pytest.raises(TargetsNotMet):
            choose(quick, targets)
        return
    for calibration in (quick, walked):
        found = choose(calibration, targets)
        assert found.epsilon == expected.epsilon
        assert found.distinct is not None
        assert expected.distinct is not None
        assert np.array_equal(found.distinct, expected.distinct)
        assert np.array_equal(found.unchanged, expected.unchanged)
        assert np.array_equal(found.failing, expected.failing)


@pytest.mark.parametrize("kind", KINDS)
def test_counts_are_those_of_whole_walks(kind: str) -> None:
    quick, walked = both(hostile(kind), rays=60)
    counter = DistinctWords(RadialRays(quick.embedding, quick.noise, rays=60), quick.ids, quick.radii)
    rows = np.arange(len(quick.ids))
    assert walked.distinct is not None
    for column, epsilon in enumerate(walked.epsilons.tolist()):
        assert np.array_equal(counter.at(rows, epsilon), walked.distinct[:, column])
    counts = counter.at_all(rows[::3], walked.epsilons)
    assert np.array_equal(counts.at, walked.distinct[::3])
    for column, (low, high) in enumerate(zip(walked.epsilons[:-1], walked.epsilons[1:], strict=True)):
        for between in np.geomspace(low, high, 4).tolist():
            exact = counter.at(rows[::3], between)
            assert (counts.least[:, column] <= exact).all()
            assert (exact <= counts.most[:, column]).all()
            assert (exact <= 1 + counter.moved(rows[::3], between)).all()


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_the_choice_is_that_of_whole_walks(mechanism: str) -> None:
    quick, walked = both(clustered(100, 6), mechanism, rays=100)
    assert walked.distinct is not None
    for quantile, (column, most) in product((1.0, 0.95, 0.5), ((3, 0.5), (8, None))):
        least = int(np.quantile(walked.distinct[:, column], 1.0 - quantile))
        assert_same_choice(
            quick, walked, Targets(min_distinct=max(least, 1), max_unchanged=most, quantile=quantile)
        )


@pytest.mark.slow
def test_the_choice_for_many_words_is_that_of_whole_walks() -> None:
    quick, walked = both(clustered(1500, 20), rays=300)
    assert walked.distinct is not None
    for column, most in ((3, 0.5), (6, None), (6, 0.4)):
        least = int(np.quantile(walked.distinct[:, column], 0.05))
        assert_same_choice(quick, walked, Targets(min_distinct=least, max_unchanged=most, quantile=0.95))


def test_targets_out_of_reach_are_refused_as_with_whole_walks() -> None:
    quick, walked = both(random_embedding(120, 4), rays=130)
    assert_same_choice(quick, walked, Targets(min_distinct=119))


@pytest.mark.parametrize("by", ["nearest", "unknown"])
def test_the_choice_with_protected_words_is_that_of_whole_walks(by: str) -> None:
    embedding = clustered(120, 5)
    quick, walked = both(protect(embedding, np.arange(0, 120, 9), by=by, name="safe"), rays=100)  # type: ignore[arg-type]
    assert walked.distinct is not None
    least = int(np.quantile(walked.distinct[:, 5], 0.1))
    assert_same_choice(quick, walked, Targets(min_distinct=least, max_unchanged=0.8, quantile=0.9))


def test_a_given_epsilon_is_counted_when_a_target_asks_for_it() -> None:
    quick, _ = both(random_embedding(90, 5))
    targets = Targets(min_distinct=20, max_unchanged=0.7)
    found = evaluate(quick, 3.21, targets)
    assert found.distinct is not None
    assert np.array_equal(found.distinct, count_by_walks(quick, 3.21))
    assert np.array_equal(found.distinct, count_distinct(quick, 3.21))
    assert evaluate(quick, 3.21, Targets(max_unchanged=0.7)).distinct is None


def test_words_that_were_listed_are_counted_as_among_all() -> None:
    embedding = clustered(200, 6)
    every = measure_by_rays(embedding, rays=80, keep=False)
    some = measure_by_rays(embedding, rays=80, ids=np.array([5, 17, 3, 150]), keep=False)
    whole = np.empty(200, dtype=np.int64)
    whole[every.ids] = count_distinct(every, 4.0)
    assert np.array_equal(count_distinct(some, 4.0), whole[some.ids])


def test_without_room_for_the_last_words_the_counts_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    quick, _ = both(random_embedding(90, 5), rays=50)
    expected = choose(quick, Targets(min_distinct=15, quantile=0.9))

    def full(*_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.posix_fallocate", full)
    found = choose(quick, Targets(min_distinct=15, quantile=0.9))
    assert expected.distinct is not None
    assert found.distinct is not None
    assert found.epsilon == expected.epsilon
    assert np.array_equal(found.distinct, expected.distinct)


def test_every_pass_is_reported() -> None:
    quick, _ = both(random_embedding(90, 5), rays=50)
    told: list[tuple[int, int]] = []
    choose(
        quick, Targets(min_distinct=15, quantile=0.9), report=lambda done, total: told.append((done, total))
    )
    assert (0, 90) in told
    assert (90, 90) in told
