"""What a calibration is asked for and what it returns.

Targets, and the ε chosen by them; a row for each ε; what is known of single words; the protected embedding
that was made.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from deniable.arrays import Floats, Ids
from deniable.calibration.by_rays import RayCalibration
from deniable.calibration.calibration import Calibration, LookedAt, ShareBound
from deniable.embeddings.embedding import Embedding
from deniable.errors import InvalidParameter
from deniable.measures.capacity import capacity, sum_of_unchanged
from deniable.measures.estimate import Estimate
from deniable.neighbours import best_neighbours
from deniable.parameters import validated_epsilon, validated_max_unchanged
from deniable.release.note import Spread
from deniable.report.wording import percent, percent_up, words

_MOST_SUMS, _DRAWS_FOR_CAPACITY = 1 << 28, 4_000

ENTROPIES = ("H0", "H1", "H2", "Hinf")
QUANTILES = (0.5, 0.95, 0.99, 1.0)


@dataclass(frozen=True, kw_only=True)
class Targets:
    """What words must meet, of which ``quantile`` is a share of those looked at; and what the capacity of the
    mechanism must not exceed."""

    max_unchanged: float | None = None
    min_distinct: int | None = None
    quantile: float = 1.0
    max_capacity: float | None = None

    def __post_init__(self) -> None:
        """Check the targets.

        :raises InvalidParameter: if one is not allowed.
        """
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
        """Do nothing if a vocabulary of this many words and this many draws can give the distinct words that
        are asked for.

        :raises InvalidParameter: otherwise.
        """
        if self.min_distinct is not None and self.min_distinct > min(words, draws):
            problem = f"{draws:,} draws give at most {draws:,} distinct words; ask for more --effort"
            if words < draws:
                problem = f"the embedding has {words:,} words, so no more can come out"
            raise InvalidParameter("min_distinct", self.min_distinct, problem)

    def to_dict(self) -> dict[str, float | int | None]:
        """Return the targets as JSON-ready data."""
        targets: dict[str, float | int | None] = {
            "max_unchanged": self.max_unchanged,
            "min_distinct": self.min_distinct,
        }
        more = {} if self.max_capacity is None else {"max_capacity": self.max_capacity}
        return targets | {"quantile": self.quantile} | more


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


def headline(calibration: Calibration, choice: Choice) -> str:
    """Return whether the targets are met at this ε, and for which words, in a sentence or two."""
    looked_at, targets = calibration.looked_at, choice.targets
    wishes = []
    if targets.max_unchanged is not None:
        wishes.append(f"comes out unchanged in at most {percent(targets.max_unchanged)} of its releases")
    if targets.min_distinct is not None:
        wishes.append(
            f"becomes at least {targets.min_distinct:,} distinct words in {calibration.draws:,} draws"
        )
    wish, failing = f"{looked_at.share(targets.quantile)} {' and '.join(wishes)}", words(len(choice.failing))
    if targets.max_capacity is not None:
        capacity = f"on average no chance to guess a word rises by more than {targets.max_capacity:g} times"
        wish = f"{wish}; {capacity}" if wishes else capacity
    if not choice.meets_targets:
        these = f" {failing} do not." if len(choice.failing) else ""
        return f"At ε = {choice.epsilon:g} the target is missed. Asked for: {wish}.{these}"
    exceptions = f" The exceptions, {failing}, are named below." if len(choice.failing) else ""
    return f"At ε = {choice.epsilon:g} the target is met: {wish}.{exceptions}"


def limits_of(calibration: Calibration, choice: Choice, *, miss: str = "miss the targets") -> list[str]:
    """Return what no word exceeds, and what is known of words that were not looked at, in sentences;
    ``miss`` says what exposed words do."""
    looked_at, missing = calibration.looked_at, choice.missing
    sure = "exact" if calibration.method == "exact" else "95 % confidence for an ε fixed beforehand"
    none = "No word" if looked_at.all else f"None of {looked_at.them}"
    said = [f"{none} stays itself in more than {percent_up(float(choice.upper.max()))} of draws ({sure})."]
    if not looked_at.all:
        others = words(looked_at.vocabulary - looked_at.count)
        said.append(f"The other {others} were not looked at, and may stay themselves in all draws.")
    if missing is not None:
        said.append(
            f"Of the whole vocabulary at most {percent_up(missing.at_most)} {miss} "
            f"({missing.provided}, by the random sample: {missing.counted:,} of {looked_at.them} may, by the "
            "error of their N_w)."
        )
    return said


def allowed_failures(words: int, quantile: float) -> int:
    """Return how many words may miss the targets."""
    return words - math.ceil(quantile * words * (1.0 - 1e-12))


@dataclass(frozen=True, kw_only=True)
class EpsilonRow:
    """What was found over the words at one ε.

    N_w: its ``average`` with the standard error, its ``quantiles`` (median, 95 %, 99 %, worst), and how many
    words stay in over half of the draws. ``distinct`` words, S_w and the mean entropies H₀, H₁, H₂ and H_∞ in
    bits are missing where whole distributions were not measured; ``capacity`` is that of the whole
    mechanism, and None where it is not known.
    """

    epsilon: float
    average: float
    error: float
    quantiles: tuple[float, ...]
    words_above_half: int
    distinct: Spread | None = None
    support: Spread | None = None
    mean_entropies: tuple[float, ...] = ()
    capacity: Estimate | None = None

    @property
    def unchanged(self) -> Spread:
        """N_w in the form of a note."""
        median, most, _, worst = self.quantiles
        return Spread(median=median, most=most, worst=worst, mean=self.average)

    def to_dict(self) -> dict[str, Any]:
        """Return the row as JSON-ready data."""
        capacity = (
            None if self.capacity is None else {"value": self.capacity.value, "at_most": self.capacity.high}
        )
        row = {
            "epsilon": self.epsilon,
            "unchanged": self.unchanged.to_dict(),
            "words_above_half": self.words_above_half,
            "capacity": capacity,
        }
        if self.distinct is None or self.support is None:
            return row
        return row | {
            "distinct": self.distinct.to_dict(),
            "support": self.support.to_dict(),
            "mean_entropies_bits": dict(zip(ENTROPIES, self.mean_entropies, strict=True)),
        }


@dataclass(frozen=True, kw_only=True)
class WordRow:
    """One word at the chosen ε: N_w, its standard error and its bound, and what makes it so: far neighbours,
    a long vector."""

    word: str
    protected: bool
    unchanged: float
    standard_error: float
    at_most: float
    distinct: int | None
    nearest_neighbour_at: float | None
    norm: float


@dataclass(frozen=True, kw_only=True)
class ProtectedEmbedding:
    """The embedding that protection made, and what its words have at the chosen ε, measured again."""

    name: str
    fingerprint: str
    words_mapped: int
    by: str
    exposed_words_left: int
    largest_unchanged: float


@dataclass(frozen=True, kw_only=True)
class CalibrationResult:
    """What was found, and written.

    ``calibration`` has N_w of every word looked at, ``sample`` what words may become, of them or of some.
    ``choice`` is what every word looked at has at the ε that targets chose, or that they were held against;
    None without targets, and then no words are named. ``looked_at`` says which words these are: what is said
    of them is not said of others.
    """

    calibration: Calibration
    sample: Calibration
    table: tuple[EpsilonRow, ...]
    choice: Choice | None = None
    worst_words: tuple[WordRow, ...] = ()
    exposed: tuple[WordRow, ...] = ()
    protected: ProtectedEmbedding | None = None
    figures: tuple[Path, ...] | None = None
    page: Path | None = None

    @property
    def looked_at(self) -> LookedAt:
        """Which words were looked at."""
        return self.calibration.looked_at

    @property
    def epsilon(self) -> float | None:
        """The ε that targets chose, or that they were held against."""
        return None if self.choice is None else self.choice.epsilon

    @property
    def sampled_words(self) -> int | None:
        """How many words the table's S_w is of, if not of all; None too where it has none."""
        return (
            len(self.sample.ids)
            if self.sample is not self.calibration and any(row.support for row in self.table)
            else None
        )

    def cells(self) -> tuple[list[str], list[list[str]]]:
        """Return the headings and the rows of the table over ε, as they are shown."""
        support = any(row.support for row in self.table)
        columns = ["ε", "capacity", "N_w mean", "median", "95 %", "worst", "> 0.5"]
        rows = []
        for row in self.table:
            stays = row.unchanged
            shares = [f"{value:.3f}" for value in (stays.mean, stays.median, stays.most, stays.worst)]
            capacity = "-" if row.capacity is None else f"≤ {row.capacity.high:,.0f}"
            rows.append([f"{row.epsilon:.4g}", capacity, *shares, f"{row.words_above_half:,}"])
            if row.distinct is not None:
                bits = f"{row.mean_entropies[1]:.1f}"
                rows[-1] += [f"{row.distinct.mean:.0f}", f"{row.distinct.worst:.0f}", bits]
        return columns + ["distinct mean", "worst", "H₁ bits"] * support, rows

    def _repr_html_(self) -> str:
        """Return the table over ε as HTML, for notebooks."""
        from deniable.report.notebook import table_html

        chosen = "" if self.epsilon is None else f", ε = {self.epsilon:g}"
        return table_html(*self.cells(), caption=f"{self.calibration.embedding.name}{chosen}")

    def to_dict(self) -> dict[str, Any]:
        """Return the result as ``deniable calibrate --json`` prints it."""
        calibration, choice = self.calibration, self.choice
        answer: dict[str, Any] = {
            "embedding": calibration.embedding.name,
            "fingerprint": calibration.embedding.fingerprint,
            "mechanism": calibration.mechanism.name,
            "parameters": calibration.mechanism.identity(calibration.embedding)["parameters"],
            "method": calibration.method,
            "words": len(calibration.ids),
            "looked_at": self.looked_at.to_dict(),
            "rays": calibration.draws,
            "table": [row.to_dict() for row in self.table],
        }
        if self.sampled_words is not None:
            answer["words_walked"] = self.sampled_words
        if choice is not None:
            answer |= {
                "epsilon": choice.epsilon,
                "targets": choice.targets.to_dict(),
                "meets_the_targets": choice.meets_targets,
                "targets_are_held_against": self.looked_at.share(choice.targets.quantile),
                "share_of_the_vocabulary_that_misses": None
                if choice.missing is None
                else choice.missing.to_dict(),
                "largest_unchanged_with_95%_confidence": float(choice.upper.max()),
                "worst_words": [asdict(word) for word in self.worst_words],
                "exposed_words": len(choice.failing),
                "exposed": [asdict(word) for word in self.exposed],
            }
        if self.protected is not None:
            answer["protected"] = asdict(self.protected)
        if self.figures is not None:
            answer["figures"] = [str(path) for path in self.figures]
        if self.page is not None:
            answer["report"] = str(self.page)
        return answer


