"""The largest ε that protected words meet the targets at too, by rays.

How often a protected word comes out itself may fall and rise with ε, so no halving finds the largest value. What is known is a ceiling:
above it the other words miss the targets, and those that stand in. From there values are tried downwards, in steps of
one ratio, and again between the largest that meets the targets and the next above it. A value between two steps may be missed; one that
fails is never returned, since what is found is evaluated for all words once more.
"""

from __future__ import annotations

import numpy as np

from deniable.arrays import Floats, Ids
from deniable.calibration.choice import Choice, Targets, allowed_to_fail, evaluate, meets, rounded_down
from deniable.calibration.measure import RayCalibration
from deniable.channel.rays.statistics import unchanged
from deniable.errors import TargetsNotMet
from deniable.report.wording import most_words

_STEPS, _TURNS, _LOWEST = 40, 3, 1e-3
"""Steps of 19 %, of 0.4 % and of 0.01 %, down to where noise is wider than any vocabulary that the ceiling makes sense for."""


def largest_from_above(calibration: RayCalibration, targets: Targets, ceiling: float) -> Choice:
    """Return the largest ε found, from the ceiling down, that meets the targets for protected words too.

    :raises TargetsNotMet: if none of those tried does.
    """
    assert targets.max_unchanged is not None  # noqa: S101 - said by the caller
    at_ceiling = unchanged(calibration.radii, np.array([ceiling]), calibration.length)[0][:, 0]
    suspects = np.flatnonzero(at_ceiling > targets.max_unchanged)  # the others stay below the target below the ceiling
    allowed = allowed_to_fail(len(calibration.ids), targets.quantile)
    high, low, passing = ceiling, ceiling * _LOWEST, list[float]()
    for _ in range(_TURNS):
        tried = np.array(sorted({rounded_down(float(e)) for e in np.geomspace(high, low, _STEPS + 1)}, reverse=True))
        good = np.flatnonzero(_failing(calibration, targets.max_unchanged, suspects, tried) <= allowed)
        passing += tried[good].tolist()
        if not len(good) or good[0] == 0:
            break
        high, low = float(tried[good[0] - 1]), float(tried[good[0]])
    for epsilon in sorted(set(passing), reverse=True):
        if meets(choice := evaluate(calibration, epsilon, targets)):
            return choice
    lowest = evaluate(calibration, rounded_down(ceiling * _LOWEST), targets)
    named = ", ".join(calibration.embedding.words[i] for i in calibration.ids[lowest.failing[:5]])
    raise TargetsNotMet(
        f"none of the values of ε tried from {lowest.epsilon:g} to {ceiling:g} meets the targets for {most_words(targets.quantile)}, since "
        f"protected words come out themselves too often (at {lowest.epsilon:g}: {named} …); ask for less or for a smaller --quantile, or "
        "protect the words of the embedding that this one was made from with --protect unknown"
    )


def _failing(calibration: RayCalibration, most: float, suspects: Ids, epsilons: Floats) -> Ids:
    """Return how many words miss the target at each ε."""
    fails = np.zeros((len(calibration.ids), len(epsilons)), dtype=bool)
    fails[suspects] = unchanged(calibration.radii[suspects], epsilons, calibration.length)[0] > most
    calibration.prepare(epsilons.tolist())
    for column, epsilon in enumerate(epsilons.tolist()):
        fails[calibration.protected_rows, column] |= calibration.itself(epsilon).means > most
    count: Ids = fails.sum(axis=0)
    return count
