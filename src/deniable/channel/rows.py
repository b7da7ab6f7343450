"""Rows of a channel: what each input word becomes at several ε, by exact sums, by rays or by draws.

By rays one walk a word serves all ε: a direction from φ(x) crosses the cells of y₁, y₂, … at the lengths r₁ < r₂ < …, and P(y | x) is
the mean over directions of G(r_{i+1}) - G(r_i), G being the distribution function of the noise's length. Given the directions, which
are public and the same for all words, that is exact: nothing is drawn.

A finite number of rays or draws misses outputs. How much probability they have together is estimated by leaving one out (Good 1953): a
further ray would meet words that no other met about as often as a ray meets words that only it met. That share is taken off the
outputs that were met, and the channel spreads it as its rows do on average (``Channel.background``).
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from deniable.arrays import Floats, Ids
from deniable.channel.draws import Draws
from deniable.channel.rays.rays import Envelope, RadialRays
from deniable.channel.rays.statistics import distribution_on_rays, furthest_radius, length_function
from deniable.embeddings.embedding import Embedding
from deniable.mechanisms.base import Method, exact_sums, method_of, radial_noise
from deniable.mechanisms.catalogue import ChosenMechanism
from deniable.neighbours.selection import released_words
from deniable.neighbours.threads import threads

SEED = 7
"""Draws come from this public seed: a channel is about public words, and anybody gets the same one."""

_WORDS_AT_ONCE = {"rays": 256, "exact": 256, "simulation": 64}


@dataclass(frozen=True, kw_only=True)
class Row:
    """What one input word becomes at one ε: the likeliest outputs, by falling probability."""

    outputs: Ids
    chances: Floats


class RowMaker:
    """Computes the rows of a mechanism's channel at several ε; of each row all outputs but a share ``left_out``, at most ``most``."""

    def __init__(
        self, embedding: Embedding, mechanism: ChosenMechanism, epsilons: list[float], *, directions: int, left_out: float, most: int
    ) -> None:
        self._embedding, self._epsilons, self._directions = embedding, epsilons, directions
        self._left_out, self._most = left_out, most
        self._outputs = len(released_words(embedding))
        self._made = [mechanism(embedding, epsilon=epsilon) for epsilon in epsilons]
        self.method: Method = method_of(self._made[0])
        noise = radial_noise(self._made[0])
        self._rays = None if noise is None or self.method != "rays" else RadialRays(embedding, noise, rays=directions)

    def order(self, ids: Ids) -> Ids:
        """Return the words in the order in which they are looked at fastest; ⊥ comes last."""
        if self._rays is None:
            return ids
        known = ids[ids < len(self._embedding)]
        return np.concatenate([known[np.argsort(self._rays.tables.place(known), kind="stable")], ids[ids >= len(self._embedding)]])

    @property
    def at_once(self) -> int:
        """How many words are best asked for at once."""
        return _WORDS_AT_ONCE[self.method]

    def rows(self, ids: Ids) -> Iterator[list[Row]]:
        """Yield for each word its rows, one for each ε."""
        if self.method == "exact":
            return self._by_sums(ids)
        return self._by_rays(ids) if self.method == "rays" else self._by_draws(ids)

    def _by_rays(self, ids: Ids) -> Iterator[list[Row]]:
        assert self._rays is not None  # noqa: S101 - said by the method
        rays, length = self._rays, length_function(self._rays.noise)
        furthest = furthest_radius(min(self._epsilons), length)  # so far that a row does not depend on which other ε are asked for

        def of_one_word(envelope: Envelope) -> list[Row]:
            pieces, rows = envelope.pieces, []
            for epsilon in self._epsilons:
                found = distribution_on_rays(envelope, epsilon, length)
                reached = pieces.places[pieces.begins < furthest_radius(epsilon, length)]
                once = pieces.met[np.bincount(reached, minlength=len(pieces.met)) == 1]
                missed = float(found.probabilities[np.isin(found.words, once)].sum())
                rows.append(self._cut(found.words, found.probabilities * (1.0 - missed)))
            return rows

        with ThreadPoolExecutor(threads()) as pool:
            yield from pool.map(of_one_word, rays.envelopes(ids, furthest=furthest))

    def _by_sums(self, ids: Ids) -> Iterator[list[Row]]:
        sums = exact_sums(self._made[0])
        assert sums is not None  # noqa: S101 - said by the method
        for outputs, chances in sums.distributions(self._embedding.stands_in(ids), np.array(self._epsilons)):
            yield [self._cut_unsorted(*self._above_even(outputs, row)) for row in chances]

    def _above_even(self, outputs: Ids, chances: Floats) -> tuple[Ids, Floats]:
        """Return what of a row lies above its least probability, if most words have just that: a channel spreads evenly what is left out.

        So a row of randomised response lists one word, and not thousands that all have the same probability.
        """
        least = float(chances.min(initial=np.inf))
        above = chances > least * (1.0 + 1e-9)
        if len(outputs) < self._outputs or 2 * np.count_nonzero(above) > len(outputs):
            return outputs, chances
        return outputs[above], chances[above] - least

    def _by_draws(self, ids: Ids) -> Iterator[list[Row]]:
        # One seed for all ε: what is found at one does not depend on which others were asked for.
        seed, repeated = (SEED << 48) + int(ids[0]), np.repeat(ids, self._directions)
        drawn = [Draws(made, seed=seed).of_each(repeated).reshape(len(ids), self._directions) for made in self._made]
        for place in range(len(ids)):
            rows = []
            for released in drawn:
                outputs, counts = np.unique(released[place], return_counts=True)
                missed = np.count_nonzero(counts == 1) / self._directions
                rows.append(self._cut_unsorted(outputs, counts / self._directions * (1.0 - missed)))
            yield rows

    def _cut_unsorted(self, outputs: Ids, chances: Floats) -> Row:
        if len(outputs) > self._most:
            largest = np.argpartition(-chances, self._most)[: self._most]
            outputs, chances = outputs[largest], chances[largest]
        order = np.lexsort((outputs, -chances))
        return self._cut(outputs[order], chances[order])

    def _cut(self, outputs: Ids, chances: Floats) -> Row:
        enough = int(np.searchsorted(np.cumsum(chances), chances.sum() - self._left_out)) + 1
        kept = min(enough, self._most, int(np.count_nonzero(chances)))
        return Row(outputs=outputs[:kept], chances=chances[:kept])
