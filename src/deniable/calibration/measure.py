"""Looks at every word: fills a calibration, or continues one, and reads it back."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from deniable.calibration.gamma import GammaFunction, gamma_draws
from deniable.calibration.rays import SEED, TABLE_BYTES, Envelope, Rays
from deniable.calibration.results import Store, calibration_folder, words_digest
from deniable.calibration.statistics import ETA, GROUPS, distinct_words, furthest_radius, jackknife, output_distribution, unchanged
from deniable.embeddings.embedding import Embedding
from deniable.errors import InvalidParameter
from deniable.interfaces import Floats, Ids
from deniable.neighbours.threads import threads
from deniable.parameters import validated_count, validated_epsilon

GRID_VALUES = 12
_PAIRS_AT_ONCE = 256_000
_PAIRS_AT_ONCE_IN_PARTS, _WALKS_AT_ONCE_IN_PARTS = 16_384_000, 1_024_000  # many, so that the parts' tables are seldom made again
_WORDS_TO_FIND_THE_RANGE = 256

Report = Callable[[int, int], None]


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """What was found for the words ``ids`` (row i of every array is word ``ids[i]``).

    ``radii`` are the first breakpoints, so N_w is known at every ε. The statistics of the walks are there at ``epsilons``
    only, and None if no walks were asked for: ``distinct`` words among one draw a ray, the ``support`` S_w, ``entropies``
    (H₀, H₁, H₂, H_∞ in bits), and the standard errors of the last two.
    """

    embedding: Embedding
    rays: int
    ids: Ids
    radii: Floats
    epsilons: Floats
    distinct: Ids | None
    support: Ids | None
    entropies: Floats | None
    folder: Path | None
    support_errors: Floats | None = None
    entropy_errors: Floats | None = None
    _seen: dict[float, tuple[Floats, Floats]] = field(default_factory=dict, repr=False, compare=False)

    @property
    def gamma(self) -> GammaFunction:
        """The distribution of the noise's length."""
        return GammaFunction(self.embedding.dimension)

    def unchanged(self, epsilon: float) -> tuple[Floats, Floats]:
        """Return N_w of every word at one ε, and the standard errors; what was computed once is remembered."""
        epsilon = validated_epsilon(epsilon)
        if epsilon not in self._seen:
            means, errors = unchanged(self.radii, np.array([epsilon]), self.gamma)
            self._seen[epsilon] = means[:, 0], errors[:, 0]
        return self._seen[epsilon]


