"""What was found for the words of an embedding under a mechanism: the same questions, however the answers are
computed.

How large N_w can be at most, for all words at once, with a stated confidence: for each word the rays or draws
give J independent numbers between 0 and 1 with mean N_w. Two bounds hold for such numbers whatever their
distribution, each with probability 1 - δ:

- Hoeffding (1963, theorem 1): J·kl(mean, N_w) ≤ ln(1/δ) where N_w is above the mean, kl being the relative
  entropy of two coins. It is sharp where the mean is near 0 or 1.
- Maurer and Pontil (2009, theorem 4): N_w ≤ mean + √(2·V·ln(2/δ)/J) + 7·ln(2/δ)/(3·(J - 1)), V the sample
  variance. It is sharp where the numbers vary little.

Each is used with δ = α/(2·words) and the smaller one is taken. By the union bound all of them hold together
with probability at least 1 - α, so also the one of the worst word. That the words share rays does not matter
to a union bound. The words and the ε must not have been chosen by looking at the same rays, except through
this bound itself: it holds for all words that were looked at, and for each fixed ε. Of words that were not
looked at it says nothing.

A statement about all words is made only where all words were looked at. Of words that somebody listed,
nothing follows for the others. Of words drawn at random from the vocabulary something follows: a bound on the
share of the vocabulary that misses a target.

The bound: n of N words are drawn without replacement, and k of them are counted as missing, also those that
might miss by the error of their N_w. Were more than M words of the vocabulary to miss, so few in the sample
would have a probability of at most δ; the largest M for which it is more gives the bound M/N (Clopper and
Pearson's, for a finite vocabulary). Half of δ is for the draw of the words, and half for their N_w:
Hoeffding's bound on each, for all of them at once.

The ε is often chosen by looking at these very words, so that k is not known beforehand. So each k = 0, 1, 2,
… has a δ of its own, α/((k + 1)(k + 2)), and all of them together make α. Where N_w grows with ε, the bound
of every k fails with probability δ at most, whatever ε is looked at: if it fails somewhere, then also at the
smallest ε where the vocabulary exceeds it, which no draw changes.
"""

from __future__ import annotations

import hashlib
import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from deniable.arrays import Floats, Ids
from deniable.channel.distribution import ETA
from deniable.channel.store import Columns, ColumnStore, folder_name
from deniable.embeddings.embedding import Embedding
from deniable.errors import InvalidParameter
from deniable.mechanisms.base import Method
from deniable.mechanisms.catalogue import ChosenMechanism
from deniable.parameters import validated_epsilon
from deniable.progress import Report
from deniable.report.wording import most_words, percent, words

GRID_VALUES = 12
"""At how many values of ε words are measured, unless they are given."""

CONFIDENCE = 0.95


SUPPORT = {
    "distinct": "<u4",
    "support": "<u4",
    "entropies": "<f4",
    "support_errors": "<f4",
    "entropy_errors": "<f4",
}
"""The statistics that need whole distributions, as they are stored."""

Rows = dict[str, NDArray[Any]]
"""What was measured of some words: a part of each array."""

Work = tuple[Ids, Callable[[Ids], Rows], int]
"""The words in the order in which they are measured, what measures some of them, and how many at a time."""


def public_sample(words: Ids | int, count: int, *, seed: int) -> Ids:
    """Return the ids of a sample of these words, or of the first ``words``, drawn with a public seed."""
    pool = np.arange(words) if isinstance(words, int) else words
    drawn: Ids = np.random.Generator(np.random.PCG64(seed)).choice(pool, min(count, len(pool)), replace=False)
    return np.sort(drawn)


def checked_epsilons(ids: Ids | None, epsilons: Floats | None) -> Floats | None:
    """Return the values of ε to measure at; None where they are still to be found.

    :raises InvalidParameter: if there is no word to look at, or an ε is not allowed.
    """
    if ids is not None and not len(ids):
        raise InvalidParameter(
            "words", "none", "there is no word to calibrate: none of them is in the embedding"
        )
    if epsilons is None or not len(epsilons):
        return None
    return np.array([validated_epsilon(float(epsilon)) for epsilon in epsilons])


