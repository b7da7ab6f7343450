"""The largest ε that meets the targets, and the words that stand in the way.

Targets: N_w at most ``max_unchanged``, and at least ``min_distinct`` distinct words among one draw a ray, for a share
``quantile`` of the words that were looked at (1 = all of these). Whatever is found is evaluated once more on them before it is returned.

- N_w by rays grows with ε, so the largest ε is found by halving.
- N_w of protected words may fall and rise with ε, so no halving finds the largest value. What is known is a ceiling: above it the other
  words miss the targets, and those that stand in. From there values are tried downwards, in steps of one ratio, and again between the
  largest that meets the targets and the next above it. A value between two steps may be missed; one that fails is never returned.
- Distinct words are known at the calibration's values of ε only. The largest of these that meets the targets is a first answer, and the
  range to the next is searched. How many distinct words one draw a ray gives falls with ε, but not at every step: it is a count. So the
  range is cut into steps, and again around the best of them. On the way only words that come near to missing the target are walked. What
  is found is walked for all words before it counts; if it misses the targets after all, the step below is tried, down to the value that
  is known to meet them.
- A table (``table``) knows nothing between its values of ε. It is continued: all words are measured at steps between the largest value that
  meets the targets and the next, in one pass, and the largest that meets them counts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from deniable.arrays import Floats, Ids
from deniable.calibration.by_rays import RayCalibration, measure_by_rays, typical_epsilon
from deniable.calibration.calibration import Calibration, ShareBound, bound_share
from deniable.calibration.table import TableCalibration
from deniable.channel.rays.rays import RadialRays
from deniable.channel.rays.statistics import distinct_words, furthest_radius, unchanged
from deniable.errors import InvalidParameter, TargetsNotMet
from deniable.parameters import validated_max_unchanged

_SMALLEST_STEP = 1e-4

_STEPS_DOWN, _TURNS_DOWN, _LOWEST = 40, 3, 1e-3
"""Steps of 19 %, of 0.4 % and of 0.01 %, down to where noise is wider than any vocabulary that the ceiling makes sense for."""

_STEPS_BETWEEN, _TURNS_BETWEEN = 12, 2
_BEYOND = 1.25


@dataclass(frozen=True, kw_only=True)
class Targets:
    """What words must meet; ``quantile`` is a share of the words that are looked at."""

    max_unchanged: float | None = None
    min_distinct: int | None = None
    quantile: float = 1.0

    def __post_init__(self) -> None:
        """Check the targets.

        :raises InvalidParameter: if one is not allowed.
        """
        if self.max_unchanged is not None:
            validated_max_unchanged(self.max_unchanged)
        if self.min_distinct is not None and self.min_distinct < 1:
            raise InvalidParameter("min_distinct", self.min_distinct, "must be a whole number of at least 1")
        if not 0.0 < self.quantile <= 1.0:
            raise InvalidParameter("quantile", self.quantile, "must be above 0 and at most 1 (all words)")

    @property
    def given(self) -> bool:
        """Whether there is a target at all."""
        return self.max_unchanged is not None or self.min_distinct is not None

    def check_within_reach(self, *, words: int, draws: int) -> None:
        """Do nothing if a vocabulary of this many words and this many draws can give the distinct words that are asked for.

        :raises InvalidParameter: otherwise.
        """
        if self.min_distinct is None or self.min_distinct <= min(words, draws):
            return
        if words < draws:
            raise InvalidParameter("min_distinct", self.min_distinct, f"the embedding has {words:,} words, so no more can come out")
        raise InvalidParameter(
            "min_distinct", self.min_distinct, f"{draws:,} draws give at most {draws:,} distinct words; ask for more --rays"
        )

    def to_dict(self) -> dict[str, float | int | None]:
        """Return the targets as JSON-ready data."""
        return {"max_unchanged": self.max_unchanged, "min_distinct": self.min_distinct, "quantile": self.quantile}


@dataclass(frozen=True, kw_only=True)
class Choice:
    """The chosen ε and what was found at it for every word looked at, by rows of the calibration.

    ``failing`` are the rows of words that miss a target (at most a share 1 - quantile of them), worst first; a protected word
    does also where its stand-in stays too often. ``upper`` bounds N_w of the words looked at, all at once, with 95 % confidence.
    ``missing`` bounds the share of the vocabulary that misses a target; None unless the words are a random sample of it.
    """

    epsilon: float
    targets: Targets
    unchanged: Floats
    errors: Floats
    upper: Floats
    distinct: Ids | None
    failing: Ids
    missing: ShareBound | None = None

    @property
    def meets_targets(self) -> bool:
        """Whether enough of the words looked at meet the targets."""
        return len(self.failing) <= _allowed_failures(len(self.unchanged), self.targets.quantile)


def choose(calibration: Calibration, targets: Targets) -> Choice:
    """Return the largest ε that meets the targets.

    For distinct words the walks between two values of the calibration are made anew, which takes a while for many words.

    :raises TargetsNotMet: if there is none.
    :raises InvalidParameter: if no target is given, or distinct words are asked for and were not counted.
    """
    if not targets.given:
        raise InvalidParameter("targets", "none", "give max_unchanged or min_distinct")
    if targets.min_distinct is not None and calibration.distinct is None:
        raise InvalidParameter("min_distinct", targets.min_distinct, "needs a calibration with distinct words")
    if isinstance(calibration, RayCalibration) and targets.min_distinct is None:
        ceiling = _largest_by_unchanged(calibration, targets)
        if len(calibration.protected_rows):
            return _largest_from_above(calibration, targets, ceiling)
        choice = evaluate(calibration, ceiling, targets)
        while not choice.meets_targets:  # rounding may have left the value a hair too large
            choice = evaluate(calibration, round_down(choice.epsilon * (1.0 - _SMALLEST_STEP)), targets)
        return choice
    calibration.prepare(calibration.epsilons.tolist())
    tried = (evaluate(calibration, e, targets) for e in sorted(calibration.epsilons.tolist(), reverse=True))
    best = next((choice for choice in tried if choice.meets_targets), None)
    if best is None:
        raise TargetsNotMet(_why_not(calibration, targets))
    above = calibration.epsilons[calibration.epsilons > best.epsilon]
    high = float(above.min()) if len(above) else None
    if isinstance(calibration, TableCalibration):
        return _largest_of_table(calibration, best, high)
    assert isinstance(calibration, RayCalibration)  # noqa: S101 - there are these two
    return _largest_by_distinct(calibration, best, high)


def choose_for_protection(calibration: Calibration, targets: Targets, *, most_protected: float = 0.01) -> Choice:
    """Return the largest ε at which at most a share ``most_protected`` of the words misses the targets.

    ``failing`` of the answer are these words: with them protected (``protection.protect``) the others, and so all that go
    in, meet the targets at this ε. The quantile of the targets is not used: after protection all words count.

    :raises InvalidParameter: if the share is not between 0 and 1, or as ``choose`` does.
    :raises TargetsNotMet: if more words miss the targets at every ε.
    """
    if not 0.0 <= most_protected < 1.0:
        raise InvalidParameter("most_protected", most_protected, "must be a share of the words from 0 to below 1, such as 0.01")
    return choose(calibration, replace(targets, quantile=1.0 - most_protected))


def evaluate(calibration: Calibration, epsilon: float, targets: Targets) -> Choice:
    """Return what every word looked at has at this ε, and which of them miss a target.

    :raises InvalidParameter: if distinct words are asked for and were not counted at this ε.
    """
    means, errors = calibration.unchanged(epsilon)
    too_few = np.zeros(len(means), dtype=bool)
    distinct = calibration.distinct_at(epsilon)
    if targets.min_distinct is not None:
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
    )


def _missing_share(calibration: Calibration, targets: Targets, stays: Floats, too_few: NDArray[np.bool_]) -> ShareBound | None:
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


def _allowed_failures(words: int, quantile: float) -> int:
    """Return how many words may miss the targets."""
    return words - math.ceil(quantile * words * (1.0 - 1e-12))


def _largest_by_unchanged(calibration: RayCalibration, targets: Targets) -> float:
    """Halve the range of ε; words that are decided for all of what is left are not looked at again."""
    assert targets.max_unchanged is not None  # noqa: S101 - said by the caller
    allowed, length = _allowed_failures(len(calibration.ids), targets.quantile), calibration.length
    open_rows, failed = np.arange(len(calibration.ids)), 0
    middle = typical_epsilon(np.asarray(calibration.radii[:, 0], dtype=np.float64), length)
    low, high = middle * 1e-9, middle * 1e9
    while high / low > 1.0 + _SMALLEST_STEP:
        tried = math.sqrt(low * high)
        fails = unchanged(calibration.radii[open_rows], np.array([tried]), length)[0][:, 0] > targets.max_unchanged
        if failed + int(fails.sum()) <= allowed:
            low, failed, open_rows = tried, failed + int(fails.sum()), open_rows[~fails]  # what fails here fails above
        else:
            high, open_rows = tried, open_rows[fails]  # what passes here passes below
    if low <= middle * 2e-9:
        raise TargetsNotMet(_why_not(calibration, targets))
    return round_down(low)


def _why_not(calibration: Calibration, targets: Targets) -> str:
    smallest = float(calibration.epsilons.min()) if len(calibration.epsilons) else 1e-6
    at = evaluate(calibration, smallest, Targets(max_unchanged=targets.max_unchanged, min_distinct=targets.min_distinct))
    return (
        f"no ε from {smallest:g} up meets the targets for {calibration.looked_at.share(targets.quantile)}: at {smallest:g} still "
        f"{len(at.failing):,} of {len(calibration.ids):,} miss them ({_first_failing(calibration, at)}); ask for less or for a smaller "
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
    suspects = np.flatnonzero(at_ceiling > targets.max_unchanged)  # the others stay below the target below the ceiling
    allowed = _allowed_failures(len(calibration.ids), targets.quantile)
    high, low, passing = ceiling, ceiling * _LOWEST, list[float]()
    for _ in range(_TURNS_DOWN):
        tried = np.array(sorted({round_down(float(e)) for e in np.geomspace(high, low, _STEPS_DOWN + 1)}, reverse=True))
        good = np.flatnonzero(_failures_by_unchanged(calibration, targets.max_unchanged, suspects, tried).sum(axis=0) <= allowed)
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
        f"{calibration.looked_at.share(targets.quantile)}, since protected words come out themselves too often (at {lowest.epsilon:g}: "
        f"{_first_failing(calibration, lowest)}); ask for less or for a smaller --quantile, or protect the words of the embedding that "
        "this one was made from with --protect unknown"
    )


def _failures_by_unchanged(calibration: RayCalibration, most: float, rows: Ids, epsilons: Floats) -> NDArray[np.bool_]:
    """Return which words stay themselves too often at each ε: of ``rows``, and of the protected words, a row for each word."""
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
    tried = sorted({round_down(float(e)) for e in np.geomspace(best.epsilon, end, _STEPS_BETWEEN + 1)[1:-1]}, reverse=True)
    calibration.measure_more(np.array(tried))
    found = (evaluate(calibration, epsilon, best.targets) for epsilon in tried)
    return next((choice for choice in found if choice.meets_targets), best)


def _largest_by_distinct(calibration: RayCalibration, best: Choice, above: float | None) -> Choice:
    """Return the largest ε found from the best one known up to the next value of the calibration."""
    targets, known = best.targets, best.epsilon
    low, high = known, known * _BEYOND if above is None else above
    rows = _rows_at_stake(calibration, targets, known if above is None else above)
    engine = RadialRays(calibration.embedding, calibration.noise, rays=calibration.draws)
    passing: list[float] = []
    for _ in range(_TURNS_BETWEEN):
        tried = np.geomspace(low, high, _STEPS_BETWEEN + 1)
        fails = _failures_by_distinct(engine, calibration, targets, rows, tried[1:])
        good = np.flatnonzero(fails <= _allowed_failures(len(calibration.ids), targets.quantile)) + 1
        passing += tried[good].tolist()
        if len(good) and good[-1] == _STEPS_BETWEEN:
            break
        low, high = (float(tried[good[-1]]), float(tried[good[-1] + 1])) if len(good) else (low, float(tried[1]))
    for epsilon in sorted({max(round_down(e), known) for e in passing}, reverse=True):
        if (found := _evaluate_by_walks(calibration, epsilon, targets)).meets_targets:
            return found
    return best


def _rows_at_stake(calibration: RayCalibration, targets: Targets, epsilon: float) -> Ids:
    """Return the rows of words that have hardly more distinct words at this ε than they must have."""
    assert targets.min_distinct is not None  # noqa: S101 - said by the caller
    assert calibration.distinct is not None  # noqa: S101 - said by the caller
    column = int(np.flatnonzero(calibration.epsilons == epsilon)[0])
    # A count of J draws spreads by less than √J, whatever the words are.
    return np.flatnonzero(calibration.distinct[:, column] < targets.min_distinct + 4.0 * calibration.draws**0.5)


def _failures_by_distinct(engine: RadialRays, calibration: RayCalibration, targets: Targets, rows: Ids, epsilons: Floats) -> Ids:
    """Return how many words miss the targets at each ε, as far as the words at stake can tell."""
    assert targets.min_distinct is not None  # noqa: S101 - said by the caller
    length = calibration.length
    draws = length.draws(calibration.draws)
    fails = np.zeros((len(calibration.ids), len(epsilons)), dtype=bool)
    reach = furthest_radius(float(epsilons.min()), length, draws)
    for row, envelope in zip(rows, engine.envelopes(calibration.ids[rows], furthest=reach), strict=True):
        fails[row] = [distinct_words(envelope, float(e), draws) < targets.min_distinct for e in epsilons]
    if targets.max_unchanged is not None:
        fails |= _failures_by_unchanged(calibration, targets.max_unchanged, np.arange(len(calibration.ids)), epsilons)
    count: Ids = fails.sum(axis=0)
    return count


def _evaluate_by_walks(calibration: RayCalibration, epsilon: float, targets: Targets) -> Choice:
    """Walk the words for this ε, and return what they have, in the order of the calibration."""
    measured = measure_by_rays(
        calibration.embedding,
        mechanism=calibration.mechanism,
        rays=calibration.draws,
        ids=calibration.ids,
        epsilons=np.array([epsilon]),
        support=True,
        keep=False,
    )
    again = replace(measured, at_random=calibration.at_random)
    places = np.argsort(again.ids)[np.searchsorted(np.sort(again.ids), calibration.ids)]
    found = evaluate(again, epsilon, targets)
    return replace(
        found,
        unchanged=found.unchanged[places],
        errors=found.errors[places],
        upper=found.upper[places],
        distinct=None if found.distinct is None else found.distinct[places],
        failing=np.argsort(places)[found.failing],
    )
