"""A measure is brought to a target within a tolerance, or the search says that it was not."""

from __future__ import annotations

import math

import pytest

from deniable.errors import TargetsNotMet
from deniable.measures.estimate import Estimate, Measure, meet


def rising(
    middle: float, steepness: float, *, quick: float = 0.0, low: float = 0.0, high: float = 1.0
) -> Measure:
    """Return a measure that rises from low to high; turn 0 reads ``quick`` more."""

    def read(epsilon: float, turn: int) -> Estimate:
        power = min(max(-steepness * math.log(epsilon / middle), -700.0), 700.0)
        value = low + (high - low) / (1.0 + math.exp(power)) + (quick if turn == 0 else 0.0)
        return Estimate(value=value, low=value, high=value, blind=0.0)

    return read


def met(read: Measure, target: float = 0.3) -> Estimate:
    return meet(read, target, within=0.01, start=4.0, what="it")[1]


@pytest.mark.parametrize("middle", [0.05, 1.0, 12.0, 900.0])
@pytest.mark.parametrize("steepness", [0.8, 4.0, 40.0])
@pytest.mark.parametrize("quick", [0.0, 0.08, -0.08])
def test_the_value_reached_is_the_one_wanted(middle: float, steepness: float, quick: float) -> None:
    assert abs(met(rising(middle, steepness, quick=quick)).value - 0.3) <= 0.01


def test_a_jump_over_the_target_and_a_value_that_is_never_reached_are_not_met() -> None:
    for read in (rising(5.0, 1e9, low=0.1, high=0.9), rising(5.0, 4.0, low=0.5), rising(5.0, 4.0, high=0.2)):
        with pytest.raises(TargetsNotMet):
            met(read)
