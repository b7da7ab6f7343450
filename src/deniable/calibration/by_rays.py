"""Measures words by rays: first breakpoints, which give N_w at every ε, and whole walks, which give what a
word becomes.

A protected word goes in as another, so its first breakpoints say how often that other word stays. The word
itself comes out where a ray from there crosses its cell: it has to be walked for, and it need not come out
more often when ε grows.

Distinct words of one draw per ray are counted without a walk: at one ε a draw is one length per ray. The word
that it ends in is found by one search, and by none where the draw is shorter than the ray's first breakpoint.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deniable.arrays import Floats, Ids
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
from deniable.channel.rays.rays import SEED, TABLE_BYTES, Envelope, Rays
from deniable.channel.rays.statistics import (
    GROUPS,
    LengthFunction,
    average_unchanged,
    distinct_words,
    distribution_on_rays,
    furthest_radius,
    jackknife,
    length_function,
    unchanged,
    unchanged_counts,
)
from deniable.channel.store import Columns
from deniable.embeddings.embedding import Embedding
from deniable.errors import InvalidParameter
from deniable.measures.estimate import halve
from deniable.mechanisms.base import radial_noise
from deniable.mechanisms.catalogue import ChosenMechanism
from deniable.neighbours.selection import first_of_each
from deniable.neighbours.threads import threads
from deniable.noise.randomness import RadialNoise
from deniable.parameters import validated_count, validated_epsilon
from deniable.progress import Report

_PAIRS_AT_ONCE = 256_000
_PAIRS_AT_ONCE_IN_PARTS, _WALKS_AT_ONCE_IN_PARTS = 16_384_000, 1_024_000
"""Many, where rays are taken in parts, so that the tables of the parts are seldom made again."""

_WORDS_TO_FIND_THE_RANGE = 256
_ROWS_FOR_AVERAGES = 2048
_SURELY_NARROW = 1.0 + 1e-10

_STAGES = (1.5, 2.2)
"""Where somebody asks for n distinct words, most words have them on so many times n rays."""


class ProtectedUnchanged(NamedTuple):
    """What protected words have at one ε: Pr[M(w) = w] with its standard error, and how many of one draw per
    ray gave the word."""

    means: Floats
    errors: Floats
    counts: Ids


@dataclass(frozen=True, kw_only=True)
class RayCalibration(Calibration):
    """A calibration by rays. ``radii`` are the first breakpoints, as lengths of noise at ε = 1, so N_w is
    known at every ε.

    Those of a protected word are its stand-in's; how often the word itself comes out is walked for when it is
    asked for.
    """

    noise: RadialNoise
    radii: Floats
    _seen: dict[float, tuple[Floats, Floats]] = field(default_factory=dict, repr=False, compare=False)
    _seen_protected: dict[float, ProtectedUnchanged] = field(default_factory=dict, repr=False, compare=False)
    _stages_of: dict[int | None, list[tuple[slice, Rays]]] = field(
        default_factory=dict, repr=False, compare=False
    )

    @cached_property
    def length(self) -> LengthFunction:
        """The distribution of the noise's length."""
        return length_function(self.noise)

    @cached_property
    def protected_rows(self) -> Ids:
        """The rows of protected words."""
        return np.flatnonzero(self.protected)

    @cached_property
    def engine(self) -> Rays:
        """The rays that it was measured by."""
        return Rays(self.embedding, self.noise, rays=self.draws)

    def unchanged(self, epsilon: float) -> tuple[Floats, Floats]:
        """Return N_w of every word at one ε, and the standard errors; they are remembered."""
        epsilon = validated_epsilon(epsilon)
        if epsilon not in self._seen:
            means, errors = (found[:, 0] for found in unchanged(self.radii, np.array([epsilon]), self.length))
            if len(self.protected_rows):
                own = self.protected_unchanged(epsilon)
                means[self.protected_rows], errors[self.protected_rows] = own.means, own.errors
            self._seen[epsilon] = means, errors
        return self._seen[epsilon]

    def unchanged_or_stand_in(self, epsilon: float) -> Floats:
        """Return what targets are held against: N_w, or how often its stand-in stays, where a word is
        protected and that is more."""
        means, rows = self.unchanged(epsilon)[0].copy(), self.protected_rows
        stand_ins = unchanged(self.radii[rows], np.array([epsilon]), self.length)[0][:, 0]
        means[rows] = np.maximum(means[rows], stand_ins)
        return means

    def prepare(self, epsilons: list[float]) -> None:
        """Walk the protected words once for all of these ε."""
        missing = [epsilon for epsilon in dict.fromkeys(epsilons) if epsilon not in self._seen_protected]
        if missing and len(self.protected_rows):
            ids = self.ids[self.protected_rows]
            self._seen_protected.update(
                measure_protected(self.embedding, self.noise, ids, missing, rays=self.draws)
            )

    def protected_unchanged(self, epsilon: float) -> ProtectedUnchanged:
        """Return how often each protected word comes out itself at one ε."""
        self.prepare([epsilon])
        return self._seen_protected[epsilon]

    def unchanged_draws(self, epsilon: float) -> Ids:
        """Return the paper's N_w: how many of one draw per ray leave each word as it is."""
        counts = unchanged_counts(self.radii, epsilon, self._draws)
        if len(self.protected_rows):
            counts[self.protected_rows] = self.protected_unchanged(epsilon).counts
        return counts

    def average(self, epsilon: float) -> tuple[float, float]:
        """Return the average of N_w over the words and its standard error, which counts that words share the
        rays."""
        means, _ = self.unchanged(epsilon)
        # The error is that of a ray's average over words; some words tell it well enough.
        _, error = average_unchanged(self.radii[self._some_rows()], epsilon, self.length)
        return float(means.mean()), error

    def epsilon_reaching(self, share: float) -> float:
        """Return the ε at which N_w is ``share`` on average over the words, or over 2,048 of them spread
        evenly where there are more."""
        return float(f"{_reaching(self.radii[self._some_rows()], self.length, share):.3g}")

    def span(self, values: int) -> list[float]:
        """Return this many values of ε from where one word in 200 stays on average to where all but one in
        200 do."""
        low, high = self.epsilon_reaching(0.005), self.epsilon_reaching(0.995)
        return sorted(
            {float(f"{epsilon:.3g}") for epsilon in np.geomspace(low, max(high, low * 1.5), values)}
        )

    def note_epsilons(self) -> list[float]:
        """Return values of ε that cover the calibration, the ones it was asked about among them."""
        rows = np.linspace(0, len(self.ids) - 1, min(_WORDS_TO_FIND_THE_RANGE, len(self.ids))).astype(
            np.int64
        )
        found = _covering(np.asarray(self.radii[rows], dtype=np.float64), self.length, 2 * GRID_VALUES)
        return [float(epsilon) for epsilon in np.unique(np.concatenate([found, self.epsilons]))]

    def distinct_words(
        self, rows: Ids, epsilon: float, enough: int | None = None, *, report: Report | None = None
    ) -> Ids:
        """Return the distinct words of these rows at one ε: those of whole walks, if there were any.

        A word that has ``enough`` on the first rays is not followed along the others, and may have more.
        """
        if (spread := self.spread_at(epsilon)) is not None:
            known: Ids = spread["distinct"][rows]
            return known
        tell, stages = report or (lambda *_: None), self._stages(enough)
        counts = np.zeros(len(rows), dtype=np.int64)
        pairs = _PAIRS_AT_ONCE_IN_PARTS if self.engine.in_parts else _PAIRS_AT_ONCE
        at_once = max(1, pairs // (stages[0][0].stop))
        for start in range(0, len(rows), at_once):
            tell(start, len(rows))
            left, met = np.arange(start, min(start + at_once, len(rows))), np.empty((0, 0), dtype=np.int64)
            for rays, engine in stages:
                some = rows[left]
                words = engine.winners_at(
                    self.ids[some], self._draws[rays] / epsilon, stays=self._stays(some, epsilon, rays)
                )
                met = np.sort(np.hstack([met.reshape(len(left), -1), words]), axis=1)
                counts[left] = 1 + np.count_nonzero(np.diff(met, axis=1), axis=1)
                few = counts[left] < (enough or 0)
                left, met = left[few], met[few]
                if not len(left):
                    break
        tell(len(rows), len(rows))
        return counts

    def _stages(self, enough: int | None) -> list[tuple[slice, Rays]]:
        """Return the rays that are followed one part after the other, where a word with ``enough`` distinct
        words is not followed along the others; all at once where their tables are too large to be kept."""
        if enough not in self._stages_of:
            ends = [] if enough is None or self.engine.in_parts else [int(s * enough) for s in _STAGES]
            edges = [0, *(end for end in ends if end < self.draws), self.draws]
            parts = [slice(*ends) for ends in pairwise(edges)]
            self._stages_of[enough] = [(part, self.engine.some(part)) for part in parts]
        return self._stages_of[enough]

    def _stays(self, rows: Ids, epsilon: float, rays: slice) -> NDArray[np.bool_]:
        """Return which draws surely stay in the cell they begin in; first breakpoints are kept rounded up to
        the next float32."""
        radii = np.asarray(self.radii[rows, rays], dtype=np.float32)
        return self._draws[rays] / epsilon < np.nextafter(radii, np.float32(0.0))

    @cached_property
    def _draws(self) -> Floats:
        """One length per ray: the paper's draws."""
        return self.length.draws(self.draws)

    def _some_rows(self) -> Ids:
        return np.unique(np.linspace(0, len(self.ids) - 1, _ROWS_FOR_AVERAGES).astype(np.int64))


def measure_by_rays(
    embedding: Embedding,
    *,
    mechanism: ChosenMechanism | None = None,
    rays: int = 1000,
    ids: Ids | None = None,
    epsilons: Floats | None = None,
    support: bool = False,
    keep: bool = True,
    report: Report | None = None,
    table_bytes: int = TABLE_BYTES,
) -> RayCalibration:
    """Return the calibration of all words, or of ``ids``, by rays: from the disk as far as it was computed
    before.

    It is that of the paper's mechanism, or of another with radial noise. With ``support`` the statistics S_w,
    distinct words and entropies are computed at ``epsilons``, or at twelve values from where hardly a word
    stays to where most do. What is done stays on the disk unless ``keep`` is false. ``report`` gets how many
    words are done, of how many, and first how many an earlier run did: an interrupted run is continued by the
    next. Projections take at most ``table_bytes`` of memory; the numbers do not depend on it.

    :raises InvalidParameter: if there is no word to look at, a number is not allowed, or the mechanism cannot
        be measured by rays.
    :raises DamagedCalibration: if what is on the disk cannot be trusted.
    :raises CalibrationInProgress: if another process is computing it.
    """
    rays, epsilons = validated_count(rays, "rays"), checked_epsilons(ids, epsilons)
    mechanism = ChosenMechanism() if mechanism is None else mechanism
    noise = radial_noise(mechanism(embedding, epsilon=1.0))
    if noise is None:
        raise InvalidParameter(
            "mechanism",
            mechanism.name,
            "does more than release the word nearest to noise: rays cannot measure it",
        )
    settings: dict[str, Any] = {
        "rays": rays,
        "seed": SEED,
        "epsilons": None if not support else "auto" if epsilons is None else epsilons.tolist(),
    }
    columns: Columns = {"ids": ("<i8", ()), "radii": ("<f4", (rays,))}
    if support:
        settings["groups"] = GROUPS
        columns["grid"] = ("<f8", (GRID_VALUES if epsilons is None else len(epsilons),))
    if not mechanism.is_papers:
        settings["mechanism"] = mechanism.identity(embedding)

    def prepare(grid: Floats | None) -> Work:
        engine = Rays(embedding, noise, rays=rays, table_bytes=table_bytes)
        order = engine.order
        if ids is not None:
            order = ids[np.argsort(engine.place(ids), kind="stable")]
        if support and grid is None:
            grid = epsilon_range(engine)
        pairs = _PAIRS_AT_ONCE
        if engine.in_parts:
            pairs = _WALKS_AT_ONCE_IN_PARTS if support else _PAIRS_AT_ONCE_IN_PARTS
        measured = grid if support else None
        return order, lambda part: {"ids": part, **_rows(engine, part, measured)}, max(1, pairs // rays)

    arrays, known = measured_arrays(
        embedding,
        settings,
        columns,
        prepare,
        ids=ids,
        epsilons=epsilons,
        support=support,
        keep=keep,
        report=report,
    )
    if support:
        epsilons = np.asarray(arrays["grid"][0])
    return RayCalibration(
        embedding=embedding,
        mechanism=mechanism,
        method="rays",
        noise=noise,
        draws=rays,
        radii=arrays["radii"],
        epsilons=np.array([]) if epsilons is None else epsilons,
        **known,
    )


def measure_protected(
    embedding: Embedding, noise: RadialNoise, ids: Ids, epsilons: list[float], *, rays: int
) -> dict[float, ProtectedUnchanged]:
    """Return how often protected words come out themselves at each ε, from one walk a word; of words with one
    vector the first counts."""
    engine, shape = Rays(embedding, noise, rays=rays), (len(epsilons), len(ids))
    length = length_function(engine.noise)
    draws, counts = length.draws(rays), np.zeros(shape, dtype=np.int64)
    means, errors = np.zeros(shape), np.zeros(shape)
    walks = engine.envelopes(ids, furthest=furthest_radius(min(epsilons), length, draws))
    for column, (word, envelope) in enumerate(
        zip(first_of_each(embedding)[ids].tolist(), walks, strict=True)
    ):
        for row, epsilon in enumerate(epsilons):
            outputs = distribution_on_rays(envelope, epsilon, length)
            own = outputs.words == word
            means[row, column] = outputs.probabilities[own].sum()
            errors[row, column] = outputs.standard_errors[own].sum()
            counts[row, column] = np.count_nonzero(envelope.at(draws / epsilon) == word)
    return {
        e: ProtectedUnchanged(means=m, errors=s, counts=c)
        for e, m, s, c in zip(epsilons, means, errors, counts, strict=True)
    }


def epsilon_range(engine: Rays, values: int = GRID_VALUES) -> Floats:
    """Return values of ε from where an average word hardly ever stays (2 %) to where it mostly does (95
    %)."""
    ids = public_sample(len(engine.embedding), _WORDS_TO_FIND_THE_RANGE, seed=3)
    return _covering(engine.first_breakpoints(ids)[0], length_function(engine.noise), values)


def typical_epsilon(radii: Floats, length: LengthFunction) -> float:
    """Return the ε at which the median length of the noise is the median of the radii; 1 where that says
    nothing."""
    finite = radii[np.isfinite(radii)]
    middle = float(np.median(finite)) if len(finite) else 0.0
    return length.quantile(0.5) / middle if middle > 0.0 else 1.0


def _covering(radii: Floats, length: LengthFunction, values: int) -> Floats:
    low, high = (_reaching(radii, length, share) for share in (0.02, 0.95))
    return np.array([float(f"{epsilon:.3g}") for epsilon in np.geomspace(low, max(high, low * 1.01), values)])


def _reaching(radii: Floats, length: LengthFunction, share: float) -> float:
    """Return the ε at which the average N_w of words with these first breakpoints is ``share``."""
    radii = np.asarray(radii, dtype=np.float64)
    middle = typical_epsilon(radii, length)

    def is_below(epsilon: float) -> bool:
        return float(unchanged(radii, np.array([epsilon]), length)[0].mean()) < share

    return halve(middle * 1e-4, middle * 1e4, is_below, narrow=_SURELY_NARROW)


def _rows(engine: Rays, ids: Ids, grid: Floats | None) -> Rows:
    if grid is None:
        return {"radii": round_up(engine.first_breakpoints(ids)[0])}
    length = length_function(engine.noise)
    draws = length.draws(engine.rays)

    def of_one_word(envelope: Envelope) -> tuple[Floats, list[dict[str, Any]]]:
        return _first(envelope), [support_statistics(envelope, e, length, draws) for e in grid.tolist()]

    walks = engine.envelopes(ids, furthest=furthest_radius(float(grid.min()), length, draws))
    with ThreadPoolExecutor(threads()) as pool:  # NumPy lets go of the interpreter while it sorts and adds up
        radii, found = zip(*pool.map(of_one_word, walks), strict=True)
    columns = {name: np.array([[row[name] for row in rows] for rows in found]) for name in SUPPORT}
    return {"radii": round_up(np.stack(radii)), **columns, "grid": np.tile(grid, (len(ids), 1))}


def support_statistics(
    envelope: Envelope, epsilon: float, length: LengthFunction, draws: Floats
) -> dict[str, Any]:
    """Return the statistics of ``SUPPORT`` of one word; ``draws`` are the lengths that distinct words are
    counted at."""
    outputs = distribution_on_rays(envelope, epsilon, length)
    counts = distinct_words(envelope, epsilon, draws), outputs.support()
    return dict(
        zip(SUPPORT, (*counts, outputs.entropies(), *jackknife(envelope, epsilon, length)), strict=True)
    )


def _first(envelope: Envelope) -> Floats:
    radii = np.full(len(envelope.counts), np.inf)
    some = envelope.counts > 0
    radii[some] = envelope.radii[(np.cumsum(envelope.counts) - envelope.counts)[some]]
    return radii


def round_up(values: Floats) -> Floats:
    """Return float32 numbers that are no smaller than the values."""
    rounded = values.astype(np.float32)
    up: Floats = np.where(rounded < values, np.nextafter(rounded, np.float32(np.inf)), rounded)
    return up
