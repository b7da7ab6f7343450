"""P(y | x) of some outputs by columns, a dense column at a time: how likely each word is to have been the
input when a word is released.

A mechanism that releases the word nearest to a noisy point has its columns from points in the cells of these
outputs alone (``points``); others from the rows of a channel. An estimate from few points makes a weaker
reader, never a wrong number: judge a reader on draws that the estimate has not seen.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np

from deniable.arrays import Floats, Ids, Vectors
from deniable.channel.making import DIRECTIONS, make_rows
from deniable.channel.point_sums import sums_of
from deniable.channel.points import (
    FEWEST_POINTS_EACH,
    MOST_NUMBERS,
    SharedPoints,
    draw_points,
    draws_for_outputs,
)
from deniable.channel.rows import shares_points
from deniable.interfaces import Mechanism
from deniable.mechanisms.base import NearestWord, method_of

POINTS = 128
"""At most so many points of each output are kept."""

_OUTPUTS_AT_ONCE = 256
_MOST_PAIRS = 1 << 32
_LEAST = float(np.finfo(np.float32).tiny)

_OWN_SEEDS, _PILOT_SEEDS = 1 << 40, 1 << 41
"""Where the seeds of points begin: draws that somebody is judged on never come from one of them."""


class Columns(Protocol):
    """Columns of a channel."""

    @property
    def inputs(self) -> Ids:
        """The ids of the input words, in the order of the columns' numbers."""
        ...

    @property
    def how(self) -> str:
        """From what the probabilities are known, in words."""
        ...

    def columns(self, outputs: Ids) -> Iterator[Floats]:
        """Yield for each output its probability for every input word."""
        ...


def columns_of(
    mechanism: Mechanism, outputs: Ids, *, seed: int, points: int = POINTS, draws: int = DIRECTIONS
) -> Columns:
    """Return the columns of some outputs, from all words of the embedding.

    At most ``points`` of each output are kept. A mechanism that only draws tell of is drawn ``draws`` times
    of each word.
    """
    inputs = np.arange(len(mechanism.embedding), dtype=np.int64)
    if isinstance(mechanism, NearestWord) and shares_points(mechanism, inputs):
        return PointColumns(mechanism, outputs, points=points, seed=seed)
    directions = draws if method_of(mechanism) == "simulation" else DIRECTIONS
    return make_rows(mechanism, inputs, outputs=np.unique(outputs), directions=directions)


class PointColumns:
    """The columns of some outputs at one ε, computed when they are asked for from points that were drawn
    before."""

    def __init__(self, mechanism: NearestWord, outputs: Ids, *, points: int, seed: int) -> None:
        words, outputs = len(mechanism.embedding), np.unique(outputs)
        self.inputs = np.arange(words, dtype=np.int64)
        keep = max(
            FEWEST_POINTS_EACH,
            min(points, MOST_NUMBERS // max(1, len(outputs) * mechanism.embedding.dimension)),
        )
        self.how = f"at most {keep:,} points of each released word"
        each = draws_for_outputs(mechanism, self.inputs, outputs, seed=_PILOT_SEEDS + seed)
        self.points = draw_points(
            mechanism,
            self.inputs,
            each,
            seed=_OWN_SEEDS + seed,
            of=outputs,
            keep=keep,
            in_all=_MOST_PAIRS // words,
        )
        self._place = {int(word): place for place, word in enumerate(self.points.outputs)}

    def columns(self, outputs: Ids) -> Iterator[Floats]:
        """Yield for each output its probability for every input word; at least what float32 tells from 0."""
        for start in range(0, len(outputs), _OUTPUTS_AT_ONCE):
            places = np.array(
                [self._place[int(word)] for word in outputs[start : start + _OUTPUTS_AT_ONCE]], dtype=np.int64
            )
            wanted, back = np.unique(places, return_inverse=True)
            columns = _dense(self.points.some(wanted))
            for place in back:
                column: Floats = np.maximum(columns[place].astype(np.float64), _LEAST)
                yield column


def _dense(points: SharedPoints) -> Vectors:
    """Return P(y | x), a row for each output."""
    columns = np.empty((len(points.outputs), len(points.inputs)), dtype=np.float32)

    def take(start: int, block: Vectors) -> None:
        columns[:, start : start + len(block)] = block.T

    for _ in sums_of(points).rows(slice(0, len(points.inputs)), take):
        pass
    return columns
