"""The largest ε that meets the targets, the words that stand in the way, and their protection.

Targets: a capacity of at most ``max_capacity``; N_w of at most ``max_unchanged``, and at least
``min_distinct`` distinct words among one draw per ray, for a share ``quantile`` of the words that were looked
at (1 = all of them). The answer is evaluated once more on all of these words before it is returned.

- The capacity grows with ε: ``measures.estimate.solve`` finds the largest ε that it allows.
- By rays N_w grows with ε, so halving finds a ceiling: above it N_w alone misses the target. That is the
  answer where nothing else counts. N_w of protected words may fall and rise with ε, and distinct words are
  counted, so that they do not fall at every step. There values are tried downwards from the ceiling, each
  19 % below the last, and the range between the first that meets the targets and the one before is halved. A
  word that meets the target on distinct words at one ε is taken to meet it at every smaller one, which saves
  most counts. If the answer then misses the targets after all, smaller values are tried.
- A table knows its own values of ε only. The words are measured at more values between the largest that meets
  the targets and the next, in one pass.

Exposed words are protected by a public map (guarantee.md, rule 10). An exposed word w goes into the mechanism
as π(w): its nearest word that is not exposed, or ⊥. Outputs and everybody's cells stay as they are, so one
pass suffices. The guarantee holds with d(π(w), π(w')) in place of d(w, w').
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from deniable.arrays import Floats, Ids
from deniable.calibration.bounds import ShareBound, bound_share
from deniable.calibration.by_rays import RayCalibration, epsilon_range, typical_epsilon
from deniable.calibration.calibration import Calibration
from deniable.calibration.table import TableCalibration
from deniable.channel.rays.statistics import unchanged
from deniable.embeddings.embedding import Embedding
from deniable.errors import InvalidParameter, TargetsNotMet
from deniable.measures.estimate import Estimate, halve, round_down, solve
from deniable.neighbours import best_neighbours
from deniable.parameters import validated_epsilon, validated_max_unchanged, validated_share
from deniable.progress import Report

_DIGITS, _NARROW = 5, 1.0001
_STEP_DOWN, _LOWEST = 1.19, 1e-3
_CORRECTIONS = 12
_STEPS_BETWEEN, _BEYOND = 12, 1.25
_WIDEST = 1e9


@dataclass(frozen=True, kw_only=True)
class Targets:
    """What a share ``quantile`` of the words looked at must meet, and the largest capacity allowed.

    :raises InvalidParameter: if a target is not allowed.
    """

    max_unchanged: float | None = None
    min_distinct: int | None = None
    quantile: float = 1.0
    max_capacity: float | None = None

    def __post_init__(self) -> None:
        if self.max_unchanged is not None:
            validated_max_unchanged(self.max_unchanged)
        if self.min_distinct is not None and self.min_distinct < 1:
            raise InvalidParameter("min_distinct", self.min_distinct, "must be a whole number of at least 1")
        if self.max_capacity is not None and validated_epsilon(self.max_capacity, "max_capacity") <= 2.0:
            raise InvalidParameter(
                "max_capacity",
                self.max_capacity,
                "must be above 2: the factor by which a reader's chance may rise",
            )
        if not 0.0 < self.quantile <= 1.0:
            raise InvalidParameter("quantile", self.quantile, "must be above 0 and at most 1 (all words)")

    @property
    def given(self) -> bool:
        """Whether there is a target at all."""
        return not (self.max_unchanged is self.min_distinct is self.max_capacity is None)

    def check_within_reach(self, *, words: int, draws: int) -> None:
        """Check that so many words and draws can give the distinct words that are asked for.

        :raises InvalidParameter: if they cannot.
        """
        if self.min_distinct is not None and self.min_distinct > min(words, draws):
            problem = f"{draws:,} draws give at most {draws:,} distinct words; ask for more --effort"
            if words < draws:
                problem = f"the embedding has {words:,} words, so no more can come out"
            raise InvalidParameter("min_distinct", self.min_distinct, problem)

    def to_dict(self) -> dict[str, float | int | None]:
        """Return the targets as JSON-ready data."""
        return {name: value for name, value in vars(self).items() if name != "max_capacity" or value}


@dataclass(frozen=True, kw_only=True)
class Choice:
    """The chosen ε and what was found at it for every word looked at, by rows of the calibration.

    ``failing`` are the rows of words that miss a target (at most a share 1 - quantile of them), worst first;
    a protected word does also where its stand-in stays too often. ``upper`` bounds N_w of the words looked
    at, all at once, with 95 % confidence. ``missing`` bounds the share of the vocabulary that misses a
    target; None unless the words are a random sample of it. ``capacity`` is known where a target asks for it.
    """

    epsilon: float
    targets: Targets
    unchanged: Floats
    errors: Floats
    upper: Floats
    failing: Ids
    missing: ShareBound | None = None
    capacity: Estimate | None = None

    @property
    def meets_targets(self) -> bool:
        """Whether enough of the words looked at meet the targets, and the capacity does."""
        most = self.targets.max_capacity
        if most is not None and (self.capacity is None or self.capacity.high > most):
            return False
        return len(self.failing) <= allowed_failures(len(self.unchanged), self.targets.quantile)


def allowed_failures(words: int, quantile: float) -> int:
    """Return how many words may miss the targets."""
    return words - math.ceil(quantile * words * (1.0 - 1e-12))


def choose(calibration: Calibration, targets: Targets, *, report: Report | None = None) -> Choice:
    """Return the largest ε that meets the targets.

    Distinct words are counted where they are not known, which takes a while for many words; ``report`` gets
    the progress of each pass.

    :raises TargetsNotMet: if there is none.
    :raises InvalidParameter: if no target is given, or distinct words are asked for and were not counted.
    """
    if not targets.given:
        raise InvalidParameter("targets", "none", "give max_unchanged, min_distinct or max_capacity")
    if targets.max_capacity is not None:
        return _within_capacity(calibration, targets, targets.max_capacity, report)
    if isinstance(calibration, TableCalibration):
        return _of_table(calibration, targets)
    assert isinstance(calibration, RayCalibration)  # noqa: S101 - there are these two
    return _by_rays(calibration, targets, report)


def choose_for_protection(
    calibration: Calibration, targets: Targets, *, most_protected: float = 0.01, report: Report | None = None
) -> Choice:
    """Return the largest ε at which at most a share ``most_protected`` of the words misses the targets.

    ``failing`` of the answer are these words: with them protected (``protect``) the others, and so all that
    go in, meet the targets at this ε. The quantile of the targets is not used: after protection all words
    count.

    :raises InvalidParameter: if the share is not from 0 to below 1, or as ``choose`` does.
    :raises TargetsNotMet: if more words miss the targets at every ε.
    """
    validated_share(most_protected, "most_protected", below_one=True)
    return choose(calibration, replace(targets, quantile=1.0 - most_protected), report=report)


def evaluate(
    calibration: Calibration, epsilon: float, targets: Targets, *, report: Report | None = None
) -> Choice:
    """Return what every word looked at has at this ε, and which of them miss a target.

    By rays distinct words are counted now if a target asks for them: of each word on so many rays as show
    that there are enough.

    :raises InvalidParameter: if distinct words are asked for and were not counted at this ε.
    """
    means, errors = calibration.unchanged(epsilon)
    stays, too_few = calibration.unchanged_or_stand_in(epsilon), np.zeros(len(means), dtype=bool)
    most = math.inf if targets.max_unchanged is None else targets.max_unchanged
    if (least := targets.min_distinct) is not None:
        rows = np.flatnonzero(stays <= most)  # the others miss a target anyway
        too_few[rows] = calibration.distinct_words(rows, epsilon, least, report=report) < least

    def missing(alpha: float) -> int:
        upper = stays if math.isinf(most) else calibration.growing_upper(stays, alpha)
        return int((too_few | (upper > most)).sum())

    share, looked_at = None, calibration.looked_at
    if looked_at.how == "at random":
        grows = calibration.grows and targets.min_distinct is None
        share = bound_share(missing, sample=looked_at.count, vocabulary=looked_at.vocabulary, grows=grows)
    rows = np.flatnonzero(too_few | (stays > most))
    return Choice(
        epsilon=epsilon,
        targets=targets,
        unchanged=means,
        errors=errors,
        upper=calibration.upper(means, errors),
        failing=rows[np.argsort(-means[rows], kind="stable")],
        missing=share,
        capacity=None if targets.max_capacity is None else calibration.capacity(epsilon),
    )


def _within_capacity(
    calibration: Calibration, targets: Targets, most: float, report: Report | None
) -> Choice:
    def measure(epsilon: float, turn: int) -> Estimate:  # noqa: ARG001 - the calibration has the same draws for all
        capacity = calibration.capacity(epsilon)
        if capacity is None:
            raise InvalidParameter(
                "max_capacity", most, "the capacity is not known for this mechanism and these words"
            )
        return capacity

    others = replace(targets, max_capacity=None)
    epsilon, _ = solve(measure, most, start=calibration.epsilon_reaching(0.05), what="the capacity")
    if others.given:
        epsilon = min(epsilon, choose(calibration, others, report=report).epsilon)
    choice = evaluate(calibration, epsilon, targets)
    if not choice.meets_targets:
        raise _not_met(calibration, targets, epsilon)
    return choice


def _of_table(calibration: TableCalibration, targets: Targets) -> Choice:
    if targets.min_distinct is not None and calibration.distinct is None:
        raise InvalidParameter(
            "min_distinct", targets.min_distinct, "needs a calibration with distinct words"
        )

    def largest(epsilons: list[float]) -> Choice | None:
        tried = (evaluate(calibration, epsilon, targets) for epsilon in sorted(epsilons, reverse=True))
        return next((choice for choice in tried if choice.meets_targets), None)

    known = calibration.epsilons.tolist()
    best = largest(known)
    if best is None:
        raise _not_met(calibration, targets, min(known))
    above = min((epsilon for epsilon in known if epsilon > best.epsilon), default=best.epsilon * _BEYOND)
    steps = np.geomspace(best.epsilon, above, _STEPS_BETWEEN + 1)[1:-1].tolist()
    between = sorted({round_down(epsilon, _DIGITS) for epsilon in steps})
    calibration.measure_more(np.array(between))
    return largest(between) or best


def _by_rays(calibration: RayCalibration, targets: Targets, report: Report | None) -> Choice:
    middle = typical_epsilon(np.asarray(calibration.radii[:, 0], dtype=np.float64), calibration.length)
    low, ceiling = middle / _WIDEST, middle * _WIDEST
    if targets.max_unchanged is not None:
        # How often protected words come out themselves need not grow with ε: it is left out here.
        missed = _Missed(calibration, replace(targets, min_distinct=None), own=False)
        ceiling = halve(low, ceiling, missed.few_at, narrow=_NARROW)
        if ceiling <= 2.0 * low:
            smallest = float(calibration.epsilons.min()) if len(calibration.epsilons) else 1e-6
            raise _not_met(calibration, targets, smallest)
    epsilon = ceiling
    if targets.min_distinct is not None or len(calibration.protected_rows):
        lowest = ceiling * _LOWEST
        if targets.min_distinct is not None:
            grid = calibration.epsilons if len(calibration.epsilons) else epsilon_range(calibration.engine)
            lowest, ceiling = float(grid.min()), min(ceiling, float(grid.max()) * _BEYOND)
        missed = _Missed(calibration, targets, report=report)
        epsilon = above = ceiling
        while not missed.few_at(epsilon):
            if epsilon <= lowest:
                raise _not_met(calibration, targets, round_down(lowest, _DIGITS))
            epsilon, above = max(epsilon / _STEP_DOWN, lowest), epsilon
        epsilon = halve(epsilon, above, missed.few_at, narrow=_NARROW)
    for turn in range(_CORRECTIONS):
        choice = evaluate(calibration, round_down(epsilon, _DIGITS), targets, report=report)
        if choice.meets_targets:
            return choice
        epsilon = choice.epsilon / _NARROW ** (1 << turn)
    raise _not_met(calibration, targets, choice.epsilon)


class _Missed:
    """Which words miss the targets at an ε, by rays. What is known of a word at a smaller or larger ε is not
    computed again.

    ``own`` counts also how often protected words come out themselves.
    """

    def __init__(
        self,
        calibration: RayCalibration,
        targets: Targets,
        *,
        own: bool = True,
        report: Report | None = None,
    ) -> None:
        words = len(calibration.ids)
        self._calibration, self._targets, self._report = calibration, targets, report
        self._allowed = allowed_failures(words, targets.quantile)
        self._own = own and len(calibration.protected_rows) > 0
        self._met_at, self._missed_at = np.zeros(words), np.full(words, np.inf)

    def few_at(self, epsilon: float) -> bool:
        """Return whether so few words miss the targets at this ε that they are met."""
        calibration, most, least = self._calibration, self._targets.max_unchanged, self._targets.min_distinct
        rows = np.flatnonzero((self._met_at < epsilon) & (epsilon < self._missed_at))
        if most is not None:
            means = unchanged(calibration.radii[rows], np.array([epsilon]), calibration.length)[0][:, 0]
            rows = self._without(rows, means > most, epsilon)
        if least is not None:
            if self._count(epsilon) > self._allowed:
                return False
            distinct = calibration.distinct_words(rows, epsilon, least, report=self._report)
            rows = self._without(rows, distinct < least, epsilon)
        self._met_at[rows] = epsilon
        return self._count(epsilon) <= self._allowed

    def _without(self, rows: Ids, missed: NDArray[np.bool_], epsilon: float) -> Ids:
        self._missed_at[rows[missed]] = epsilon
        return rows[~missed]

    def _count(self, epsilon: float) -> int:
        missed, calibration, most = self._missed_at <= epsilon, self._calibration, self._targets.max_unchanged
        if self._own and most is not None:
            own = calibration.protected_unchanged(epsilon).means
            missed[calibration.protected_rows] |= own > most
        return int(missed.sum())


def _not_met(calibration: Calibration, targets: Targets, smallest: float) -> TargetsNotMet:
    """Return the error that names the words that miss the targets even at the smallest ε."""
    at = evaluate(calibration, smallest, replace(targets, max_capacity=None))
    names = ", ".join(calibration.embedding.words[i] for i in calibration.ids[at.failing[:5]])
    hint = ""
    if calibration.embedding.protection is not None:
        hint = "; protected words come out themselves too: protect the original with --protect unknown"
    return TargetsNotMet(
        f"no ε from {smallest:g} up meets the targets for {calibration.looked_at.share(targets.quantile)}: "
        f"at {smallest:g} still {len(at.failing):,} of {len(calibration.ids):,} miss them ({names} …); ask "
        f"for less or for a smaller --quantile, or use --protect{hint}"
    )


By = Literal["nearest", "unknown"]

_FIRST_NEIGHBOURS = 32


@dataclass(frozen=True, kw_only=True)
class Protection:
    """How words that miss the targets are protected: in a new embedding, installed under ``name``, they go in
    as others.

    They go in ``by`` their nearest word that meets the targets ("nearest"), or by ⊥ ("unknown"). Where no ε
    is given, the largest is chosen at which at most a share ``most_protected`` of the words needs it.
    """

    name: str
    by: By = "nearest"
    most_protected: float = 0.01


def protect(embedding: Embedding, exposed: Ids, *, by: By = "nearest", name: str | None = None) -> Embedding:
    """Return the embedding with a public map from each exposed word to its nearest unexposed word, or to ⊥.

    :raises InvalidParameter: if all words are exposed, ``by`` is neither of the two, or the embedding is
        protected already.
    """
    check_protectable(embedding, by)
    exposed = np.unique(np.asarray(exposed, dtype=np.int64))
    if len(exposed) == len(embedding):
        raise InvalidParameter(
            "exposed", "all words", "no word would be left to stand in for them; choose a smaller ε"
        )
    mapped = np.arange(len(embedding) + 1, dtype=np.int64)
    mapped[exposed] = embedding.unknown_id if by == "unknown" else _nearest_unexposed(embedding, exposed)
    return Embedding.from_checked(
        embedding.words,
        embedding.vectors,
        embedding.unknown,
        name=name or embedding.name,
        unknown_origin=embedding.unknown_origin,
        cased=embedding.cased,
        shadowed=embedding.shadowed,
        subwords=embedding.subwords,
        protection=mapped,
        linear_map=embedding.linear_map,
    )


def check_protectable(embedding: Embedding, by: str) -> None:
    """Check that words of this embedding can be protected in this way.

    :raises InvalidParameter: if the way is not known, or the embedding is protected already.
    """
    if by not in ("nearest", "unknown"):
        raise InvalidParameter("protect", by, "must be nearest or unknown")
    if embedding.protection is not None:
        raise InvalidParameter(
            "embedding", embedding.name, "is protected already; protect the embedding that it was made from"
        )


def _nearest_unexposed(embedding: Embedding, exposed: Ids) -> Ids:
    is_exposed = np.zeros(len(embedding), dtype=bool)
    is_exposed[exposed] = True
    nearest = np.full(len(exposed), -1, dtype=np.int64)
    search, k = best_neighbours(embedding), min(_FIRST_NEIGHBOURS, len(embedding))
    while (left := np.flatnonzero(nearest < 0)).size:
        near, _ = search.nearest_k(embedding.rows(exposed[left]), k)
        free = ~is_exposed[near]
        some = free.any(axis=1)
        nearest[left[some]] = near[some, free[some].argmax(axis=1)]
        k = min(4 * k, len(embedding))
    return nearest
