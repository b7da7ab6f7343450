"""Rows of a channel: what each input word becomes, by exact sums, by rays, by shared points or by draws.

By rays: a direction from φ(x) crosses the cells of y₁, y₂, … at the lengths r₁ < r₂ < …, and P(y | x) is the
mean over directions of G(r_{i+1}) - G(r_i), G being the distribution function of the noise's length. Given
the directions, which are public and the same for all words, that is exact: nothing is drawn. Where a channel
has many words, points that all of them share say more of each than rays of its own (``points``). Rows of few
words stay as rays have them: they are looked at one by one, and then say what an explanation of the word
says.

A finite number of rays or draws misses outputs. How much probability they have together is estimated by
leaving one out (Good 1953): a further ray would meet words that no other met about as often as a ray meets
words that only it met. That share is taken off the outputs that were met, and the channel spreads it as its
rows do on average (``Channel.background``).
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from deniable.arrays import Floats, Ids, Vectors
from deniable.channel.channel import LEFT_OUT
from deniable.channel.draws import Draws
from deniable.channel.point_sums import ProcessorSums, sums_of
from deniable.channel.points import (
    NoiseMetric,
    draw_points,
    draws_each,
    draws_for_outputs,
    draws_of_inputs,
    points_each,
    points_in_all,
)
from deniable.channel.rays.rays import Envelope, Rays
from deniable.channel.rays.statistics import furthest_radius, length_function, row_on_rays
from deniable.channel.store import Row
from deniable.interfaces import Mechanism
from deniable.mechanisms.base import Method, NearestWord, exact_sums, method_of, radial_noise
from deniable.neighbours.selection import released_words
from deniable.neighbours.threads import threads
from deniable.progress import Report

if TYPE_CHECKING:
    from deniable.gpu.sums import GpuSums

SEED = 7
"""Draws on the processor come from this public seed: a channel is about public words, and anybody gets the
same one."""

PILOT_SEED = 8
"""Where points are drawn for some outputs alone, a pilot from this seed says around which words."""

MOST_OUTPUTS = 4_096
"""No row lists more outputs than this, but that of ⊥ by points; a softmax at a small ε has weight
everywhere."""

FEWEST_INPUTS = 1_000
"""A channel of fewer words is made by rays."""

_POINTS_LEAVE_OUT = 1e-3
"""What a row by points leaves to words that no point lies nearest to."""

_FAR_FROM_ONE = 2.0
"""A row by points whose sum is further from 1 than this factor is drawn instead. So it goes with ⊥ at a large
ε, if it lies in the cell of a frequent word: the points that are kept of this word are its own, and none of
them lies near ⊥."""

_FEWEST_OUTPUTS, _OUTPUTS_A_DRAW = 1_024, 40
"""A row by few points lists fewer outputs: of the others they tell little."""

_WORDS_AT_ONCE = {"rays": 256, "exact": 256, "points": 1_024, "simulation": 64}


def shares_points(mechanism: Mechanism, inputs: Ids) -> bool:
    """Return whether the rows of these input words come from points that they share; they do if there are
    many."""
    if len(inputs) < FEWEST_INPUTS or method_of(mechanism) != "rays":
        return False
    return isinstance(mechanism, NearestWord) and NoiseMetric(mechanism, inputs).tells_distances


class RowMaker:
    """Computes the rows of a mechanism's channel."""

    def __init__(
        self, mechanism: Mechanism, *, inputs: Ids, directions: int, outputs: Ids | None = None
    ) -> None:
        """Prepare the rows of ``inputs``, given in order; ``outputs`` may be the only ones that are
        needed."""
        embedding, noise = mechanism.embedding, radial_noise(mechanism)
        self.mechanism, self._embedding, self._most = mechanism, embedding, MOST_OUTPUTS
        self._outputs, self._draws = len(released_words(embedding)), directions
        self.method: Method = "points" if shares_points(mechanism, inputs) else method_of(mechanism)
        if self.method == "points":
            self._draws = draws_each(embedding, len(inputs), directions)
            self._most = min(MOST_OUTPUTS, max(_FEWEST_OUTPUTS, _OUTPUTS_A_DRAW * self._draws))
        self.asked = outputs if self.method in ("points", "exact") else None
        """The outputs that rows are made of, where that is not all: rays and draws meet all outputs at
        once."""
        self._rays: Rays | None = None
        self._sums: ProcessorSums | GpuSums | None = None
        self.ordered = inputs
        """The words in the order in which they are looked at fastest; ⊥ comes last."""
        if self.method == "rays" and noise is not None:
            self._rays = Rays(embedding, noise, rays=directions)
            words, unknown = inputs[inputs < len(embedding)], inputs[inputs >= len(embedding)]
            fastest = np.argsort(self._rays.place(words), kind="stable")
            self.ordered = np.concatenate([words[fastest], unknown])

    @property
    def directions(self) -> int:
        """How many rays or draws there are of each word, or points for each; 0 where sums are exact."""
        return 0 if self.method == "exact" else self._draws

    @property
    def at_once(self) -> int:
        """How many words are best asked for at once."""
        return _WORDS_AT_ONCE[self.method]

    @property
    def seed(self) -> int | None:
        """What the draws come from; None where nothing is drawn."""
        return SEED if self.method in ("simulation", "points") else None

    @property
    def points_each(self) -> int | None:
        """How many points of each output are kept; None where there are none."""
        return points_each(self._embedding, self.asked) if self.method == "points" else None

    def prepare(self, report: Report) -> None:
        """Do what comes before all rows: draw the points that they share. ``report`` receives how much is
        done, of how much."""
        made, ordered, asked = self.mechanism, self.ordered, self.asked
        if self.method != "points" or not isinstance(made, NearestWord):
            return
        if asked is None:
            each = draws_of_inputs(self._embedding, ordered, self._draws * len(ordered))
        else:
            each = draws_for_outputs(made, ordered, asked, seed=PILOT_SEED)
        outputs = self._outputs if asked is None else len(asked)
        points = draw_points(
            made,
            ordered,
            each,
            seed=SEED,
            of=asked,
            keep=self.points_each,
            in_all=points_in_all(outputs, len(ordered), int(each.sum())),
            report=lambda done, of: report(done, 2 * of),
        )
        self._met, self._sums = points.outputs, sums_of(points, lambda done, of: report(of + done, 2 * of))

    def rows(self, ids: Ids) -> Iterator[Row]:
        """Yield the row of each word; by points, after ``prepare``."""
        ways = {"exact": self._by_sums, "points": self._by_points, "rays": self._by_rays}
        return ways.get(self.method, self._by_draws)(ids)

    def _by_points(self, ids: Ids) -> Iterator[Row]:
        assert self._sums is not None  # noqa: S101 - prepared
        start = int(np.searchsorted(self.ordered, ids[0]))
        for block in self._sums.rows(slice(start, start + len(ids)), self._of_points):
            yield from block

    def _of_points(self, first: int, block: Vectors) -> list[Row]:
        if self.asked is not None:  # what they become else is not known, so neither are their sums
            return [self._of_asked(row * np.float32(1.0 - _POINTS_LEAVE_OUT)) for row in block]
        found, unknown = [], self._embedding.unknown_id
        words, totals = self.ordered[first : first + len(block)], block.sum(axis=1, dtype=np.float64)
        for word, row, total in zip(words.tolist(), block, totals, strict=True):
            if 1.0 / _FAR_FROM_ONE < total < _FAR_FROM_ONE:
                row *= np.float32((1.0 - _POINTS_LEAVE_OUT) / total)
                # ⊥ lies among all words and becomes any of them: cut like others, most of what it becomes
                # would be lost in the background.
                found.append(self._cut(self._met, row, most=len(row) if word == unknown else self._most))
            else:
                found += self._by_draws(np.array([word]))
        return found

    def _of_asked(self, chances: Floats) -> Row:
        row = self._cut(self._met, chances, left_out=0.0)
        return replace(row, dropped=max(0.0, float(chances.sum(dtype=np.float64) - row.chances.sum())))

    def _by_rays(self, ids: Ids) -> Iterator[Row]:
        assert self._rays is not None  # noqa: S101 - said by the method
        length, epsilon = length_function(self._rays.noise), self.mechanism.epsilon

        def of_one_word(envelope: Envelope) -> Row:
            words, chances, missed = row_on_rays(envelope, epsilon, length)
            return self._cut(words, chances * (1.0 - missed))

        walks = self._rays.envelopes(ids, furthest=furthest_radius(epsilon, length))
        with ThreadPoolExecutor(threads()) as pool:
            yield from pool.map(of_one_word, walks)

    def _by_sums(self, ids: Ids) -> Iterator[Row]:
        sums = exact_sums(self.mechanism)
        assert sums is not None  # noqa: S101 - said by the method
        asked = None if self.asked is None else np.isin(np.arange(len(self._embedding)), self.asked)
        for outputs, chances in sums.probabilities(self._embedding.stands_in(ids)):
            if asked is None:
                yield self._cut(*self._above_even(outputs, chances))
            else:
                some = asked[outputs]
                yield self._cut(outputs[some], chances[some], most=len(chances), left_out=0.0)

    def _above_even(self, outputs: Ids, chances: Floats) -> tuple[Ids, Floats]:
        """Return what of a row lies above its least probability, if most words have just that: a channel
        spreads evenly what is left out.

        So a row of randomised response lists one word, and not thousands that all have the same probability.
        """
        least = float(chances.min(initial=np.inf))
        above = chances > least * (1.0 + 1e-9)
        if len(outputs) < self._outputs or 2 * np.count_nonzero(above) > len(outputs):
            return outputs, chances
        return outputs[above], chances[above] - least

    def _by_draws(self, ids: Ids) -> Iterator[Row]:
        """Yield for each word the row of what it became in draws from the public seed."""
        entering = self._embedding.stands_in(ids)
        source = Draws(self.mechanism, seed=(SEED << 48) + int(ids[0]))
        drawn = source.of_each(np.repeat(entering, self._draws))
        for released in drawn.reshape(len(entering), self._draws):
            outputs, counts = np.unique(released, return_counts=True)
            missed = np.count_nonzero(counts == 1) / self._draws
            yield self._cut(outputs, counts / self._draws * (1.0 - missed))

    def _cut(
        self, outputs: Ids, chances: Floats, *, most: int | None = None, left_out: float | None = None
    ) -> Row:
        """Return the likeliest outputs as a row: at most so many, and all but a share that is left out."""
        most = self._most if most is None else most
        if len(outputs) > most:
            least = np.partition(chances, len(chances) - most)[len(chances) - most]
            above = np.flatnonzero(chances > least)
            largest = np.append(above, np.flatnonzero(chances == least)[: most - len(above)])
            outputs, chances = outputs[largest], chances[largest]
        order = np.argsort(-chances, kind="stable")
        outputs, chances = outputs[order], chances[order].astype(np.float64)
        enough = chances.sum() - (LEFT_OUT if left_out is None else left_out)
        kept = min(int(np.searchsorted(np.cumsum(chances), enough)) + 1, int(np.count_nonzero(chances)))
        return Row(outputs=outputs[:kept], chances=chances[:kept])