def measured_arrays(
    embedding: Embedding,
    settings: dict[str, Any],
    columns: Columns,
    prepare: Callable[[Floats | None], Work],
    *,
    ids: Ids | None,
    epsilons: Floats | None,
    support: bool,
    keep: bool,
    report: Report | None,
) -> tuple[Rows, dict[str, Any]]:
    """Return the arrays of a calibration, from the disk as far as they are there, and the fields of any
    ``Calibration`` among them.

    ``prepare`` gets the values of ε that an interrupted run had found. ``report`` is called before anything
    is prepared, with how many words were there.

    :raises DamagedCalibration: if what is on the disk cannot be trusted.
    :raises CalibrationInProgress: if another process is computing it.
    """
    words = "all"
    if ids is not None:
        words = hashlib.blake2b(np.ascontiguousarray(ids, dtype="<i8").data, digest_size=8).hexdigest()
    settings = {
        "fingerprint": embedding.fingerprint,
        "words": words,
        "walks": support,
        "eta": ETA if support else None,
        **settings,
    }
    values = GRID_VALUES if epsilons is None else len(epsilons)
    if support:
        columns = columns | {
            name: (kind, (values, 4) if name.startswith("entrop") else (values,))
            for name, kind in SUPPORT.items()
        }
    store = ColumnStore(
        embedding.work_folder("calibrations") / folder_name(settings) if keep else None,
        settings,
        columns,
        len(embedding) if ids is None else len(ids),
        embedding=embedding.name,
        last_id=embedding.unknown_id,
    )
    with store.opened():
        if not store.complete:
            if report is not None:
                report(store.done, store.rows)
            grid = np.asarray(store.arrays["grid"][0]) if store.done and "grid" in columns else epsilons
            order, measure, at_once = prepare(grid)
            for start in range(store.done, store.rows, at_once):
                store.append(**measure(order[start : start + at_once]))
                if report is not None:
                    report(store.done, store.rows)
    known = {name: np.asarray(store.arrays[name]) for name in ("ids", *SUPPORT) if name in store.arrays}
    return store.arrays, {"folder": store.folder, **known}


@dataclass(frozen=True, kw_only=True)
class LookedAt:
    """How many words were looked at, of how many, and whether they were drawn at random from the whole
    vocabulary."""

    count: int
    vocabulary: int
    at_random: bool

    @property
    def all(self) -> bool:
        """Whether no word was left out."""
        return self.count == self.vocabulary

    @property
    def how(self) -> Literal["all", "at random", "listed"]:
        """How the words were chosen."""
        return "all" if self.all else "at random" if self.at_random else "listed"

    def __str__(self) -> str:
        """Return which words these are."""
        chosen = {"all": "", "at random": ", drawn at random", "listed": ", those asked for"}[self.how]
        return (
            f"all {words(self.count)}" if self.all else f"{self.count:,} of {words(self.vocabulary)}{chosen}"
        )

    @property
    def them(self) -> str:
        """The words as a sentence speaks of them again."""
        return "all words" if self.all else f"the {words(self.count)} looked at"

    def share(self, quantile: float) -> str:
        """Return which words a share of them is; never more than were looked at."""
        if self.all:
            return most_words(quantile)
        return f"{'each' if quantile == 1.0 else percent(quantile)} of {self.them}"

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        return {
            "words": self.count,
            "vocabulary": self.vocabulary,
            "chosen": self.how,
            "statement": str(self),
        }


@dataclass(frozen=True, kw_only=True)
class ShareBound:
    """The share of the vocabulary that misses the targets is ``at_most`` this, with 95 % confidence.

    ``counted`` words of the sample are counted as missing. ``for_any_epsilon`` says whether it holds for an ε
    that was chosen by looking at these words; otherwise it holds for one fixed beforehand.
    """

    at_most: float
    counted: int
    for_any_epsilon: bool

    @property
    def provided(self) -> str:
        """What the confidence depends on, in words."""
        return "95 % confidence" if self.for_any_epsilon else "95 % confidence, for an ε fixed beforehand"

    def to_dict(self) -> dict[str, Any]:
        """Return the bound as JSON-ready data."""
        return {
            "at_most": self.at_most,
            "confidence": CONFIDENCE,
            "words_counted_as_missing": self.counted,
            "holds_for": "an ε chosen on these words too"
            if self.for_any_epsilon
            else "an ε fixed beforehand",
        }


