from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from deniable.arrays import Ids
from deniable.audit.bound import search_and_judge
from deniable.audit.shares import lower, upper


@pytest.mark.parametrize(("hits", "draws"), [(0, 10), (3, 10), (10, 10), (250, 100_000)])
def test_bounds_are_those_of_clopper_and_pearson(hits: int, draws: int) -> None:
    exact = stats.binomtest(hits, draws).proportion_ci(0.98, method="exact")
    assert lower(hits, draws, 0.01) == pytest.approx(exact.low)
    assert upper(hits, draws, 0.01) == pytest.approx(exact.high)


def coin(probabilities: dict[int, float]) -> tuple[object, np.random.Generator]:
    rng = np.random.default_rng(0)

    def draw(word: int, draws: int) -> Ids:
        return (rng.random(draws) < probabilities[word]).astype(np.int64)

    return draw, rng


def judged(ratio: float, promised: float, *, draws: int = 40_000) -> bool:
    draw, _ = coin({0: 0.2 * ratio, 1: 0.2})
    findings = search_and_judge(draw, [0, 1], lambda _a, _b: promised, draws=draws, level=1e-4, pairs=2)  # type: ignore[arg-type]
    return any(finding.refuted for finding in findings)


def test_a_ratio_above_the_promise_is_shown_and_one_below_is_not() -> None:
    assert judged(2.0, math.log(1.5))
    assert not judged(2.0, math.log(2.0))
    assert not judged(2.0, math.log(2.5))


def test_a_mechanism_that_reaches_its_promise_is_not_refuted_in_many_runs() -> None:
    assert not any(judged(1.5, math.log(1.5), draws=4_000) for _ in range(20))


def test_a_pair_without_a_promise_is_not_judged() -> None:
    draw, _ = coin({0: 0.9, 1: 0.1})
    assert search_and_judge(draw, [0, 1], lambda _a, _b: math.inf, draws=100, level=1e-4, pairs=2) == []  # type: ignore[arg-type]


def test_the_order_of_a_pair_matters() -> None:
    # 1 is never released for 0 but sometimes for 1: only Pr[M(1) = 1] / Pr[M(0) = 1] is large.
    draw, _ = coin({0: 0.0, 1: 0.2})
    findings = search_and_judge(draw, [0, 1], lambda _a, _b: 1.0, draws=20_000, level=1e-4, pairs=2)  # type: ignore[arg-type]
    assert [(finding.first, finding.refuted) for finding in findings] == [(1, True), (0, False)]
