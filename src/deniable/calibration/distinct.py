"""Counts the distinct words that one draw a ray gives, without walking the rays from their beginning.

At one ε a draw is one length per ray. Which word it ends in is one search, and none at all where the draw is
shorter than the ray's first breakpoint, which a calibration knows. At several ε the words at the two
outermost are searched for, and only rays on which these differ are walked from the one to the other: a ray
passes a word in one piece, so where they are the same there is no other between. The counts are those of
``statistics.distinct_words`` on whole walks, to the last word.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deniable.arrays import Floats, Ids
from deniable.channel.rays.rays import RadialRays
from deniable.channel.rays.statistics import LengthFunction, length_function
from deniable.progress import Report

_MOST_BYTES = 1 << 31
_PAIRS_AT_ONCE = 256_000
_PAIRS_AT_ONCE_IN_PARTS = 16_384_000  # many, so that the parts' tables are seldom made again


@dataclass(frozen=True, kw_only=True)
class Counts:
    """Distinct words of some words at rising ε: ``at`` has a row for each word and a column for each ε.

    ``least`` and ``most`` bound the count of each word anywhere between two neighbouring ε, a column for each
    pair.
    """

    at: Ids
    least: Ids
    most: Ids


class DistinctWords:
    """The distinct words of a calibration's words: row i is word ``ids[i]``, whose first breakpoints are
    ``radii[i]``."""

    def __init__(self, engine: RadialRays, ids: Ids, radii: Floats, *, report: Report | None = None) -> None:
        """Prepare to count; ``report`` is told of every pass over words how many are done."""
        self._engine, self._ids, self._radii, self._report = engine, ids, radii, report
        self.length: LengthFunction = length_function(engine.noise)
        self._draws = self.length.draws(engine.rays)
        self._last = _remembered((len(ids), engine.rays))

    def moved(self, rows: Ids, epsilon: float) -> Ids:
        """Return how many draws surely leave each word's cell: one more is the most distinct words there can
        be."""
        counts, at_once = np.empty(len(rows), dtype=np.int64), self._at_once
        for start in range(0, len(rows), at_once):
            part = slice(start, start + at_once)
            counts[part] = np.count_nonzero(~self._stays(rows[part], epsilon), axis=1)
        return counts

    def at(self, rows: Ids, epsilon: float) -> Ids:
        """Return the distinct words of these rows at one ε."""
        counts = np.empty(len(rows), dtype=np.int64)
        for part in self._parts(len(rows)):
            some, lengths = rows[part], self._draws / epsilon
            likely = None if self._last is None else self._last[some].astype(np.int64)
            words = self._engine.winners_at(
                self._ids[some], lengths, stays=self._stays(some, epsilon), likely=likely
            )
            counts[part] = _distinct(words)
            if self._last is not None:
                self._last[some] = words
        return counts

    def at_all(self, rows: Ids, epsilons: Floats) -> Counts:
        """Return the distinct words of these rows at each ε of a rising list."""
        low, high = float(epsilons[0]), float(epsilons[-1])
        shape, radii = (len(rows), len(epsilons)), self._draws / epsilons[:, None]
        counts, bounds = (
            np.empty(shape, dtype=np.int64),
            np.empty((2, len(rows), len(epsilons) - 1), dtype=np.int64),
        )
        for part in self._parts(len(rows)):
            some = rows[part]
            walks = self._engine.stretches(
                self._ids[some], self._draws / high, self._draws / low, stays=self._stays(some, high)
            )
            for row, walk in enumerate(walks, part.start):
                words = np.stack([walk.at(lengths) for lengths in radii])
                same = words[1:] == words[:-1]
                counts[row], least = _distinct(words), _distinct(np.where(same, words[1:], -1))
                bounds[:, row] = (
                    least - ~same.all(axis=1),
                    least - ~same.all(axis=1) + np.count_nonzero(~same, axis=1),
                )
        # Between two ε a ray may pass more words than those at its ends, but it gives one at each ε.
        return Counts(at=counts, least=bounds[0], most=bounds[1])

    def _stays(self, rows: Ids, epsilon: float) -> NDArray[np.bool_]:
        """Return which draws surely stay in the cell they begin in; first breakpoints are kept rounded up to
        the next float32."""
        kept = np.asarray(self._radii[rows], dtype=np.float32)
        stays: NDArray[np.bool_] = self._draws / epsilon < np.nextafter(kept, np.float32(0.0))
        return stays

    @property
    def _at_once(self) -> int:
        pairs = _PAIRS_AT_ONCE_IN_PARTS if self._engine.tables.in_parts else _PAIRS_AT_ONCE
        return max(1, pairs // self._engine.rays)

    def _parts(self, rows: int) -> Iterator[slice]:
        for start in range(0, rows, self._at_once):
            if self._report is not None:
                self._report(start, rows)
            yield slice(start, min(start + self._at_once, rows))
        if self._report is not None:
            self._report(rows, rows)


def _remembered(shape: tuple[int, int]) -> NDArray[np.int32] | None:
    """Return room for the word that each ray ended in last, which is likely at the next ε; on the disk, and
    none if there are too many."""
    size = 4 * shape[0] * shape[1]
    if size > _MOST_BYTES or not hasattr(os, "posix_fallocate"):
        return None
    try:
        with tempfile.TemporaryFile() as file:  # the map holds on to it
            os.posix_fallocate(
                file.fileno(), 0, size
            )  # a full disk is noticed here, and not when the map is written to
            words: NDArray[np.int32] = np.memmap(file, dtype=np.int32, mode="r+", shape=shape)
    except OSError:  # no room: then every search begins anew
        return None
    words[...] = -1
    return words


def _distinct(words: Ids) -> Ids:
    """Return how many distinct numbers each row has."""
    counts: Ids = np.count_nonzero(np.diff(np.sort(words, axis=-1), axis=-1), axis=-1) + 1
    return counts
