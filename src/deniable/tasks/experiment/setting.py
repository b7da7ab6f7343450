"""What is measured: where text is perturbed, at which ε, and in which run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Place = Literal["nowhere", "train", "test"]


@dataclass(frozen=True, kw_only=True)
class Setting:
    """One training or one evaluation. ``run`` counts from 1; it numbers the noise and seeds the model, never the noise."""

    at: Place
    epsilon: float | None
    run: int

    @property
    def name(self) -> str:
        """The name of its result."""
        if self.epsilon is None:
            return f"unperturbed-run{self.run}"
        return f"{self.at}-{repr(float(self.epsilon)).removesuffix('.0')}-run{self.run}"  # all digits: no two ε share a name


def settings_of(epsilons: Sequence[float], places: Sequence[Place], runs: int) -> list[Setting]:
    """Return all settings, run by run, so that an interrupted experiment has whole curves of few runs, not parts of many."""
    found = []
    for run in range(1, runs + 1):
        found.append(Setting(at="nowhere", epsilon=None, run=run))
        found += [Setting(at=place, epsilon=epsilon, run=run) for epsilon in epsilons for place in places]
    return found
