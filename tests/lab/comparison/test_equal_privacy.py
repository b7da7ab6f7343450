from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from deniable.lab.comparison.matching import LEAST, MOST, TOLERANCE, Matcher, Target
from deniable.lab.comparison.readings import PrivacyReadings
from deniable.lab.comparison.results import pareto_front

WANTED = Target(reading="average", value=0.3)


def reading(epsilon: float, value: float) -> PrivacyReadings:
    return PrivacyReadings(epsilon=epsilon, average=value, worst=value, adversary=value, errors={})


def rising(
    middle: float, steepness: float, *, shift: float = 0.0, low: float = 0.0, high: float = 1.0
) -> Callable[[float], PrivacyReadings]:
    def read(epsilon: float) -> PrivacyReadings:
        share = 1.0 / (
            1.0 + math.exp(min(max(-steepness * (math.log(epsilon) - math.log(middle)), -700.0), 700.0))
        )
        return reading(epsilon, min(low + (high - low) * share + shift, 1.0))

    return read


@pytest.mark.parametrize("middle", [0.05, 1.0, 12.0, 900.0])
@pytest.mark.parametrize("steepness", [0.8, 4.0, 40.0])
def test_the_reading_reached_is_the_one_wanted(middle: float, steepness: float) -> None:
    found = Matcher(rising(middle, steepness), rising(middle, steepness)).match(WANTED)
    assert found.reached is not None
    assert abs(found.reached.average - 0.3) <= TOLERANCE["average"]


def test_a_quick_reading_that_is_off_is_corrected_by_the_thorough_one() -> None:
    found = Matcher(rising(5.0, 4.0, shift=0.08), rising(5.0, 4.0)).match(WANTED)
    assert found.reached is not None
    assert abs(found.reached.average - 0.3) <= TOLERANCE["average"]


@pytest.mark.parametrize(
    ("low", "high", "words"), [(0.5, 1.0, "never below 0.50"), (0.0, 0.2, "never above 0.20")]
)
def test_what_cannot_be_reached_is_said(low: float, high: float, words: str) -> None:
    read = rising(5.0, 4.0, low=low, high=high)
    found = Matcher(read, read).match(WANTED)
    assert found.reached is None
    assert words in found.problem


def test_a_jump_over_the_target_is_not_called_a_match() -> None:
    read = rising(5.0, 1e9, low=0.1, high=0.9)
    found = Matcher(read, read).match(WANTED)
    assert found.reached is None
    assert "the closest reading was" in found.problem


def test_nothing_is_read_outside_the_limits_or_twice() -> None:
    met: list[float] = []
    plain = rising(5.0, 4.0)

    def read(epsilon: float) -> PrivacyReadings:
        met.append(epsilon)
        return plain(epsilon)

    matcher = Matcher(read, plain)
    matcher.match(WANTED)
    matcher.match(Target(reading="adversary", value=0.999999))
    assert len(met) == len(set(met))
    assert LEAST <= min(met) <= max(met) <= MOST


def test_the_front_holds_what_nothing_beats() -> None:
    # (risk, utility): b beats c (same risk, more utility) and e (less risk, more utility); a and d are
    # extremes; b and f are equal.
    points = [(0.1, 0.5), (0.3, 0.7), (0.3, 0.6), (0.9, 0.8), (0.5, 0.65), (0.3, 0.7)]
    assert pareto_front(points) == [0, 1, 5, 3]
    assert pareto_front([]) == []