def row_at(calibration: Calibration, epsilon: float) -> EpsilonRow:
    """Return what the words have at one ε, without what they may become."""
    means, _ = calibration.unchanged(epsilon)
    average, error = calibration.average(epsilon)
    return EpsilonRow(
        epsilon=epsilon,
        average=average,
        error=error,
        quantiles=tuple(float(quantile) for quantile in np.quantile(means, QUANTILES)),
        words_above_half=int((means > 0.5).sum()),
    )


def summarize(
    calibration: Calibration, epsilons: list[float], sample: Calibration | None = None
) -> list[EpsilonRow]:
    """Return a row per ε: N_w over the words looked at, and what those of ``sample``, or all of these, may
    become where it is known."""
    calibration.prepare(epsilons)
    whole = calibration if sample is None else sample
    rows = []
    for epsilon in epsilons:
        row = replace(row_at(calibration, epsilon), capacity=capacity_at(calibration, epsilon))
        at = np.flatnonzero(whole.epsilons == epsilon)
        if len(at) and not (whole.distinct is None or whole.support is None or whole.entropies is None):
            row = replace(
                row,
                distinct=spread_of(whole.distinct[:, at[0]], smallest_is_worst=True, with_mean=True),
                support=spread_of(whole.support[:, at[0]], smallest_is_worst=True),
                mean_entropies=tuple(whole.entropies[:, at[0]].mean(axis=0).tolist()),
            )
        rows.append(row)
    return rows


