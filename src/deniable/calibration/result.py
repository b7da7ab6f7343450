"""What a calibration returns: a row for each ε, what is known of single words at the chosen one, and the
protected embedding that was made; and all of it in words, for terminal and page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from deniable.arrays import Floats, Ids
from deniable.calibration.calibration import Calibration, LookedAt
from deniable.calibration.choice import Choice
from deniable.embeddings.embedding import Embedding
from deniable.measures.estimate import Estimate
from deniable.neighbours import best_neighbours
from deniable.release.note import Spread
from deniable.report.wording import percent, percent_up, words

ENTROPIES = ("H0", "H1", "H2", "Hinf")
QUANTILES = (0.5, 0.95, 0.99, 1.0)


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
        known = self.capacity
        row = {
            "epsilon": self.epsilon,
            "unchanged": self.unchanged.to_dict(),
            "words_above_half": self.words_above_half,
            "capacity": None if known is None else {"value": known.value, "at_most": known.high},
        }
        if self.distinct is None or self.support is None:
            return row
        return row | {
            "distinct": self.distinct.to_dict(),
            "support": self.support.to_dict(),
            "mean_entropies_bits": dict(zip(ENTROPIES, self.mean_entropies, strict=True)),
        }


def row_at(calibration: Calibration, epsilon: float, sample: Calibration | None = None) -> EpsilonRow:
    """Return a row: N_w over the words looked at, and what those of ``sample`` may become where it is
    known."""
    means, _ = calibration.unchanged(epsilon)
    average, error = calibration.average(epsilon)
    spread, more = None if sample is None else sample.spread_at(epsilon), dict[str, Any]()
    if spread is not None:
        more = {
            "distinct": spread_of(spread["distinct"], smallest_is_worst=True, with_mean=True),
            "support": spread_of(spread["support"], smallest_is_worst=True),
            "mean_entropies": tuple(spread["entropies"].mean(axis=0).tolist()),
        }
    return EpsilonRow(
        epsilon=epsilon,
        average=average,
        error=error,
        quantiles=tuple(np.quantile(means, QUANTILES).tolist()),
        words_above_half=int((means > 0.5).sum()),
        capacity=None if sample is None else calibration.capacity(epsilon),
        **more,
    )


def spread_of(values: Floats | Ids, *, smallest_is_worst: bool = False, with_mean: bool = False) -> Spread:
    """Return median, 95 % and worst of the values; the worst words have the largest values, or the
    smallest."""
    return Spread(
        median=float(np.median(values)),
        most=float(np.quantile(values, 0.05 if smallest_is_worst else 0.95)),
        worst=float(np.min(values) if smallest_is_worst else np.max(values)),
        mean=float(values.mean()) if with_mean else None,
    )


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


def worst_words(calibration: Calibration, choice: Choice, count: int = 20) -> list[WordRow]:
    """Return the words that change least at the chosen ε."""
    return describe_words(calibration, choice, np.argsort(-choice.unchanged, kind="stable")[:count])


def describe_words(calibration: Calibration, choice: Choice, rows: Ids) -> list[WordRow]:
    """Return what is known of the words in these rows at the chosen ε."""
    embedding, protected, distinct = calibration.embedding, calibration.protected, None
    if choice.targets.min_distinct is not None or calibration.spread_at(choice.epsilon) is not None:
        distinct = calibration.distinct_words(rows, choice.epsilon)
    return [
        WordRow(
            word=embedding.words[word],
            protected=bool(protected[row]),
            unchanged=float(choice.unchanged[row]),
            standard_error=float(choice.errors[row]),
            at_most=float(choice.upper[row]),
            distinct=None if distinct is None else int(distinct[place]),
            nearest_neighbour_at=_nearest_distance(embedding, word),
            norm=float(np.linalg.norm(embedding.vectors[word].astype(np.float64))),
        )
        for place, (row, word) in enumerate(zip(rows.tolist(), calibration.ids[rows].tolist(), strict=True))
    ]


def _nearest_distance(embedding: Embedding, word: int) -> float | None:
    """Return the distance to the nearest word with another vector among the next few, if there is one."""
    rows = embedding.rows(np.array([word]))
    _, distances = best_neighbours(embedding).nearest_k(rows, min(8, len(embedding)))
    apart = distances[0][distances[0] > 0.0]
    return float(apart[0]) if len(apart) else None


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
    wish = f"{looked_at.share(targets.quantile)} {' and '.join(wishes)}" if wishes else ""
    if targets.max_capacity is not None:
        capacity = f"on average no chance to guess a word rises by more than {targets.max_capacity:g} times"
        wish = f"{wish}; {capacity}" if wishes else capacity
    failing = words(len(choice.failing)) if len(choice.failing) else ""
    if choice.meets_targets:
        exceptions = f" The exceptions, {failing}, are named below." if failing else ""
        return f"At ε = {choice.epsilon:g} the target is met: {wish}.{exceptions}"
    exceptions = f" {failing} do not." if failing else ""
    return f"At ε = {choice.epsilon:g} the target is missed. Asked for: {wish}.{exceptions}"


def limits_of(calibration: Calibration, choice: Choice, *, miss: str = "miss the targets") -> list[str]:
    """Return what no word exceeds, and what is known of words that were not looked at, in sentences;
    ``miss`` says what exposed words do."""
    looked_at, missing = calibration.looked_at, choice.missing
    sure = "exact" if calibration.method == "exact" else "95 % confidence for an ε fixed beforehand"
    none = "No word" if looked_at.all else f"None of {looked_at.them}"
    limits = [f"{none} stays itself in more than {percent_up(float(choice.upper.max()))} of draws ({sure})."]
    if not looked_at.all:
        others = words(looked_at.vocabulary - looked_at.count)
        limits.append(f"The other {others} were not looked at, and may stay themselves in all draws.")
    if missing is not None:
        limits.append(
            f"Of the whole vocabulary at most {percent_up(missing.at_most)} {miss} "
            f"({missing.provided}, by the random sample: {missing.counted:,} of {looked_at.them} may, by the "
            "error of their N_w)."
        )
    return limits


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
        if self.sample is self.calibration or not any(row.support for row in self.table):
            return None
        return len(self.sample.ids)

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
            missing = None if choice.missing is None else choice.missing.to_dict()
            answer |= {
                "epsilon": choice.epsilon,
                "targets": choice.targets.to_dict(),
                "meets_the_targets": choice.meets_targets,
                "targets_are_held_against": self.looked_at.share(choice.targets.quantile),
                "share_of_the_vocabulary_that_misses": missing,
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
