"""The largest ε that meets the targets, and the words that stand in the way.

Targets: N_w at most ``max_unchanged``, and at least ``min_distinct`` distinct words among one draw a ray, for a share
``quantile`` of the words (1 = all). N_w grows with ε, so the largest ε is found by halving; that of protected words need not, and
``descent`` looks further down from there. Distinct words are known at the
calibration's values of ε only, and N_w too where no rays tell it (``tabulated``): the largest of these that meets the targets is a
first answer, and ``refinement`` looks between it and the next. Whatever is found is evaluated once more on all words before it is returned.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from deniable.arrays import Floats, Ids
from deniable.calibration.calibration import Calibration
from deniable.calibration.measure import RayCalibration, typical_epsilon
from deniable.channel.rays.statistics import unchanged
from deniable.errors import InvalidParameter, TargetsNotMet
from deniable.report.wording import most_words

_SMALLEST_STEP = 1e-4


@dataclass(frozen=True, kw_only=True)
class Targets:
    """What words must meet."""

    max_unchanged: float | None = None
    min_distinct: int | None = None
    quantile: float = 1.0

    def __post_init__(self) -> None:
        """Check the targets.

        :raises InvalidParameter: if one is not allowed.
        """
        if self.max_unchanged is not None and not 0.0 < self.max_unchanged < 1.0:
            raise InvalidParameter("max_unchanged", self.max_unchanged, "must lie between 0 and 1, such as 0.5")
        if self.min_distinct is not None and self.min_distinct < 1:
            raise InvalidParameter("min_distinct", self.min_distinct, "must be a whole number of at least 1")
        if not 0.0 < self.quantile <= 1.0:
            raise InvalidParameter("quantile", self.quantile, "must be above 0 and at most 1 (all words)")

    def check_within_reach(self, *, words: int, rays: int) -> None:
        """Do nothing if a vocabulary of so many words and so many rays can give the distinct words that are asked for.

        :raises InvalidParameter: otherwise.
        """
        if self.min_distinct is None or self.min_distinct <= min(words, rays):
            return
        if words < rays:
            raise InvalidParameter("min_distinct", self.min_distinct, f"the embedding has {words:,} words, so no more can come out")
        raise InvalidParameter("min_distinct", self.min_distinct, f"{rays:,} rays give at most as many distinct words; ask for more --rays")


@dataclass(frozen=True, kw_only=True)
class Choice:
    """The chosen ε and what was found for every word at it, by rows of the calibration.

    ``failing`` are the rows of words that miss a target (at most a share 1 - quantile of them), worst first; a protected word
    does also where its stand-in stays too often. ``upper`` bounds N_w of all words at once, with 95 % confidence.
    """

    epsilon: float
    targets: Targets
    unchanged: Floats
    errors: Floats
    upper: Floats
    distinct: Ids | None
    failing: Ids


def choose(calibration: Calibration, targets: Targets) -> Choice:
    """Return the largest ε that meets the targets.

    For distinct words the walks between two values of the calibration are made anew, which takes a while for many words.

    :raises TargetsNotMet: if there is none.
    :raises InvalidParameter: if no target is given, or distinct words are asked for and were not counted.
    """
    if targets.max_unchanged is None and targets.min_distinct is None:
        raise InvalidParameter("targets", "none", "give max_unchanged or min_distinct")
    if targets.min_distinct is not None and calibration.distinct is None:
        raise InvalidParameter("min_distinct", targets.min_distinct, "needs a calibration with walks")
    if targets.min_distinct is not None or not isinstance(calibration, RayCalibration):
        calibration.prepare(calibration.epsilons.tolist())
        met = [e for e in sorted(calibration.epsilons.tolist(), reverse=True) if meets(evaluate(calibration, e, targets))]
        if not met:
            raise TargetsNotMet(_why_not(calibration, targets))
        from deniable.calibration.refinement import refined

        return refined(calibration, targets, met[0])
    ceiling = _largest_by_unchanged(calibration, targets)
    if len(calibration.protected_rows):
        from deniable.calibration.descent import largest_from_above

        return largest_from_above(calibration, targets, ceiling)
    choice = evaluate(calibration, ceiling, targets)
    while not meets(choice):  # rounding may have left the value a hair too large
        choice = evaluate(calibration, rounded_down(choice.epsilon * (1.0 - _SMALLEST_STEP)), targets)
    return choice


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
    """Return what every word has at this ε, and which words miss a target."""
    means, errors = calibration.unchanged(epsilon)
    fails = np.zeros(len(means), dtype=bool)
    if targets.max_unchanged is not None:
        fails |= calibration.careful(epsilon) > targets.max_unchanged
    distinct = calibration.distinct_at(epsilon)
    if targets.min_distinct is not None:
        if distinct is None:
            raise InvalidParameter("epsilon", epsilon, "distinct words were not counted at this value")
        fails |= distinct < targets.min_distinct
    rows = np.flatnonzero(fails)
    return Choice(
        epsilon=epsilon,
        targets=targets,
        unchanged=means,
        errors=errors,
        upper=calibration.upper(means, errors),
        distinct=distinct,
        failing=rows[np.argsort(-means[rows], kind="stable")],
    )


def allowed_to_fail(words: int, quantile: float) -> int:
    """Return how many words may miss the targets."""
    return words - math.ceil(quantile * words * (1.0 - 1e-12))


def meets(choice: Choice) -> bool:
    """Return whether enough words meet the targets."""
    return len(choice.failing) <= allowed_to_fail(len(choice.unchanged), choice.targets.quantile)


def rounded_down(epsilon: float) -> float:
    """Return the largest number of five digits that is not above ε."""
    unit = 10.0 ** (math.floor(math.log10(epsilon)) - 4)
    cut = float(f"{math.floor(epsilon / unit) * unit:.5g}")
    return cut if cut <= epsilon else epsilon


def _largest_by_unchanged(calibration: RayCalibration, targets: Targets) -> float:
    """Halve the range of ε; words that are decided for all of what is left are not looked at again."""
    assert targets.max_unchanged is not None  # noqa: S101 - said by the caller
    allowed, length = allowed_to_fail(len(calibration.ids), targets.quantile), calibration.length
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
    return rounded_down(low)


def _why_not(calibration: Calibration, targets: Targets) -> str:
    smallest = float(calibration.epsilons.min()) if len(calibration.epsilons) else 1e-6
    at = evaluate(calibration, smallest, Targets(max_unchanged=targets.max_unchanged, min_distinct=targets.min_distinct))
    named = ", ".join(calibration.embedding.words[i] for i in calibration.ids[at.failing[:5]])
    return (
        f"no ε from {smallest:g} up meets the targets for {most_words(targets.quantile)}: at {smallest:g} still {len(at.failing):,} "
        f"of {len(calibration.ids):,} miss them ({named} …); ask for less or for a smaller --quantile, or use --protect"
    )
