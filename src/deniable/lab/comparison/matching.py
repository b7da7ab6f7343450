"""The ε at which a mechanism has a wanted reading.

Every reading grows with ε. A quick reading, always from the same draws, is searched by bisection in ln ε.
From the ε found the search goes on with thorough readings, from other draws, until one is within the
tolerance. What was reached stands beside what was wanted, always.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from deniable.lab.comparison.readings import Name

LEAST, MOST = 1e-6, 1e4
"""Where ε is looked for: far down, because ε may be a rate per place of a list of words. Beyond these nothing
changes any more."""

TOLERANCE: Mapping[Name, float] = {
    "average": 0.01,
    "worst": 0.03,
    "adversary": 0.015,
    "named": 0.005,
    "context": 0.01,
    "kinds": 0.01,
}
"""How far what is reached may lie from what is wanted: about two standard errors of a thorough reading."""

_START, _STRIDE = 4.0, 4.0
_THOROUGH_READINGS = 12
_NUDGE = 0.01
_STEPS = 24


class Valued(Protocol):
    """What was read at one ε."""

    @property
    def epsilon(self) -> float:
        """The ε."""
        ...

    def value(self, name: Name) -> float:
        """Return one of the readings."""
        ...


R = TypeVar("R", bound=Valued)


@dataclass(frozen=True, kw_only=True)
class Target:
    """A reading that all mechanisms are to have."""

    reading: Name
    value: float


@dataclass(frozen=True, kw_only=True)
class Match(Generic[R]):
    """Where a mechanism meets a target: the thorough reading there, or in words why it cannot."""

    target: Target
    reached: R | None
    problem: str = ""


class Matcher(Generic[R]):
    """Finds ε for one mechanism. Readings are functions of ε, expected to remember what they computed."""

    def __init__(
        self,
        quick: Callable[[float], Valued],
        thorough: Callable[[float], R],
        *,
        tolerance: Mapping[Name, float] = TOLERANCE,
        nudge: float = _NUDGE,
    ) -> None:
        """Take readings; ``nudge`` is how far ε first moves where a thorough reading is off."""
        self._quick, self._thorough, self._tolerance, self._nudge = quick, thorough, tolerance, nudge
        self._met: dict[float, Valued] = {}

    def match(self, target: Target) -> Match[R]:
        """Return the ε whose thorough reading is the target's within the tolerance, or why there is none."""
        epsilon = self._search(target.reading, target.value)
        if epsilon is None:
            return Match(target=target, reached=None, problem=self._out_of_reach(target))
        below: tuple[float, float] | None = None
        above: tuple[float, float] | None = None
        missed = []
        for step in range(_THOROUGH_READINGS):
            found = self._thorough(epsilon)
            value = found.value(target.reading)
            if abs(value - target.value) <= self._tolerance[target.reading]:
                return Match(target=target, reached=found)
            missed.append(value)
            if value < target.value:
                below = (epsilon, value)
            else:
                above = (epsilon, value)
            if below is not None and above is not None:
                epsilon = _between(below, above, target.value)
            else:
                epsilon *= (1.0 + self._nudge * 2**step) ** (1.0 if value < target.value else -1.0)
        nearest = min(missed, key=lambda value: abs(value - target.value))
        return Match(
            target=target,
            reached=None,
            problem=f"not met within the tolerance; the closest reading was {nearest:.3f}",
        )

    def _search(self, name: Name, aim: float) -> float | None:
        """Return where the quick reading is the aim within half the tolerance; None if it never is."""
        low, high = self._bracket(name, aim)
        if low is None or high is None:
            return None
        for _ in range(_STEPS):
            below, above = self._read(low).value(name), self._read(high).value(name)
            for end, value in ((low, below), (high, above)):
                if abs(value - aim) <= self._tolerance[name] / 2:
                    return end
            if high / low < 1.0 + 1e-3:
                break
            middle = _between((low, below), (high, above), aim)
            if self._read(middle).value(name) < aim:
                low = middle
            else:
                high = middle
        return low

    def _bracket(self, name: Name, aim: float) -> tuple[float | None, float | None]:
        """Return the closest known ε with a reading below the aim, and with one at or above it."""
        if not self._met:
            self._read(_START)
        while all(found.value(name) < aim for found in self._met.values()) and max(self._met) < MOST:
            self._read(min(max(self._met) * _STRIDE, MOST))
        while all(found.value(name) >= aim for found in self._met.values()) and min(self._met) > LEAST:
            self._read(max(min(self._met) / _STRIDE, LEAST))
        above = [e for e, found in self._met.items() if found.value(name) >= aim]
        high = min(above) if above else None
        below = [
            e for e, found in self._met.items() if found.value(name) < aim and (high is None or e < high)
        ]
        return (max(below) if below else None), high

    def _read(self, epsilon: float) -> Valued:
        if epsilon not in self._met:
            self._met[epsilon] = self._quick(epsilon)
        return self._met[epsilon]

    def _out_of_reach(self, target: Target) -> str:
        values = [found.value(target.reading) for found in self._met.values()]
        if min(values) >= target.value:
            return f"never below {min(values):.2f}, however small ε is; ask for more"
        return f"never above {max(values):.2f}, however large ε is; ask for less"


def _between(low: tuple[float, float], high: tuple[float, float], aim: float) -> float:
    """Return an ε between two, given with their readings."""
    # Halfway from the middle to where a straight line would cross: fast on a smooth curve, safe on a steep
    # one.
    rise = high[1] - low[1]
    share = min(max((aim - low[1]) / rise, 0.0), 1.0) if rise > 0.0 else 0.5
    return math.exp(math.log(low[0]) + (0.5 * share + 0.25) * math.log(high[0] / low[0]))