@dataclass(frozen=True, kw_only=True)
class Calibration(ABC):
    """What was found for the words ``ids`` (row i of every array is word ``ids[i]``).

    ``method`` says how, and ``draws`` is the number of directions or draws per word. The statistics that need
    whole distributions are there at ``epsilons`` only, and None if they were not asked for: ``distinct``
    words among that many draws, the ``support`` S_w, ``entropies`` (H₀, H₁, H₂, H_∞ in bits), and the
    standard errors of the last two. ``at_random`` says that the words were drawn at random from the
    vocabulary.
    """

    embedding: Embedding
    mechanism: ChosenMechanism
    method: Method
    draws: int
    ids: Ids
    epsilons: Floats
    folder: Path | None
    distinct: Ids | None = None
    support: Ids | None = None
    entropies: Floats | None = None
    support_errors: Floats | None = None
    entropy_errors: Floats | None = None
    at_random: bool = False

    @property
    def looked_at(self) -> LookedAt:
        """Which words these are, of those that the vocabulary has."""
        return LookedAt(count=len(self.ids), vocabulary=len(self.embedding), at_random=self.at_random)

    @property
    def grows(self) -> bool:
        """Whether N_w of every word is known to grow with ε: not under every mechanism, and not for protected
        words."""
        return self.method != "simulation" and self.embedding.protection is None

    @abstractmethod
    def unchanged(self, epsilon: float) -> tuple[Floats, Floats]:
        """Return N_w of every word at one ε, and the standard errors."""

    def unchanged_or_stand_in(self, epsilon: float) -> Floats:
        """Return what targets are held against: N_w, or how often its stand-in stays, where a word is
        protected and that is more."""
        return self.unchanged(epsilon)[0]

    @abstractmethod
    def prepare(self, epsilons: list[float]) -> None:
        """Say which values of ε will be asked about: some things cost less for all of them at once."""

    @property
    def protected(self) -> NDArray[np.bool_]:
        """Which of the words are protected, and go in as others."""
        return np.isin(self.ids, self.embedding.protected)

    @abstractmethod
    def average(self, epsilon: float) -> tuple[float, float]:
        """Return the average of N_w over the words at one ε, and its standard error."""

    @abstractmethod
    def epsilon_reaching(self, share: float) -> float:
        """Return an ε, of three digits, at which N_w is about this share on average over the words."""

    @abstractmethod
    def span(self, values: int) -> list[float]:
        """Return this many values of ε from where hardly a word stays to where nearly all do, or those that
        were measured."""

    @abstractmethod
    def note_epsilons(self) -> list[float]:
        """Return the values of ε that a note of this calibration holds."""

    def distinct_at(self, epsilon: float) -> Ids | None:
        """Return the distinct words of every word at one ε; None if they were not counted there."""
        known = np.flatnonzero(self.epsilons == epsilon)
        return None if self.distinct is None or not len(known) else self.distinct[:, known[0]]

    def upper(self, means: Floats, errors: Floats) -> Floats:
        """Return what no N_w of the words looked at exceeds, for all of them at once and with 95 %
        confidence."""
        return simultaneous_upper(means, errors, self.draws, words=len(means))

    def growing_upper(self, means: Floats, alpha: float) -> Floats:
        """Return what no N_w of the words looked at exceeds, unless an event of probability α happened.

        This is Hoeffding's bound alone. It grows with the means, and so with ε wherever N_w does.
        """
        return _hoeffding(means, math.log(2.0 * len(means) / alpha) / self.draws)


def bound_share(looked_at: LookedAt, missing: Callable[[float], int], *, grows: bool) -> ShareBound:
    """Return the bound, given how many words may miss the targets unless an event of a given probability
    happened.

    ``grows`` says whether N_w grows with ε.
    """
    k = missing(_level(0) / 2.0)
    while (more := missing(_level(k) / 2.0)) > k:
        k = more
    at_most = _finite_share(k, looked_at.count, looked_at.vocabulary, _level(k) / 2.0)
    return ShareBound(at_most=at_most, counted=k, for_any_epsilon=grows)


def _level(k: int) -> float:
    return (1.0 - CONFIDENCE) / ((k + 1) * (k + 2))


def _finite_share(hits: int, draws: int, population: int, level: float) -> float:
    """Return what the share of a population does not exceed unless an event of probability ``level``
    happened."""
    from scipy.stats import hypergeom

    low, high = hits, population - (draws - hits)  # the fewest and the most there can be
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (
            (middle, high) if hypergeom.cdf(hits, population, middle, draws) > level else (low, middle - 1)
        )
    return low / population


def simultaneous_upper(
    means: Floats, errors: Floats, draws: int, *, words: int, alpha: float = 0.05
) -> Floats:
    """Return what no N_w exceeds, with probability at least 1 - α for all words together.

    ``means`` and ``errors`` are those of ``statistics.unchanged``; ``words`` counts all the words that were
    looked at.
    """
    delta = alpha / (2.0 * words)
    by_variance = np.ones_like(means)
    if draws > 1:
        log = math.log(2.0 / delta)
        by_variance = means + errors * math.sqrt(2.0 * log) + 7.0 * log / (3.0 * (draws - 1))
    upper: Floats = np.minimum(np.minimum(by_variance, _hoeffding(means, math.log(1.0 / delta) / draws)), 1.0)
    return upper


def _hoeffding(means: Floats, allowance: float) -> Floats:
    """Return the largest u with kl(mean, u) ≤ allowance, rounded up, by halving."""
    means = np.clip(means, 0.0, 1.0)
    low, high = means.copy(), np.ones_like(means)
    for _ in range(50):
        middle = 0.5 * (low + high)
        inside = _relative_entropy(means, middle) <= allowance
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
    return high


def _relative_entropy(p: Floats, q: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        left = np.where(p > 0.0, p * np.log(p / q), 0.0)
        right = np.where(p < 1.0, (1.0 - p) * np.log((1.0 - p) / (1.0 - q)), 0.0)
    total: Floats = left + right
    return total
