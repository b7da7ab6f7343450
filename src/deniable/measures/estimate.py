"""What every measure returns, and the search for the largest ε at which one meets a target."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any, Self

from deniable.arrays import Floats
from deniable.errors import TargetsNotMet

ALPHA = 0.05
"""An end of an estimate is wrong with at most this probability."""

_LIKELY = 1.645
"""Standard errors to an end that is wrong with a probability of 5 %."""

_NARROW, _WIDE = 1.005, 1.02
_TURNS, _STEP_DOWN, _NEAR, _STRIDE = 12, 0.98, 0.98, 0.02
_DOUBLINGS = 60


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A number with its ends, each of which holds with 95 % confidence by itself, and what it is without any
    release. ``statement`` says of which words, which frequencies and which reader it speaks."""

    value: float
    low: float
    high: float
    blind: float
    statement: str = ""

    @classmethod
    def of_share(cls, value: float, error: float, *, blind: float, statement: str) -> Self:
        """Return a share with the ends that follow from its standard error."""
        low, high = max(0.0, value - _LIKELY * error), min(1.0, value + _LIKELY * error)
        return cls(value=value, low=low, high=high, blind=blind, statement=statement)

    @property
    def error(self) -> float:
        """The standard error of a share."""
        return max(self.value - self.low, self.high - self.value) / _LIKELY

    def to_dict(self) -> dict[str, Any]:
        """Return the number as JSON-ready data."""
        return asdict(self)

    def _repr_html_(self) -> str:
        """Return the number with its ends as HTML, for notebooks."""
        from deniable.report.notebook import table_html

        numbers = [f"{number:.4g}" for number in (self.value, self.low, self.high, self.blind)]
        columns = ["value", "at least", "at most", "without the release"]
        return table_html(columns, [numbers], caption=self.statement)


Measure = Callable[[float, int], Estimate]
"""A number that grows with ε, at an ε and a turn. Turn 0 may take few draws, always the same ones; every
other turn takes fresh ones."""


def solve(measure: Measure, at_most: float, *, start: float, what: str) -> tuple[float, Estimate]:
    """Return the largest ε found, of three digits, at which the upper end of a measure is at most
    ``at_most``, and the measure there.

    The search asks for turn 0. The value found is measured by fresh draws, and once more where the search
    missed the target by what the two differ by; as long as it fails, a smaller one is tried. ``start`` is
    where the search begins, and ``what`` names the number in errors.

    :raises TargetsNotMet: if the number exceeds the target at any ε.
    """
    quick = lru_cache(maxsize=None)(lambda epsilon: measure(epsilon, 0))
    if quick(start).blind >= at_most:
        raise TargetsNotMet(
            f"{what} is {quick(start).blind:.3g} before anything is released, and the target {at_most:g}: "
            "ask for more"
        )
    epsilon, beyond = start, 0.0
    for turn in range(1, _TURNS + 1):
        found = _largest(lambda tried: quick(tried).value, at_most - beyond, epsilon)
        epsilon = found if turn <= 2 else min(found, round_down(epsilon * _STEP_DOWN))
        checked = measure(epsilon, turn)
        if checked.high <= at_most and (turn > 1 or checked.high >= _NEAR * at_most):
            return epsilon, checked
        beyond = checked.high - quick(epsilon).value
    raise TargetsNotMet(
        f"no ε was found at which {what} is at most {at_most:g} with enough confidence: ask for more"
    )


def meet(
    measure: Measure, target: float, *, within: float, start: float, what: str
) -> tuple[float, Estimate]:
    """Return an ε at which a measure is the target within a tolerance, and the measure there.

    :raises TargetsNotMet: if no such ε was found.
    """
    quick = lru_cache(maxsize=None)(lambda epsilon: measure(epsilon, 0).value)
    epsilon = _largest(quick, target, start, narrow=_WIDE)
    below: tuple[float, float] | None = None
    above: tuple[float, float] | None = None
    nearest = math.inf
    for step in range(_TURNS):
        checked = measure(epsilon, 1)
        if abs(checked.value - target) <= within:
            return epsilon, checked
        nearest = min(nearest, checked.value, key=lambda value: abs(value - target))
        if checked.value < target:
            below = epsilon, checked.value
        else:
            above = epsilon, checked.value
        if below is None or above is None:
            epsilon *= (1.0 + _STRIDE * 2**step) ** (1.0 if above is None else -1.0)
        else:
            # Halfway from the middle to where a straight line would cross: fast on a smooth curve, safe on a
            # steep one.
            share = 0.5 * (target - below[1]) / (above[1] - below[1]) + 0.25
            epsilon = below[0] * (above[0] / below[0]) ** share
    raise TargetsNotMet(f"{what} was not met at {target:g}; the closest value was {nearest:.3f}")


def _largest(
    value: Callable[[float], float], at_most: float, start: float, *, narrow: float = _NARROW
) -> float:
    """Return the largest ε of three digits at which a growing function stays within a target, by halving and
    false position in turn."""
    low = high = round_down(start)
    for _ in range(_DOUBLINGS):
        if value(low) <= at_most:
            break
        low, high = round_down(low / 2.0), low
    else:
        raise TargetsNotMet(f"no ε from {low:.3g} up meets the target: ask for more")
    for _ in range(_DOUBLINGS if low == high else 0):
        high = round_down(2.0 * low)
        if value(high) > at_most:
            break
        low = high
    halve = False
    while high / low > narrow:
        below, above = at_most - value(low), value(high) - at_most
        share = 0.5 if halve or not math.isfinite(above) else min(max(below / (below + above), 0.1), 0.9)
        tried = round_down(low * (high / low) ** share)
        if tried <= low or tried >= high:
            break
        halve = not halve
        low, high = (tried, high) if value(tried) <= at_most else (low, tried)
    return low


def halve(low: float, high: float, meets: Callable[[float], bool], *, narrow: float) -> float:
    """Return about the largest ε that meets a target which every smaller one meets."""
    while high / low > narrow:
        tried = math.sqrt(low * high)
        low, high = (tried, high) if meets(tried) else (low, tried)
    return low


def round_down(epsilon: float, digits: int = 3) -> float:
    """Return the largest number of this many digits that is not above ε."""
    unit = 10.0 ** (math.floor(math.log10(epsilon)) - digits + 1)
    cut = float(f"{math.floor(epsilon / unit) * unit:.{digits}g}")
    return cut if cut <= epsilon else float(f"{cut - unit:.{digits}g}")


def ends_of_mean(values: Floats, *, alpha: float = ALPHA) -> tuple[float, float]:
    """Return ends of the mean of independent numbers from 0 to 1, each wrong with probability α at most,
    whatever their distribution (Maurer and Pontil 2009, theorem 4)."""
    count, mean = len(values), float(values.mean())
    if count < 2:
        return 0.0, 1.0
    log = math.log(2.0 / alpha)
    reach = math.sqrt(2.0 * float(values.var(ddof=1)) * log / count) + 7.0 * log / (3.0 * (count - 1))
    return max(0.0, mean - reach), min(1.0, mean + reach)
