"""Estimates of how often words are used in the text behind a release, with intervals, in all or by group.

The estimate of a word's share is linear in what was released: Σ_y q(y)·g(y), q being the observed shares. If
Σ_y g(y)·P(y | x) were 1 for the word itself and 0 for all others, it would be unbiased whatever the text is;
but such a g can have an enormous variance. So g trades the one for the other: with π₀ the shares that are
expected before (learnt from the release, or public) and τ the error that these may have, it is the g with the
least

    variance of Σ_y q(y)·g(y)  +  Σ_x τ(x)²·(Σ_y g(y)·P(y | x) - [x is the word])²,

and the expectation of the second part under π₀ is subtracted. The interval covers both parts. Its variance is
that between records, which are the independent unit: words of one record are alike. Where an interval is as
wide as what was assumed before, the release says nothing of the word, which is then marked.

Learning may have taken a word for its neighbours, and then π₀ has nothing of it. So τ goes by how often the
word can have been used at most (``largest_shares``), which asks nothing of what was learnt: a word x with a
share p of the text comes out among some outputs A in p·P(A | x) of all words, and others may come out there
too, so p is at most Q(A)/P(A | x), Q being what was released.

A channel that is known from draws is wrong by a little, and in a large text by more than chance. So what is
expected under π₀ is not computed from the channel but counted in a ``rehearsal``: a release of text with
these shares, from a public seed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.arrays import Floats, Ids
from deniable.channel.channel import Channel
from deniable.decoding.shares import check_numbers
from deniable.errors import InvalidParameter

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MOST_WORDS = 2_000
"""How many words are estimated together: those expected to be most frequent, and those that can be; the
others count as expected."""

LIMIT = 1.959964
"""Standard errors to each side of a 95 % interval."""

_NUMBERS_AT_ONCE = 1 << 24
_WORDS_AT_ONCE = 256
_TELLS_NOTHING = 0.25
"""An interval that is a quarter of all words wide says nothing of a word."""

_SPREAD = 2.0
"""The error that expected shares may have, as a multiple of themselves."""

_SIZES = (1, 3, 10, 30, 100, 300, 1_000)
"""Sizes of A, the likeliest outputs of a word: fixed in advance, or chance would choose the smallest Q."""

_SURELY = 2.0
"""Standard errors that are allowed for, of the release and of the channel."""


@dataclass(frozen=True, kw_only=True)
class Frequencies:
    """Estimated shares of words: ``words`` are ids, ``errors`` standard errors.

    ``expected`` are the shares that were expected before, ``before`` the error that these may have, and
    ``total`` is how many words were released.
    """

    words: Ids = field(repr=False)
    shares: Floats = field(repr=False)
    errors: Floats = field(repr=False)
    expected: Floats = field(repr=False)
    before: Floats = field(repr=False)
    total: int
    records: int

    @property
    def lower(self) -> Floats:
        """The lower ends of the 95 % intervals of the shares; never below 0."""
        lower: Floats = np.clip(self.shares - LIMIT * self.errors, 0.0, 1.0)
        return lower

    @property
    def upper(self) -> Floats:
        """The upper ends of the 95 % intervals of the shares; never above 1."""
        upper: Floats = np.clip(self.shares + LIMIT * self.errors, 0.0, 1.0)
        return upper

    @property
    def informed(self) -> Any:
        """Whether the interval of each word is narrow, and narrower than what was thought possible before."""
        return (self.errors < 0.9 * self.before) & (self.upper - self.lower < _TELLS_NOTHING)


class FrequencyEstimator:
    """Prepares the estimate of many words once, for all records and for groups of them."""

    def __init__(
        self,
        channel: Channel,
        expected: Floats,
        *,
        observed: Floats,
        rehearsal: Floats | None = None,
        most: int = MOST_WORDS,
    ) -> None:
        """Find the weights g of the most frequent words.

        ``expected`` are shares of the channel's inputs, ``observed`` counts of released words. ``rehearsal``
        are such counts of a release of text with the expected shares; without it the channel is taken for
        exact.

        :raises InvalidParameter: if the shares do not fit the channel, or nothing was released.
        """
        check_numbers("expected", expected, len(channel))
        if not expected.sum() > 0.0:
            raise InvalidParameter("expected", "no shares", "must have a share that is greater than 0")
        words = int(observed.sum())
        if words < 1:
            raise InvalidParameter("observed", words, "nothing was released, so nothing can be said of it")
        self._channel, self._expected, self._rehearsal = channel, expected / expected.sum(), rehearsal
        largest = largest_shares(channel, observed)
        self._spread = np.maximum(_SPREAD * self._expected + 1.0 / words, largest)
        self._outputs = np.maximum(channel.output_shares(self._expected), 1e-12)
        self.rows = _most_frequent(self._expected, largest, most)
        self._listed, even, rest = channel.listed(self.rows), channel.background, channel.rest[self.rows]
        self._rest = rest
        weighted = self._listed.multiply(1.0 / self._outputs[None, :]).tocsr()
        # M = A·diag(1/p)·Aᵀ with A = listed + rest ⊗ even
        with_even = np.asarray(weighted @ even).ravel()
        matrix = np.asarray((weighted @ self._listed.T).todense())
        matrix += (
            np.outer(with_even, rest)
            + np.outer(rest, with_even)
            + float((even * even / self._outputs).sum()) * np.outer(rest, rest)
        )
        matrix[np.diag_indices_from(matrix)] += 1.0 / (words * self._spread[self.rows] ** 2)
        from scipy.linalg import cho_factor

        self._factor = cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)

    @property
    def words(self) -> Ids:
        """The input words that are estimated, ``unknown_id`` for ⊥."""
        return self._channel.inputs[self.rows]

    def estimate(self, counts: csr_array, groups: Sequence[Ids] = ()) -> list[Frequencies]:
        """Return the frequencies behind all records, then those of each group, then those behind all other
        records for each group.

        ``counts`` are those of released words, a row for each record. Groups are numbers of records, without
        a record in two of them.

        :raises InvalidParameter: if all records, a group, or all others beside it, hold no word.
        """
        lengths = np.asarray(counts.sum(axis=1)).ravel()
        sets = _Sets(groups, counts.shape[0])
        totals, squares = sets.sums(lengths), sets.sums(np.square(lengths))
        if not (totals > 0.0).all():
            raise InvalidParameter("counts", f"{counts.shape[0]:,} records", "hold no word of the embedding")
        records = np.maximum(sets.sizes, 2)
        observed = sets.sums(counts)
        mixed = 0.5 * (observed / totals[:, None] + self._outputs / self._outputs.sum())
        shares, errors = (np.empty((len(totals), len(self.rows))) for _ in range(2))
        for part, weights, bias, spread in self._weights():
            scored = counts @ weights
            estimates = sets.sums(scored) / totals[:, None]
            # Σ (score - length·estimate)², the spread between records
            between = sets.sums(np.square(scored)) - 2.0 * estimates * sets.sums(scored * lengths[:, None])
            between = np.maximum(between + np.square(estimates) * squares[:, None], 0.0)
            variance = between * (records / (records - 1) / totals**2)[:, None]
            # A rare word that was hardly drawn shows too little variance; that of independent words is the
            # least there is.
            single = mixed @ np.square(weights) - np.square(mixed @ weights)
            variance = np.maximum(variance, single / totals[:, None])
            shares[:, part], errors[:, part] = estimates - bias, np.sqrt(variance + spread**2)
        return [
            Frequencies(
                words=self.words,
                shares=shares[place],
                errors=errors[place],
                expected=self._expected[self.rows],
                before=self._spread[self.rows],
                total=int(totals[place]),
                records=int(sets.sizes[place]),
            )
            for place in range(len(totals))
        ]

    def _weights(self) -> Iterator[tuple[slice, Floats, Floats, Floats]]:
        """Yield for some words at a time g of every output, its bias under the expected shares, and its
        spread."""
        from scipy.linalg import cho_solve

        channel = self._channel
        at_once = max(1, min(_WORDS_AT_ONCE, _NUMBERS_AT_ONCE // len(channel.embedding)))
        for start in range(0, len(self.rows), at_once):
            part = slice(start, min(start + at_once, len(self.rows)))
            unit = np.zeros((len(self.rows), part.stop - part.start))
            unit[np.arange(part.start, part.stop), np.arange(part.stop - part.start)] = 1.0
            solved = cho_solve(self._factor, unit, check_finite=False)
            weights = (
                self._listed.T @ solved + np.outer(channel.background, self._rest @ solved)
            ) / self._outputs[:, None]
            reached = channel.pulled_back(weights)
            reached[self.rows[part], np.arange(part.stop - part.start)] -= 1.0
            bias, of_rehearsal = self._expected @ reached, np.zeros(part.stop - part.start)
            if self._rehearsal is not None:
                drawn = float(self._rehearsal.sum())
                shares = self._rehearsal / drawn
                counted = shares @ weights
                bias = counted - self._expected[self.rows[part]]
                of_rehearsal = (shares @ np.square(weights) - np.square(counted)) / drawn
            yield part, weights, bias, np.sqrt(np.square(self._spread) @ np.square(reached) + of_rehearsal)


def largest_shares(channel: Channel, observed: Floats) -> Floats:
    """Return the largest share that each input word can have had, for counts of released words."""
    words, draws = float(observed.sum()), channel.draws_behind
    largest = np.ones(len(channel))
    for rows, block in channel.blocks():
        first, last = block.indptr[:-1].astype(np.int64), block.indptr[1:].astype(np.int64)
        chances, seen = (
            np.concatenate([[0.0], np.cumsum(each)]) for each in (block.data, observed[block.indices])
        )
        for size in _SIZES:
            end = np.minimum(first + size, last)
            within, there = chances[end] - chances[first], seen[end] - seen[first]
            sure = within - _SURELY * np.sqrt(np.maximum(within * (1.0 - within), 0.0) / draws)
            most = (there + _SURELY * np.sqrt(there) + _SURELY) / words
            largest[rows] = np.minimum(
                largest[rows], np.divide(most, sure, out=np.ones_like(most), where=sure > most)
            )
    return largest


def _most_frequent(expected: Floats, largest: Floats, most: int) -> Ids:
    """Return the rows of words to estimate: half those expected to be most frequent, half those that can be,
    by what was released."""
    by_both = [np.argsort(-each, kind="stable") for each in (expected, largest)]
    in_turn = np.stack(by_both, axis=1).ravel()
    _, first = np.unique(in_turn, return_index=True)
    chosen: Ids = np.sort(in_turn[np.sort(first)[:most]])
    return chosen


class _Sets:
    """All records, some groups of them, and for each group all others: sums over the records of each."""

    def __init__(self, groups: Sequence[Ids], records: int) -> None:
        from scipy.sparse import csr_array

        members = np.concatenate([*groups, np.zeros(0, dtype=np.int64)])
        starts = np.cumsum([0, *map(len, groups)])
        self._member = csr_array((np.ones(len(members)), members, starts), shape=(len(groups), records))
        own = np.diff(starts)
        self.sizes = np.concatenate([[records], own, records - own])

    def sums(self, values: Any) -> Floats:
        """Return the sum of the values of each set: one number for each record, or one row, dense or
        sparse."""
        everything = np.asarray(values.sum(axis=0))
        own = self._member @ values
        own = own if isinstance(own, np.ndarray) else own.toarray()
        return np.concatenate([everything[None], own, everything[None] - own])