def capacity_at(calibration: Calibration, epsilon: float) -> Estimate | None:
    """Return the capacity of the mechanism at one ε, for words released by the default policies; None where
    it is not known.

    It is the sum of N_w where that is right, and is estimated or summed for itself elsewhere, as long as that
    does not take minutes.
    """
    if calibration.looked_at.how == "listed":
        return None
    if (found := summed_capacity(calibration, epsilon)) is not None:
        return found
    if calibration.method == "exact" and len(calibration.embedding) ** 2 > _MOST_SUMS:
        return None
    mechanism = calibration.mechanism(calibration.embedding, epsilon=epsilon)
    return capacity(mechanism, draws=_DRAWS_FOR_CAPACITY)


def summed_capacity(calibration: Calibration, epsilon: float) -> Estimate | None:
    """Return the capacity as the sum of N_w, which takes no draws; None where that is not right."""
    if calibration.method == "exact" or calibration.looked_at.how == "listed":
        return None
    _, error = calibration.average(epsilon)
    means, _ = calibration.unchanged(epsilon)
    mechanism = calibration.mechanism(calibration.embedding, epsilon=epsilon)
    return sum_of_unchanged(mechanism, calibration.ids, means, error, at_random=calibration.at_random)


def spread_of(values: Floats | Ids, *, smallest_is_worst: bool = False, with_mean: bool = False) -> Spread:
    """Return median, 95 % and worst of the values; the worst words have the largest values, or the
    smallest."""
    return Spread(
        median=float(np.median(values)),
        most=float(np.quantile(values, 0.05 if smallest_is_worst else 0.95)),
        worst=float(np.min(values) if smallest_is_worst else np.max(values)),
        mean=float(values.mean()) if with_mean else None,
    )