def calibrate(
    embedding: Embedding,
    *,
    rays: int = 1000,
    ids: Ids | None = None,
    epsilons: Floats | None = None,
    walks: bool = False,
    eta: float = ETA,
    keep: bool = True,
    report: Report | None = None,
    table_bytes: int = TABLE_BYTES,
) -> Calibration:
    """Return the calibration of all words, or of ``ids``: from the disk as far as it was computed before.

    With ``walks`` the statistics S_w, distinct words and entropies are computed at ``epsilons``, or at twelve values from
    where hardly a word stays to where most do. ``report`` is told how many words are done, of how many, and first how
    many an earlier run did. What is done stays on the disk (unless ``keep`` is false), so an interrupted run is continued by
    the next. Projections take at most ``table_bytes`` of memory; the numbers do not depend on it.

    :raises InvalidParameter: if there is no word to look at, or a number is not allowed.
    :raises DamagedCalibration: if what is on the disk cannot be trusted.
    """
    rays = validated_count(rays, "rays")
    if ids is not None and not len(ids):
        raise InvalidParameter("words", "none", "there is no word to calibrate: none of them is in the embedding")
    if epsilons is not None and not len(epsilons):
        epsilons = None
    settings: dict[str, Any] = {
        "fingerprint": embedding.fingerprint,
        "rays": rays,
        "seed": SEED,
        "words": "all" if ids is None else words_digest(ids),
        "walks": walks,
        "eta": eta if walks else None,
        "epsilons": None if not walks else "auto" if epsilons is None else [validated_epsilon(float(e)) for e in epsilons],
    }
    if walks:
        settings["groups"] = GROUPS
    columns: dict[str, tuple[str, tuple[int, ...]]] = {"ids": ("<i8", ()), "radii": ("<f4", (rays,))}
    values = GRID_VALUES if epsilons is None else len(epsilons)
    if walks:
        columns |= {
            "distinct": ("<u4", (values,)),
            "support": ("<u4", (values,)),
            "entropies": ("<f4", (values, 4)),
            "support_errors": ("<f4", (values,)),
            "entropy_errors": ("<f4", (values, 4)),
            "grid": ("<f8", (values,)),
        }
    words = len(embedding) if ids is None else len(ids)
    folder = calibration_folder(embedding, settings)
    store: Store | _Memory = Store(folder, settings, columns, words) if keep else _Memory(columns, words)
    if not store.complete:
        engine = Rays(embedding, rays=rays, table_bytes=table_bytes)
        order = engine.order if ids is None else ids[np.argsort(engine.place(ids), kind="stable")]
        found = np.asarray(store.arrays["grid"][0]) if walks and store.done else epsilons
        grid = epsilon_range(engine) if walks and found is None else found
        pairs = _PAIRS_AT_ONCE if not engine.in_parts else _WALKS_AT_ONCE_IN_PARTS if walks else _PAIRS_AT_ONCE_IN_PARTS
        at_once = max(1, pairs // rays)
        if report is not None:
            report(store.done, words)
        for start in range(store.done, words, at_once):
            part = order[start : start + at_once]
            store.append(ids=part, **_rows(engine, part, None if not walks else grid, eta))
            if report is not None:
                report(store.done, words)
    arrays = store.arrays
    return Calibration(
        embedding=embedding,
        rays=rays,
        ids=np.asarray(arrays["ids"]),
        radii=arrays["radii"],
        epsilons=np.asarray(arrays["grid"][0]) if walks else np.array([] if epsilons is None else epsilons, dtype=np.float64),
        distinct=np.asarray(arrays["distinct"]) if walks else None,
        support=np.asarray(arrays["support"]) if walks else None,
        entropies=np.asarray(arrays["entropies"]) if walks else None,
        folder=folder if keep else None,
        support_errors=np.asarray(arrays["support_errors"]) if walks else None,
        entropy_errors=np.asarray(arrays["entropy_errors"]) if walks else None,
    )


def epsilons_of(calibration: Calibration) -> Floats:
    """Return values of ε that cover a calibration without walks, the ones it was asked about among them."""
    rows = np.linspace(0, len(calibration.ids) - 1, min(_WORDS_TO_FIND_THE_RANGE, len(calibration.ids))).astype(np.int64)
    found = _covering(np.asarray(calibration.radii[rows], dtype=np.float64), calibration.embedding.dimension, 2 * GRID_VALUES)
    return np.unique(np.concatenate([found, calibration.epsilons]))


def epsilon_range(engine: Rays, values: int = GRID_VALUES) -> Floats:
    """Return values of ε from where an average word hardly ever stays (2 %) to where it mostly does (95 %)."""
    ids = np.random.Generator(np.random.PCG64(3)).choice(
        len(engine.embedding), min(_WORDS_TO_FIND_THE_RANGE, len(engine.embedding)), replace=False
    )
    radii, _ = engine.first_breakpoints(np.sort(ids))
    return _covering(radii, engine.embedding.dimension, values)


def _covering(radii: Floats, dimension: int, values: int) -> Floats:
    gamma = GammaFunction(dimension)
    middle = dimension / float(np.median(radii)) if np.isfinite(np.median(radii)) else 1.0

    def reaching(share: float) -> float:
        low, high = middle * 1e-3, middle * 1e3
        for _ in range(60):
            tried = (low * high) ** 0.5
            low, high = (tried, high) if gamma(tried * radii).mean() < share else (low, tried)
        return high

    grid = np.geomspace(reaching(0.02), max(reaching(0.95), reaching(0.02) * 1.01), values)
    return np.array([float(f"{epsilon:.3g}") for epsilon in grid])


def _rows(engine: Rays, ids: Ids, grid: Floats | None, eta: float) -> dict[str, Any]:
    if grid is None:
        radii, _ = engine.first_breakpoints(ids)
        return {"radii": rounded_up(radii)}
    gamma, draws = GammaFunction(engine.embedding.dimension), gamma_draws(engine.rays, engine.embedding.dimension)

    def of_one_word(envelope: Envelope) -> tuple[Floats, list[tuple[Any, ...]]]:
        found = []
        for epsilon in grid.tolist():
            outputs = output_distribution(envelope, epsilon, gamma)
            counts = distinct_words(envelope, epsilon, draws), outputs.support(eta)
            found.append((*counts, outputs.entropies(), *jackknife(envelope, epsilon, gamma, eta)))
        return _first(envelope), found

    walks = engine.envelopes(ids, furthest=furthest_radius(float(grid.min()), gamma, draws))
    with ThreadPoolExecutor(threads()) as pool:  # NumPy lets go of the interpreter while it sorts and adds up
        radii, found = zip(*pool.map(of_one_word, walks), strict=True)
    names = ("distinct", "support", "entropies", "support_errors", "entropy_errors")
    columns = {name: np.array([[row[i] for row in rows] for rows in found]) for i, name in enumerate(names)}
    return {"radii": rounded_up(np.stack(radii)), **columns, "grid": np.tile(grid, (len(ids), 1))}


def _first(envelope: Envelope) -> Floats:
    radii = np.full(len(envelope.counts), np.inf)
    some = envelope.counts > 0
    radii[some] = envelope.radii[(np.cumsum(envelope.counts) - envelope.counts)[some]]
    return radii


def rounded_up(values: Floats) -> Floats:
    """Return float32 numbers that are no smaller than the values."""
    rounded = values.astype(np.float32)
    up: Floats = np.where(rounded < values, np.nextafter(rounded, np.float32(np.inf)), rounded)
    return up


class _Memory:
    """A store that keeps nothing."""

    def __init__(self, columns: dict[str, tuple[str, tuple[int, ...]]], words: int) -> None:
        self.arrays: dict[str, Any] = {name: np.empty((words, *shape), dtype=dtype) for name, (dtype, shape) in columns.items()}
        self.done, self.words = 0, words

    @property
    def complete(self) -> bool:
        return self.done == self.words

    def append(self, **rows: np.ndarray[Any, Any]) -> None:
        count = len(rows["ids"])
        for name, values in rows.items():
            self.arrays[name][self.done : self.done + count] = values
        self.done += count
