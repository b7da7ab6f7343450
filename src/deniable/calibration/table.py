"""Measures words at some values of ε, by exact sums or by draws, for mechanisms that have no radial noise.

- ``exact``: the mechanism sums its own distribution (the softmax family, CusText, randomised response).
  Standard errors are 0, and ``distinct`` is the expected number of distinct words in that many draws, Σ_y 1 -
  (1 - p(y))^draws, rounded down.
- ``simulation``: all others (Vickrey, rank smoothing), by draws of the mechanism itself for each word and ε,
  from a public seed. Words that were not drawn are missing from S_w, as they are with rays. Radial noise is
  measured so too, by secure draws on a device that was asked for.

A word stays itself when the first word of its vector comes out, and a protected word when that of its
stand-in does, as with rays; or when it comes out itself after all, if that is more likely: one of the two
nearest words of its stand-in may well be the word itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from deniable.arrays import Floats, Ids
from deniable.calibration.by_rays import support_statistics
from deniable.calibration.calibration import (
    GRID_VALUES,
    SUPPORT,
    Calibration,
    Rows,
    Work,
    checked_epsilons,
    measured_arrays,
    public_sample,
)
from deniable.channel.distribution import Distribution
from deniable.channel.draws import Draws
from deniable.channel.rays.rays import Envelope
from deniable.channel.rays.statistics import GROUPS, LengthFunction
from deniable.embeddings.embedding import Embedding
from deniable.mechanisms.base import draws_on_gpu, exact_sums, method_of
from deniable.mechanisms.catalogue import ChosenMechanism
from deniable.neighbours import best_neighbours
from deniable.neighbours.selection import first_of_each
from deniable.noise.randomness import SecureRandomness
from deniable.parameters import validated_count, validated_epsilon
from deniable.progress import Report

SEED = 5
_GPU_SEED = "none: secure draws on a GPU"
_DRAWS_AT_ONCE, _DRAWS_AT_ONCE_ON_A_GPU = 1 << 16, 1 << 24
_WORDS_AT_ONCE = 256
_SUPPORT, _RANGE = (0.02, 0.95), np.geomspace(1e-2, 1e4, 37)
_WORDS_TO_FIND_THE_RANGE, _DRAWS_TO_FIND_THE_RANGE = 64, 50


@dataclass(frozen=True, kw_only=True)
class TableCalibration(Calibration):
    """A calibration at some ε. ``stays`` is N_w at ``epsilons``, a column for each, and ``errors`` the
    standard errors.

    ``on_gpu`` says that the draws were secure ones on a device, which come from no seed.
    """

    stays: Floats
    errors: Floats
    on_gpu: bool = False
    _more: dict[float, TableCalibration] = field(default_factory=dict, repr=False, compare=False)

    def unchanged(self, epsilon: float) -> tuple[Floats, Floats]:
        """Return N_w of every word at one ε, and the standard errors; a value that is not in the table is
        measured now."""
        known = np.flatnonzero(self.epsilons == epsilon)
        if len(known):
            return self.stays[:, known[0]], self.errors[:, known[0]]
        if epsilon not in self._more:
            self.measure_more(np.array([validated_epsilon(epsilon)]))
        return self._more[epsilon].unchanged(epsilon)

    def spread_at(self, epsilon: float) -> Rows | None:
        """Return the statistics of ``SUPPORT`` at one ε; None if they were not measured there."""
        more = self._more.get(epsilon)
        return super().spread_at(epsilon) if more is None else more.spread_at(epsilon)

    def measure_more(self, epsilons: Floats) -> None:
        """Measure the same words at more values of ε, in one pass."""
        found = measure_table(
            self.embedding,
            self.mechanism,
            draws=self.draws,
            ids=self.ids,
            epsilons=epsilons,
            support=self.distinct is not None,
            keep=self.folder is not None,
        )
        self._more.update(dict.fromkeys(found.epsilons.tolist(), found))

    def average(self, epsilon: float) -> tuple[float, float]:
        """Return the average of N_w over the words, and its standard error: different words have different
        draws."""
        means, errors = self.unchanged(epsilon)
        return float(means.mean()), float(np.sqrt(np.square(errors).sum())) / len(errors)

    def epsilon_reaching(self, share: float) -> float:
        """Return the ε, to three digits, at which the average N_w is about this share, or as nearly as any
        is: in a straight line between two values of the table."""
        epsilons = np.sort(self.epsilons)
        averages = [self.average(epsilon)[0] for epsilon in epsilons.tolist()]
        # Draws may fall back by chance; what is looked for is where the share is reached for the first time.
        reached = np.interp(share, np.maximum.accumulate(averages), np.log(epsilons))
        return float(f"{np.exp(reached):.3g}")

    def span(self, values: int) -> list[float]:
        """Return the values that were measured: more would be another pass over all words."""
        del values
        return self.note_epsilons()

    def note_epsilons(self) -> list[float]:
        """Return the values that were measured."""
        return sorted({*self.epsilons.tolist(), *self._more})


def measure_table(
    embedding: Embedding,
    mechanism: ChosenMechanism,
    *,
    draws: int = 1000,
    ids: Ids | None = None,
    epsilons: Floats | None = None,
    support: bool = False,
    keep: bool = True,
    report: Report | None = None,
) -> TableCalibration:
    """Return the calibration of all words, or of ``ids``, at ``epsilons`` or at twelve values; from the disk
    as far as it is there.

    ``draws`` is the number of draws for each word and ε; for the others see ``measure_by_rays``.

    :raises InvalidParameter: if there is no word to look at, or a number is not allowed.
    :raises DamagedCalibration: if what is on the disk cannot be trusted.
    :raises CalibrationInProgress: if another process is computing it.
    """
    draws, epsilons = validated_count(draws, "draws"), checked_epsilons(ids, epsilons)
    words = np.arange(len(embedding)) if ids is None else np.asarray(ids, dtype=np.int64)
    on_gpu = draws_on_gpu(mechanism(embedding, epsilon=1.0), SecureRandomness())
    settings: dict[str, Any] = {
        "mechanism": mechanism.identity(embedding),
        "rays": draws,
        "seed": _GPU_SEED if on_gpu else SEED,
        "groups": GROUPS if support else None,
        "epsilons": "auto" if epsilons is None else epsilons.tolist(),
    }
    if embedding.protection is not None:
        settings["protected"] = "as its stand-in or as itself"
    values = GRID_VALUES if epsilons is None else len(epsilons)

    def prepare(grid: Floats | None) -> Work:
        grid = epsilon_range(embedding, mechanism) if grid is None else grid
        table = _Table(embedding, mechanism, grid, draws=draws, support=support)
        return words, table.rows, table.at_once

    arrays, known = measured_arrays(
        embedding,
        settings,
        {"ids": ("<i8", ())} | dict.fromkeys(("grid", "stays", "errors"), ("<f8", (values,))),
        prepare,
        ids=ids,
        epsilons=epsilons,
        support=support,
        keep=keep,
        report=report,
    )
    return TableCalibration(
        embedding=embedding,
        mechanism=mechanism,
        method="exact" if method_of(mechanism(embedding, epsilon=1.0)) == "exact" else "simulation",
        draws=draws,
        epsilons=np.asarray(arrays["grid"][0]),
        stays=np.asarray(arrays["stays"]),
        errors=np.asarray(arrays["errors"]),
        on_gpu=on_gpu,
        **known,
    )


def epsilon_range(embedding: Embedding, mechanism: ChosenMechanism, values: int = GRID_VALUES) -> Floats:
    """Return values of ε from where an average word hardly ever stays (2 %) to where it mostly does (95 %),
    as far as it does."""
    ids = public_sample(len(embedding), _WORDS_TO_FIND_THE_RANGE, seed=3)
    averages = (
        _Table(embedding, mechanism, _RANGE, draws=_DRAWS_TO_FIND_THE_RANGE).rows(ids)["stays"].mean(axis=0)
    )
    below, above = np.flatnonzero(averages < _SUPPORT[0]), np.flatnonzero(averages > _SUPPORT[1])
    low = float(_RANGE[below[-1]]) if len(below) else float(_RANGE[0])
    high = float(_RANGE[above[0]]) if len(above) else float(_RANGE[-1])
    return np.array([float(f"{epsilon:.3g}") for epsilon in np.geomspace(low, max(high, 1.01 * low), values)])


class _Table:
    """Computes the rows of a table: statistics of words at all of its ε."""

    def __init__(
        self,
        embedding: Embedding,
        mechanism: ChosenMechanism,
        grid: Floats,
        *,
        draws: int,
        support: bool = False,
    ) -> None:
        self._embedding, self._grid, self._draws, self._support = embedding, grid, draws, support
        self._made = [mechanism(embedding, epsilon=epsilon) for epsilon in grid.tolist()]
        self.sums = exact_sums(self._made[0])
        self._on_gpu = draws_on_gpu(self._made[0], SecureRandomness())
        self._first, self._length = first_of_each(embedding), LengthFunction("gamma", 1)

    @property
    def at_once(self) -> int:
        """How many words are best asked for at once."""
        if self.sums is not None:
            return _WORDS_AT_ONCE
        if self._on_gpu:
            return max(1, _DRAWS_AT_ONCE_ON_A_GPU // (self._draws * len(self._made)))
        return max(1, _DRAWS_AT_ONCE // self._draws)

    def rows(self, ids: Ids) -> Rows:
        """Return the columns of the store for these words."""
        shape = (len(ids), len(self._grid))
        rows: Rows = {"ids": ids, "grid": np.tile(self._grid, (len(ids), 1))}
        rows |= {name: np.zeros(shape) for name in ("stays", "errors")}
        for name in SUPPORT if self._support else ():
            rows[name] = np.zeros((*shape, 4) if name.startswith("entrop") else shape)
        for row, columns in enumerate(self._by_sums(ids) if self.sums is not None else self._by_draws(ids)):
            for column, numbers in enumerate(columns):
                for name, value in numbers.items():
                    rows[name][row, column] = value
        return rows

    def _by_sums(self, ids: Ids) -> Iterator[Iterator[dict[str, Any]]]:
        sums, entering = self.sums, self._embedding.stands_in(ids)
        assert sums is not None  # noqa: S101 - said by the caller
        for own, (outputs, chances) in zip(
            self._own(ids, entering), sums.distributions(entering, self._grid), strict=True
        ):
            yield (self._summed(outputs, row, own) for row in chances)

    def _summed(self, outputs: Ids, chances: Floats, own: set[int]) -> dict[str, Any]:
        numbers: dict[str, Any] = {"stays": max(chances[outputs == word].sum() for word in own)}
        if not self._support:
            return numbers
        order = np.argsort(-chances, kind="stable")
        whole = Distribution(
            words=outputs[order], probabilities=chances[order], standard_errors=np.zeros(len(order))
        )
        with np.errstate(divide="ignore"):
            distinct = np.floor(-np.expm1(self._draws * np.log1p(-chances)).sum() * (1.0 + 1e-12))
        return numbers | {"distinct": distinct, "support": whole.support(), "entropies": whole.entropies()}

    def _by_draws(self, ids: Ids) -> Iterator[Iterator[dict[str, Any]]]:
        entering = self._embedding.stands_in(ids)
        own = self._own(ids, entering)
        # One seed for all ε: what is found at one does not depend on which others were asked for.
        seed, repeated = (SEED << 48) + int(ids[0]), np.repeat(entering, self._draws)
        drawn = [
            (
                made.perturb(repeated, SecureRandomness())
                if self._on_gpu
                else Draws(made, seed=seed).of_each(repeated)
            ).reshape(len(ids), self._draws)
            for made in self._made
        ]
        for its_own, *released in zip(own, *drawn, strict=True):
            yield (self._drawn(each, its_own) for each in released)

    def _drawn(self, released: Ids, own: set[int]) -> dict[str, Any]:
        stays = max((released == word for word in sorted(own)), key=np.count_nonzero)
        error = stays.std(ddof=min(1, len(stays) - 1)) / np.sqrt(len(stays))
        numbers: dict[str, Any] = {"stays": stays.mean(), "errors": error}
        if not self._support:
            return numbers
        # A draw is a ray that turns into its word at once: then the same arithmetic serves both.
        draws = Envelope(
            start=min(own), counts=np.ones_like(released), winners=released, radii=np.zeros(len(released))
        )
        return numbers | support_statistics(draws, 1.0, self._length, draws.radii)

    def _own(self, ids: Ids, entering: Ids) -> list[set[int]]:
        """Return for each word those that count as staying: the first with its vector and, of a protected
        word, its stand-in's own.

        The own word of ⊥ is the one nearest to it.
        """
        unknown = entering == self._embedding.unknown_id
        own: Ids = self._first[np.where(unknown, 0, entering)]
        if unknown.any():
            own[unknown] = best_neighbours(self._embedding).nearest(self._embedding.unknown[None, :])[0]
        return [{*pair} for pair in zip(own.tolist(), self._first[ids].tolist(), strict=True)]
