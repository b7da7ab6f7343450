"""The largest ε that meets the targets, and the words that stand in the way.

Targets: a capacity of at most ``max_capacity``, which grows with ε and is searched for by itself; N_w at most
``max_unchanged``, and at least ``min_distinct`` distinct words among one draw a ray, for a share ``quantile``
of the words that were looked at (1 = all of these). Whatever is found is evaluated once more on them before
it is returned.

- N_w by rays grows with ε, so the largest ε is found by halving.
- N_w of protected words may fall and rise with ε, so no halving finds the largest value. What is known is a
  ceiling: above it the other words miss the targets, and those that stand in. From there values are tried
  downwards, in steps of one ratio, and again between the largest that meets the targets and the next above
  it. A value between two steps may be missed; one that fails is never returned.
- Distinct words are counted at one ε at a time (``distinct``). How many one draw a ray gives falls with ε,
  but not at every step: it is a count. So the values that a calibration covers are tried downwards, and the
  range from the first that meets the targets to the next above it is cut into steps, and again around the
  best of them. Values are left out at which too many words miss the targets by what their first breakpoints
  tell, and on the way only words are counted that come near to missing the target. What is found is counted
  for all words before it is returned; if it misses the targets after all, the step below is tried, and so on.
- A table (``table``) knows nothing between its values of ε. It is continued: all words are measured at steps
  between the largest value that meets the targets and the next, in one pass, and the largest that meets them
  counts.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from deniable.arrays import Floats, Ids
from deniable.calibration.by_rays import RayCalibration, epsilon_range, typical_epsilon
from deniable.calibration.calibration import Calibration, ShareBound, bound_share
from deniable.calibration.distinct import DistinctWords
from deniable.calibration.result import Choice, Targets, allowed_failures, capacity_at
from deniable.calibration.table import TableCalibration
from deniable.channel.rays.rays import RadialRays
from deniable.channel.rays.statistics import unchanged
from deniable.errors import InvalidParameter, TargetsNotMet
from deniable.measures.estimate import Estimate, solve
from deniable.progress import Report

_SMALLEST_STEP = 1e-4

_STEPS_DOWN, _TURNS_DOWN, _LOWEST = 40, 3, 1e-3
"""Steps of 19 %, of 0.4 % and of 0.01 %, down to where noise is wider than any vocabulary that the ceiling
makes sense for."""

_STEPS_BETWEEN, _TURNS_BETWEEN = 12, 2
_BEYOND = 1.25


def choose(calibration: Calibration, targets: Targets, *, report: Report | None = None) -> Choice:
    """Return the largest ε that meets the targets.

    Distinct words are counted where they are not known, which takes a while for many words; ``report`` is
    told how far each pass is.

    :raises TargetsNotMet: if there is none.
    :raises InvalidParameter: if no target is given, or distinct words are asked for and were not counted.
    """
    if not targets.given:
        raise InvalidParameter("targets", "none", "give max_unchanged, min_distinct or max_capacity")
    if targets.max_capacity is not None:
        return _within_capacity(calibration, targets, report)
    if isinstance(calibration, RayCalibration):
        return (
            _largest_by_distinct(calibration, targets, report)
            if targets.min_distinct is not None
            else _largest(calibration, targets)
        )
    if targets.min_distinct is not None and calibration.distinct is None:
        raise InvalidParameter(
            "min_distinct", targets.min_distinct, "needs a calibration with distinct words"
        )
    assert isinstance(calibration, TableCalibration)  # noqa: S101 - there are these two
    calibration.prepare(calibration.epsilons.tolist())
    tried = (evaluate(calibration, e, targets) for e in sorted(calibration.epsilons.tolist(), reverse=True))
    best = next((choice for choice in tried if choice.meets_targets), None)
    if best is None:
        raise TargetsNotMet(_why_not(calibration, targets))
    above = calibration.epsilons[calibration.epsilons > best.epsilon]
    return _largest_of_table(calibration, best, float(above.min()) if len(above) else None)


def _within_capacity(calibration: Calibration, targets: Targets, report: Report | None) -> Choice:
    """Return the largest ε found that meets the target on the capacity, which grows with ε, and the other
    targets."""
    most, others = targets.max_capacity, replace(targets, max_capacity=None)
    assert most is not None  # noqa: S101 - said by the caller

    def measure(epsilon: float, turn: int) -> Estimate:  # noqa: ARG001 - the calibration has the same draws for all
        found = capacity_at(calibration, epsilon)
        if found is None:
            raise InvalidParameter(
                "max_capacity", most, "the capacity is not known for this mechanism and these words"
            )
        return found

    epsilon, _ = solve(measure, most, start=calibration.epsilon_reaching(0.05), what="the capacity")
    if others.given:
        epsilon = min(epsilon, choose(calibration, others, report=report).epsilon)
    choice = evaluate(calibration, epsilon, targets)
    if not choice.meets_targets:
        raise TargetsNotMet(_why_not(calibration, targets, smallest=epsilon))
    return choice


def choose_for_protection(
    calibration: Calibration, targets: Targets, *, most_protected: float = 0.01, report: Report | None = None
) -> Choice:
    """Return the largest ε at which at most a share ``most_protected`` of the words misses the targets.

    ``failing`` of the answer are these words: with them protected (``protection.protect``) the others, and so
    all that go in, meet the targets at this ε. The quantile of the targets is not used: after protection all
    words count.

    :raises InvalidParameter: if the share is not between 0 and 1, or as ``choose`` does.
    :raises TargetsNotMet: if more words miss the targets at every ε.
    """
    if not 0.0 <= most_protected < 1.0:
        raise InvalidParameter(
            "most_protected", most_protected, "must be a share of the words from 0 to below 1, such as 0.01"
        )
    return choose(calibration, replace(targets, quantile=1.0 - most_protected), report=report)


def evaluate(
    calibration: Calibration, epsilon: float, targets: Targets, *, distinct: Ids | None = None
) -> Choice:
    """Return what every word looked at has at this ε, and which of them miss a target.

    ``distinct`` are the words' distinct words, if the caller counted them. By rays they are counted now if a
    target asks for them.

    :raises InvalidParameter: if distinct words are asked for and were not counted at this ε.
    """
    means, errors = calibration.unchanged(epsilon)
    too_few = np.zeros(len(means), dtype=bool)
    distinct = calibration.distinct_at(epsilon) if distinct is None else distinct
    if targets.min_distinct is not None:
        if distinct is None and isinstance(calibration, RayCalibration):
            distinct = count_distinct(calibration, epsilon)
        if distinct is None:
            raise InvalidParameter("epsilon", epsilon, "distinct words were not counted at this value")
        too_few |= distinct < targets.min_distinct
    fails, stays = too_few, calibration.unchanged_or_stand_in(epsilon)
    if targets.max_unchanged is not None:
        fails = too_few | (stays > targets.max_unchanged)
    rows = np.flatnonzero(fails)
    return Choice(
        epsilon=epsilon,
        targets=targets,
        unchanged=means,
        errors=errors,
        upper=calibration.upper(means, errors),
        distinct=distinct,
        failing=rows[np.argsort(-means[rows], kind="stable")],
        missing=_missing_share(calibration, targets, stays, too_few),
        capacity=None if targets.max_capacity is None else capacity_at(calibration, epsilon),
    )


def _missing_share(
    calibration: Calibration, targets: Targets, stays: Floats, too_few: NDArray[np.bool_]
) -> ShareBound | None:
    """Return what a random sample says of the whole vocabulary."""
    looked_at = calibration.looked_at
    if looked_at.how != "at random":
        return None

    def missing(alpha: float) -> int:
        if targets.max_unchanged is None:
            return int(too_few.sum())
        return int((too_few | (calibration.growing_upper(stays, alpha) > targets.max_unchanged)).sum())

    return bound_share(looked_at, missing, grows=calibration.grows and targets.min_distinct is None)


def round_down(epsilon: float) -> float:
    """Return the largest number of five digits that is not above ε."""
    unit = 10.0 ** (math.floor(math.log10(epsilon)) - 4)
    cut = float(f"{math.floor(epsilon / unit) * unit:.5g}")
    return cut if cut <= epsilon else epsilon


def _largest_by_unchanged(calibration: RayCalibration, targets: Targets) -> float:
    """Halve the range of ε; words that are decided for all of what is left are not looked at again."""
    assert targets.max_unchanged is not None  # noqa: S101 - said by the caller
    allowed, length = allowed_failures(len(calibration.ids), targets.quantile), calibration.length
    open_rows, failed = np.arange(len(calibration.ids)), 0
    middle = typical_epsilon(np.asarray(calibration.radii[:, 0], dtype=np.float64), length)
    low, high = middle * 1e-9, middle * 1e9
    while high / low > 1.0 + _SMALLEST_STEP:
        tried = math.sqrt(low * high)
        fails = (
            unchanged(calibration.radii[open_rows], np.array([tried]), length)[0][:, 0]
            > targets.max_unchanged
        )
        if failed + int(fails.sum()) <= allowed:
            low, failed, open_rows = (
                tried,
                failed + int(fails.sum()),
                open_rows[~fails],
            )  # what fails here fails above
        else:
            high, open_rows = tried, open_rows[fails]  # what passes here passes below
    if low <= middle * 2e-9:
        raise TargetsNotMet(_why_not(calibration, targets))
    return round_down(low)


def _why_not(calibration: Calibration, targets: Targets, *, smallest: float | None = None) -> str:
    if smallest is None:
        smallest = float(calibration.epsilons.min()) if len(calibration.epsilons) else 1e-6
    at = evaluate(
        calibration, smallest, Targets(max_unchanged=targets.max_unchanged, min_distinct=targets.min_distinct)
    )
    return (
        f"no ε from {smallest:g} up meets the targets for {calibration.looked_at.share(targets.quantile)}: "
        f"at {smallest:g} still "
        f"{len(at.failing):,} of {len(calibration.ids):,} miss them ({_first_failing(calibration, at)}); ask "
        "for less or for a smaller "
        "--quantile, or use --protect"
    )


def _first_failing(calibration: Calibration, choice: Choice) -> str:
    return ", ".join(calibration.embedding.words[i] for i in calibration.ids[choice.failing[:5]]) + " …"


def _largest_from_above(calibration: RayCalibration, targets: Targets, ceiling: float) -> Choice:
    """Return the largest ε found, from the ceiling down, that meets the targets for protected words too.

    :raises TargetsNotMet: if none of those tried does.
    """
    assert targets.max_unchanged is not None  # noqa: S101 - said by the caller
    at_ceiling = unchanged(calibration.radii, np.array([ceiling]), calibration.length)[0][:, 0]
    suspects = np.flatnonzero(
        at_ceiling > targets.max_unchanged
    )  # the others stay below the target below the ceiling
    allowed = allowed_failures(len(calibration.ids), targets.quantile)
    high, low, passing = ceiling, ceiling * _LOWEST, list[float]()
    for _ in range(_TURNS_DOWN):
        tried = np.array(
            sorted({round_down(float(e)) for e in np.geomspace(high, low, _STEPS_DOWN + 1)}, reverse=True)
        )
        good = np.flatnonzero(
            _failures_by_unchanged(calibration, targets.max_unchanged, suspects, tried).sum(axis=0) <= allowed
        )
        passing += tried[good].tolist()
        if not len(good) or good[0] == 0:
            break
        high, low = float(tried[good[0] - 1]), float(tried[good[0]])
    for epsilon in sorted(set(passing), reverse=True):
        if (choice := evaluate(calibration, epsilon, targets)).meets_targets:
            return choice
    lowest = evaluate(calibration, round_down(ceiling * _LOWEST), targets)
    raise TargetsNotMet(
        f"none of the values of ε tried from {lowest.epsilon:g} to {ceiling:g} meets the targets for "
        f"{calibration.looked_at.share(targets.quantile)}, since protected words come out themselves too "
        f"often (at {lowest.epsilon:g}: "
        f"{_first_failing(calibration, lowest)}); ask for less or for a smaller --quantile, or protect the "
        "words of the embedding that "
        "this one was made from with --protect unknown"
    )


def _failures_by_unchanged(
    calibration: RayCalibration, most: float, rows: Ids, epsilons: Floats
) -> NDArray[np.bool_]:
    """Return which words stay themselves too often at each ε: of ``rows``, and of the protected words, a row
    for each word."""
    fails = np.zeros((len(calibration.ids), len(epsilons)), dtype=bool)
    fails[rows] = unchanged(calibration.radii[rows], epsilons, calibration.length)[0] > most
    if len(calibration.protected_rows):
        calibration.prepare(epsilons.tolist())
        for column, epsilon in enumerate(epsilons.tolist()):
            fails[calibration.protected_rows, column] |= calibration.protected_unchanged(epsilon).means > most
    return fails


def _largest_of_table(calibration: TableCalibration, best: Choice, high: float | None) -> Choice:
    """Return the largest ε that meets the targets of some between the best one known and the next."""
    end = best.epsilon * _BEYOND if high is None else high
    tried = sorted(
        {round_down(float(e)) for e in np.geomspace(best.epsilon, end, _STEPS_BETWEEN + 1)[1:-1]},
        reverse=True,
    )
    calibration.measure_more(np.array(tried))
    found = (evaluate(calibration, epsilon, best.targets) for epsilon in tried)
    return next((choice for choice in found if choice.meets_targets), best)


def _largest(calibration: RayCalibration, targets: Targets) -> Choice:
    """Return the largest ε that meets a target on N_w alone."""
    ceiling = _largest_by_unchanged(calibration, targets)
    if len(calibration.protected_rows):
        return _largest_from_above(calibration, targets, ceiling)
    choice = evaluate(calibration, ceiling, targets)
    while not choice.meets_targets:  # rounding may have left the value a hair too large
        choice = evaluate(calibration, round_down(choice.epsilon * (1.0 - _SMALLEST_STEP)), targets)
    return choice


def _largest_by_distinct(calibration: RayCalibration, targets: Targets, report: Report | None) -> Choice:
    """Return the largest ε found that meets a target on distinct words, and one on N_w where it is given.

    :raises TargetsNotMet: if no value that the calibration covers meets the targets.
    """
    search, above = _DistinctSearch(calibration, targets, report), None
    for epsilon in search.grid:
        if search.seem_to_meet(epsilon, above):
            for tried in [*search.passing_between(epsilon, above), epsilon]:
                if (choice := search.evaluate(tried)).meets_targets:
                    return choice
        above = epsilon
    raise TargetsNotMet(_why_not(calibration, targets, smallest=search.grid[-1]))


class _DistinctSearch:
    """Looks for the largest ε that meets a target on distinct words. ``grid`` are the values that a
    calibration covers, falling."""

    def __init__(self, calibration: RayCalibration, targets: Targets, report: Report | None) -> None:
        assert targets.min_distinct is not None  # noqa: S101 - said by the caller
        engine = RadialRays(calibration.embedding, calibration.noise, rays=calibration.draws)
        grid = calibration.epsilons if len(calibration.epsilons) else epsilon_range(engine)
        self.grid: list[float] = sorted(grid.tolist(), reverse=True)
        self._calibration, self._targets, self._least = calibration, targets, targets.min_distinct
        self._distinct = DistinctWords(engine, calibration.ids, calibration.radii, report=report)
        self._allowed = allowed_failures(len(calibration.ids), targets.quantile)
        self._at_stake = self._all = np.arange(len(calibration.ids))
        self._stay = _Growing(len(self._all), self._stays_too_often)
        self._few = _Growing(
            len(self._all), lambda rows, epsilon: 1 + self._distinct.moved(rows, epsilon) < self._least
        )
        calibration.prepare(self.grid)

    def evaluate(self, epsilon: float) -> Choice:
        """Count the distinct words of all words at this ε, and return what the words have."""
        return evaluate(self._calibration, epsilon, self._targets, distinct=self._count(self._all, epsilon))

    def seem_to_meet(self, epsilon: float, above: float | None) -> bool:
        """Return whether enough words meet the targets, as far as those tell that had not many more distinct
        words at larger ε."""
        if self._surely_missed(epsilon):
            return False
        if self._at_stake is self._all:
            steps = _steps(epsilon, above)
            self._at_stake = self._all[
                self._near(self._count(self._all, float(steps[self._first_missed(steps) - 1])))
            ]
        fails, counts = (
            self._fail_by_unchanged(np.array([epsilon]))[:, 0],
            self._count(self._at_stake, epsilon),
        )
        fails[self._at_stake] |= counts < self._least
        meets = int(fails.sum()) <= self._allowed
        if not meets:
            self._at_stake = self._at_stake[self._near(counts)]
        return meets

    def passing_between(self, low: float, above: float | None) -> list[float]:
        """Return values above ``low`` that seem to meet the targets, the largest first."""
        known, rows, passing = low, self._at_stake, list[float]()
        few, steps = np.zeros(len(self._all), dtype=bool), _steps(low, above)
        for _ in range(_TURNS_BETWEEN):
            fails = self._fail_by_unchanged(steps) | few[:, None]
            end = self._first_missed(steps)
            counts = self._distinct.at_all(rows, steps[:end])
            fails[rows, :end] |= counts.at < self._least
            good = np.flatnonzero(fails.sum(axis=0)[1:end] <= self._allowed) + 1
            passing += steps[good].tolist()
            best = int(good[-1]) if len(good) else 0
            if best == _STEPS_BETWEEN:
                break
            if (
                best + 1 < end
            ):  # the words that pass or miss in all of the range that is left are not counted again
                few[rows] |= counts.most[:, best] < self._least
                rows = rows[(counts.least[:, best] < self._least) & (counts.most[:, best] >= self._least)]
            steps = _steps(float(steps[best]), float(steps[best + 1]))
        return sorted({max(round_down(e), known) for e in passing}, reverse=True)

    def _near(self, counts: Ids) -> NDArray[np.bool_]:
        """Return which words may miss the target at a smaller ε, having hardly more distinct words than they
        must have."""
        # A count of J draws spreads by less than √J, whatever the words are.
        near: NDArray[np.bool_] = counts < self._least + 4.0 * self._calibration.draws**0.5
        return near

    def _count(self, rows: Ids, epsilon: float) -> Ids:
        known = self._calibration.distinct_at(epsilon)
        return self._distinct.at(rows, epsilon) if known is None else known[rows]

    def _surely_missed(self, epsilon: float) -> bool:
        """Return whether too many words miss the targets by their first breakpoints alone; if so, they do at
        every larger ε."""
        fails = self._few.at(epsilon)
        if self._targets.max_unchanged is not None:
            fails = fails | self._stay.at(epsilon)
        return int(fails.sum()) > self._allowed

    def _first_missed(self, steps: Floats) -> int:
        """Return the place of the first of rising ε that misses the targets for sure; the first of all is
        known not to."""
        return 1 + bisect_left(steps[1:].tolist(), True, key=self._surely_missed)

    def _stays_too_often(self, rows: Ids, epsilon: float) -> NDArray[np.bool_]:
        assert self._targets.max_unchanged is not None  # noqa: S101 - asked only where it is given
        means = unchanged(self._calibration.radii[rows], np.array([epsilon]), self._calibration.length)[0][
            :, 0
        ]
        fails: NDArray[np.bool_] = means > self._targets.max_unchanged
        return fails

    def _fail_by_unchanged(self, epsilons: Floats) -> NDArray[np.bool_]:
        """Return which words stay themselves too often, a row for each word and a column for each ε."""
        fails = np.zeros((len(self._all), len(epsilons)), dtype=bool)
        if self._targets.max_unchanged is None:
            return fails
        for column in reversed(range(len(epsilons))):
            fails[:, column] = self._stay.at(float(epsilons[column]))
        return fails | _failures_by_unchanged(
            self._calibration, self._targets.max_unchanged, self._all[:0], epsilons
        )


class _Growing:
    """Which words fail at an ε, where a word that fails at one ε fails at all larger ones: what is decided is
    not tested again."""

    def __init__(self, words: int, test: Callable[[Ids, float], NDArray[np.bool_]]) -> None:
        self._test, self._passed, self._failed = test, np.zeros(words), np.full(words, np.inf)

    def at(self, epsilon: float) -> NDArray[np.bool_]:
        open_rows = np.flatnonzero((self._passed < epsilon) & (epsilon < self._failed))
        if len(open_rows):
            fails = self._test(open_rows, epsilon)
            self._failed[open_rows[fails]], self._passed[open_rows[~fails]] = epsilon, epsilon
        failing: NDArray[np.bool_] = self._failed <= epsilon
        return failing


def _steps(low: float, above: float | None) -> Floats:
    return np.geomspace(low, low * _BEYOND if above is None else above, _STEPS_BETWEEN + 1)


def count_distinct(calibration: RayCalibration, epsilon: float, *, report: Report | None = None) -> Ids:
    """Return the distinct words of every word at one ε."""
    engine = RadialRays(calibration.embedding, calibration.noise, rays=calibration.draws)
    counter = DistinctWords(engine, calibration.ids, calibration.radii, report=report)
    return counter.at(np.arange(len(calibration.ids)), epsilon)