def worst_words(calibration: Calibration, choice: Choice, count: int = 20) -> list[WordRow]:
    """Return the words that change least at the chosen ε."""
    return describe_words(calibration, choice, np.argsort(-choice.unchanged, kind="stable")[:count])


def describe_words(calibration: Calibration, choice: Choice, rows: Ids) -> list[WordRow]:
    """Return what is known of the words in these rows at the chosen ε."""
    embedding, protected = calibration.embedding, calibration.protected
    distinct = calibration.distinct_at(choice.epsilon)
    if distinct is not None:
        distinct = distinct[rows]
    elif choice.targets.min_distinct is not None and isinstance(calibration, RayCalibration):
        distinct = calibration.distinct_words.at(rows, choice.epsilon)
    return [
        WordRow(
            word=embedding.words[word],
            protected=bool(protected[row]),
            unchanged=float(choice.unchanged[row]),
            standard_error=float(choice.errors[row]),
            at_most=float(choice.upper[row]),
            distinct=None if distinct is None else int(distinct[place]),
            nearest_neighbour_at=nearest_distance(embedding, word),
            norm=float(np.linalg.norm(embedding.vectors[word].astype(np.float64))),
        )
        for place, (row, word) in enumerate(zip(rows.tolist(), calibration.ids[rows].tolist(), strict=True))
    ]


def word_cells(
    rows: Sequence[WordRow], *, shown: Callable[[str], str] = str
) -> tuple[list[str], list[list[str]]]:
    """Return the columns and the rows of a table of words, each word as ``shown`` returns it; protected ones
    are marked in the second column, if there are any."""
    marks = any(row.protected for row in rows)
    columns = ["N_w", "± error", "at most", "nearest neighbour at", "length of its vector"]
    cells = []
    for row in rows:
        near = "none" if row.nearest_neighbour_at is None else f"{row.nearest_neighbour_at:.2f}"
        shares = (percent(row.unchanged), percent(row.standard_error), percent_up(row.at_most))
        protected = ["yes" if row.protected else "no"] * marks
        cells.append([shown(row.word), *protected, *shares, near, f"{row.norm:.2f}"])
    return ["word", *["protected"] * marks, *columns], cells


def nearest_distance(embedding: Embedding, word: int) -> float | None:
    """Return the distance to the nearest word with another vector among the next few, if there is one."""
    _, distances = best_neighbours(embedding).nearest_k(
        embedding.rows(np.array([word])), min(8, len(embedding))
    )
    apart = distances[0][distances[0] > 0.0]
    return float(apart[0]) if len(apart) else None
