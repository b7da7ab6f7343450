"""What is known of the words of an embedding under a mechanism, and how it is measured and kept: the same for
rays (``by_rays``) and for sums and draws (``table``)."""

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
from deniable.calibration.bounds import hoeffding, simultaneous_upper
from deniable.channel.distribution import ETA
from deniable.channel.store import Columns, ColumnStore, folder_name
from deniable.embeddings.embedding import Embedding
from deniable.errors import InvalidParameter
from deniable.measures.capacity import capacity, sum_of_unchanged
from deniable.measures.estimate import Estimate
from deniable.mechanisms.base import Method
from deniable.mechanisms.catalogue import ChosenMechanism
from deniable.parameters import validated_epsilon
from deniable.progress import Report
from deniable.report.wording import most_words, percent, words

GRID_VALUES = 12
"""At how many values of ε words are measured, unless they are given."""

_MOST_SUMS, _DRAWS_FOR_CAPACITY = 1 << 28, 4_000

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
    listed = "all"
    if ids is not None:
        listed = hashlib.blake2b(np.ascontiguousarray(ids, dtype="<i8").data, digest_size=8).hexdigest()
    settings = {
        "fingerprint": embedding.fingerprint,
        "words": listed,
        "walks": support,
        "eta": ETA if support else None,
        **settings,
    }
    if support:
        values = GRID_VALUES if epsilons is None else len(epsilons)
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
    tell = report or (lambda *_: None)
    with store.opened():
        if not store.complete:
            tell(store.done, store.rows)
            grid = np.asarray(store.arrays["grid"][0]) if store.done and "grid" in columns else epsilons
            order, measure, at_once = prepare(grid)
            for start in range(store.done, store.rows, at_once):
                store.append(**measure(order[start : start + at_once]))
                tell(store.done, store.rows)
    known = {name: np.asarray(store.arrays[name]) for name in ("ids", *SUPPORT) if name in store.arrays}
    return store.arrays, {"folder": store.folder, **known}


@dataclass(frozen=True, kw_only=True)
class LookedAt:
    """How many words were looked at, of how many, and whether they were drawn at random from all."""

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
        if self.all:
            return f"all {words(self.count)}"
        chosen = "drawn at random" if self.at_random else "those asked for"
        return f"{self.count:,} of {words(self.vocabulary)}, {chosen}"

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
        """Whether N_w of every word is known to grow with ε."""
        return self.method != "simulation" and self.embedding.protection is None

    @property
    def protected(self) -> NDArray[np.bool_]:
        """Which of the words are protected, and go in as others."""
        return np.isin(self.ids, self.embedding.protected)

    @abstractmethod
    def unchanged(self, epsilon: float) -> tuple[Floats, Floats]:
        """Return N_w of every word at one ε, and the standard errors."""

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

    def prepare(self, epsilons: list[float]) -> None:  # noqa: B027 - most have nothing to prepare
        """Say which values of ε will be asked about: some things cost less for all of them at once."""

    def unchanged_or_stand_in(self, epsilon: float) -> Floats:
        """Return what targets are held against: N_w, or how often its stand-in stays, where a word is
        protected and that is more."""
        return self.unchanged(epsilon)[0]

    def unchanged_draws(self, epsilon: float) -> Ids | None:  # noqa: ARG002
        """Return the paper's N_w: how many of one draw per ray leave each word as it is; None without
        rays."""
        return None

    def spread_at(self, epsilon: float) -> Rows | None:
        """Return the statistics of ``SUPPORT`` at one ε; None if they were not measured there."""
        at = np.flatnonzero(self.epsilons == epsilon)
        if self.distinct is None or not len(at):
            return None
        return {name: getattr(self, name)[:, at[0]] for name in SUPPORT}

    def distinct_words(
        self,
        rows: Ids,
        epsilon: float,
        enough: int | None = None,  # noqa: ARG002
        *,
        report: Report | None = None,  # noqa: ARG002
    ) -> Ids:
        """Return the distinct words of these rows at one ε; a word with ``enough`` of them may have more.

        :raises InvalidParameter: if distinct words were not counted at this ε, and cannot be now.
        """
        if (spread := self.spread_at(epsilon)) is None:
            raise InvalidParameter("epsilon", epsilon, "distinct words were not counted at this value")
        distinct: Ids = spread["distinct"][rows]
        return distinct

    def summed_capacity(self, epsilon: float) -> Estimate | None:
        """Return the capacity of the mechanism as the sum of N_w, which takes no draws; None where that is
        not right."""
        if self.method == "exact" or self.looked_at.how == "listed":
            return None
        _, error = self.average(epsilon)
        means, _ = self.unchanged(epsilon)
        mechanism = self.mechanism(self.embedding, epsilon=epsilon)
        return sum_of_unchanged(mechanism, self.ids, means, error, at_random=self.at_random)

    def capacity(self, epsilon: float) -> Estimate | None:
        """Return the capacity of the mechanism for words released by the default policies; None where it is
        not known.

        Where it is not the sum of N_w it is estimated or summed for itself, if that does not take minutes.
        """
        if self.looked_at.how == "listed":
            return None
        if (summed := self.summed_capacity(epsilon)) is not None:
            return summed
        if self.method == "exact" and len(self.embedding) ** 2 > _MOST_SUMS:
            return None
        return capacity(self.mechanism(self.embedding, epsilon=epsilon), draws=_DRAWS_FOR_CAPACITY)

    def upper(self, means: Floats, errors: Floats) -> Floats:
        """Return what no N_w of the words looked at exceeds, all at once, with 95 % confidence."""
        if self.method == "exact":
            return _without_rounding(means)
        return simultaneous_upper(means, errors, self.draws, words=len(means))

    def growing_upper(self, means: Floats, alpha: float) -> Floats:
        """Return what no N_w of the words looked at exceeds, unless an event of probability α happened.

        This is Hoeffding's bound alone. It grows with the means, and so with ε wherever N_w does.
        """
        if self.method == "exact":
            return _without_rounding(means)
        return hoeffding(means, math.log(2.0 * len(means) / alpha) / self.draws)


def _without_rounding(means: Floats) -> Floats:
    """Return a bound on exact sums: the sums themselves, but for the error of rounding."""
    return np.minimum(means + 1e-9, 1.0)
