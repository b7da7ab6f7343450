"""The largest ε that meets the targets, between two values of a calibration.

With rays this is about distinct words, since N_w is known everywhere. How many distinct words one draw a ray gives falls with ε, but
not at every step: it is a count. So the range between the largest value that meets the targets and the next is cut into steps,
and again around the best of them. On the way only words that come near to missing the target are walked. What is found is
walked for all words before it counts; if it misses the targets after all, the step below is tried, down to the value that is
known to meet them.

A table (``tabulated``) is continued: all words are measured at the steps, in one pass, and the largest that meets the targets counts.
"""

from __future__ import annotations

import numpy as np

from deniable.arrays import Floats, Ids
from deniable.calibration.calibration import Calibration
from deniable.calibration.choice import Choice, Targets, allowed_to_fail, evaluate, meets, rounded_down
from deniable.calibration.measure import RayCalibration, calibrate
from deniable.calibration.tabulated import TabulatedCalibration
from deniable.channel.rays.radial import RadialRays
from deniable.channel.rays.statistics import distinct_words, furthest_radius, unchanged

_STEPS, _TURNS = 12, 2
_BEYOND = 1.25


def refined(calibration: Calibration, targets: Targets, known: float) -> Choice:
    """Return the largest ε found from ``known`` up, which meets the targets, to the next value of the calibration."""
    best = evaluate(calibration, known, targets)
    above = calibration.epsilons[calibration.epsilons > known]
    low, high = known, float(above.min()) if len(above) else known * _BEYOND
    if isinstance(calibration, TabulatedCalibration):
        return _continued(calibration, best, high)
    assert isinstance(calibration, RayCalibration)  # noqa: S101 - there are these two
    rows = _at_stake(calibration, targets, high if len(above) else known)
    engine = RadialRays(calibration.embedding, calibration.noise, rays=calibration.rays)
    passing: list[float] = []
    for _ in range(_TURNS):
        tried = np.geomspace(low, high, _STEPS + 1)
        fails = _failing(engine, calibration, targets, rows, tried[1:])
        good = np.flatnonzero(fails <= allowed_to_fail(len(calibration.ids), targets.quantile)) + 1
        passing += tried[good].tolist()
        if len(good) and good[-1] == _STEPS:
            break
        low, high = (float(tried[good[-1]]), float(tried[good[-1] + 1])) if len(good) else (low, float(tried[1]))
    for epsilon in sorted({max(rounded_down(e), known) for e in passing}, reverse=True):
        found = _walked(calibration, epsilon, targets)
        if meets(found):
            return found
    return best


def _at_stake(calibration: Calibration, targets: Targets, epsilon: float) -> Ids:
    """Return the rows of words that have hardly more distinct words at this ε than they must have."""
    assert targets.min_distinct is not None  # noqa: S101 - said by the caller
    assert calibration.distinct is not None  # noqa: S101 - said by the caller
    column = int(np.flatnonzero(calibration.epsilons == epsilon)[0])
    # A count of J draws spreads by less than √J, whatever the words are.
    return np.flatnonzero(calibration.distinct[:, column] < targets.min_distinct + 4.0 * calibration.rays**0.5)


def _continued(calibration: TabulatedCalibration, best: Choice, high: float) -> Choice:
    """Return the largest ε that meets the targets of some between the best one known and the next."""
    tried = sorted({rounded_down(float(e)) for e in np.geomspace(best.epsilon, high, _STEPS + 1)[1:-1]}, reverse=True)
    calibration.look_closer(np.array(tried))
    found = (evaluate(calibration, epsilon, best.targets) for epsilon in tried)
    return next((choice for choice in found if meets(choice)), best)


def _failing(engine: RadialRays, calibration: RayCalibration, targets: Targets, rows: Ids, epsilons: Floats) -> Ids:
    """Return how many words miss the targets at each ε, as far as the words at stake can tell."""
    assert targets.min_distinct is not None  # noqa: S101 - said by the caller
    length = calibration.length
    draws = length.draws(calibration.rays)
    fails = np.zeros((len(calibration.ids), len(epsilons)), dtype=bool)
    reach = furthest_radius(float(epsilons.min()), length, draws)
    for row, envelope in zip(rows, engine.envelopes(calibration.ids[rows], furthest=reach), strict=True):
        fails[row] = [distinct_words(envelope, float(e), draws) < targets.min_distinct for e in epsilons]
    if targets.max_unchanged is not None:
        fails |= unchanged(calibration.radii, epsilons, length)[0] > targets.max_unchanged
        calibration.prepare(epsilons.tolist())
        for column, epsilon in enumerate(epsilons.tolist() if len(calibration.protected_rows) else []):
            fails[calibration.protected_rows, column] |= calibration.itself(epsilon).means > targets.max_unchanged
    count: Ids = fails.sum(axis=0)
    return count


def _walked(calibration: RayCalibration, epsilon: float, targets: Targets) -> Choice:
    """Walk all words for this ε, in the order of the calibration, and evaluate it."""
    again = calibrate(
        calibration.embedding,
        mechanism=calibration.mechanism,
        rays=calibration.rays,
        ids=calibration.ids,
        epsilons=np.array([epsilon]),
        walks=True,
        keep=False,
    )
    places = np.argsort(again.ids)[np.searchsorted(np.sort(again.ids), calibration.ids)]
    found = evaluate(again, epsilon, targets)
    back = np.argsort(places)
    return Choice(
        epsilon=epsilon,
        targets=targets,
        unchanged=found.unchanged[places],
        errors=found.errors[places],
        upper=found.upper[places],
        distinct=None if found.distinct is None else found.distinct[places],
        failing=back[found.failing],
    )
