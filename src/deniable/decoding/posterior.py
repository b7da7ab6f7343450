"""Bayes' rule: from a released word back to the words that may have stood there,
P(x | y) = π(x)·P(y | x) / Σ π(x')·P(y | x').

This is post-processing of what was released: it costs no privacy. Attackers and analysts compute the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.arrays import Floats, Ids
from deniable.channel.channel import Channel
from deniable.channel.columns import Columns
from deniable.decoding.reading import Reading
from deniable.decoding.shares import check_numbers
from deniable.errors import InvalidParameter
from deniable.neighbours.threads import threads
from deniable.progress import Report

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MOST_CANDIDATES = 200
"""How many words are kept for each released word; the others share what is left by the prior."""

COLUMNS_AT_ONCE = 256
EVERYWHERE = 20
_WORDS_AT_ONCE = 1 << 15


@dataclass(frozen=True, kw_only=True)
class Posterior:
    """P(x | y) for all released words y: the likeliest input words of each, and a rest spread alike for all.

    The candidates of y are ``rows[starts[y]:starts[y + 1]]``, rows of the channel by falling probability,
    with ``chances``. The rows ``everywhere`` are candidates of every word.
    """

    channel: Channel
    prior: Floats = field(repr=False)
    starts: Ids = field(repr=False)
    rows: Ids = field(repr=False)
    chances: Floats = field(repr=False)
    everywhere: Ids = field(repr=False)

    def of(self, output: int) -> tuple[Ids, Floats]:
        """Return the input words that are likeliest behind a released word, and their probabilities."""
        part = slice(int(self.starts[output]), int(self.starts[output + 1]))
        return self.channel.inputs[self.rows[part]], self.chances[part]

    @cached_property
    def best(self) -> Ids:
        """The likeliest input word behind each released word; ``unknown_id`` where that is ⊥."""
        best = np.full(len(self.channel.embedding), int(np.argmax(self.prior)), dtype=np.int64)
        some = np.diff(self.starts) > 0
        best[some] = self.rows[self.starts[:-1][some]]
        return self.channel.inputs[best]

    @cached_property
    def matrix(self) -> csr_array:
        """The listed probabilities: released words by rows of the channel."""
        from scipy.sparse import csr_array

        return csr_array(
            (self.chances, self.rows, self.starts), shape=(len(self.channel.embedding), len(self.channel))
        )

    @cached_property
    def unlisted(self) -> Floats:
        """The shares of the words that are no candidates: by how much rows say nothing of the output."""
        weights = self.prior * self.channel.rest
        weights[self.everywhere] = 0.0
        shares: Floats = weights / weights.sum() if weights.any() else self.prior
        return shares

    @cached_property
    def rest(self) -> Floats:
        """What the candidates of each released word leave out."""
        rest: Floats = np.clip(1.0 - np.asarray(self.matrix.sum(axis=1)).ravel(), 0.0, 1.0)
        return rest

    def expect(self, of_inputs: Floats, outputs: Ids | slice) -> Floats:
        """Return the expectations of numbers of the input words, a row each, given each released word."""
        expected: Floats = self.matrix[outputs] @ of_inputs + np.multiply.outer(
            self.rest[outputs], self.unlisted @ of_inputs
        )
        return expected

    def decode(
        self, texts: Sequence[Ids], *, most: int | None = None, report: Report | None = None
    ) -> Iterator[Reading]:
        """Yield what is read in each text, given as ids of released words, with at most ``most``
        candidates."""
        for done, text in enumerate(texts, 1):
            yield self.read(text, most=most)
            if report is not None:
                report(done, len(texts))

    def read(self, released: Ids, *, most: int | None = None) -> Reading:
        """Return what Bayes' rule says of each released word by itself, with at most ``most`` candidates."""
        inside, rows, chances = self.padded(released, most=most)
        words = np.where(inside, self.channel.inputs[rows], -1)
        words[:, 0] = self.best[released]  # also of what no input becomes, which has no candidate
        return Reading(words=words, chances=chances, rest=self.rest[released], elsewhere=self.elsewhere)

    def padded(self, outputs: Ids, *, most: int | None = None) -> tuple[Any, Ids, Floats]:
        """Return tables of the candidates of outputs: which cells hold one, rows of the channel, chances."""
        lengths = np.diff(self.starts)[outputs]
        width = max(1, int(lengths.max(initial=1)))
        width = width if most is None else min(width, most)
        inside = np.arange(width) < lengths[:, None]
        if not len(self.rows):
            return inside, np.zeros(inside.shape, dtype=np.int64), np.zeros(inside.shape)
        at = np.where(inside, self.starts[outputs][:, None] + np.arange(width), 0)
        return inside, np.where(inside, self.rows[at], 0), np.where(inside, self.chances[at], 0.0)

    @cached_property
    def elsewhere(self) -> Floats:
        """``unlisted`` as shares of all words and ⊥."""
        shares = np.zeros(len(self.channel.embedding) + 1)
        shares[self.channel.inputs] = self.unlisted
        return shares

    def share_unchanged(self, released: Floats) -> float:
        """Return the share of the words counted in ``released`` that went in unchanged; ⊥ is left out."""
        channel, matrix, seen = self.channel, self.matrix, np.flatnonzero(released)
        own, unknown = channel.places(seen), int(channel.places(np.array([channel.embedding.unknown_id]))[0])
        same = np.where(own >= 0, np.asarray(matrix[seen, np.maximum(own, 0)]).ravel(), 0.0)
        words = np.ones(len(seen))
        if unknown >= 0:
            words -= np.asarray(matrix[seen, np.full(len(seen), unknown)]).ravel()
        known = float(released[seen] @ words)
        return min(float(released[seen] @ same) / known, 1.0) if known > 0.0 else 0.0

    def likeliest_kinds(self, of_inputs: Floats) -> Ids:
        """Return the likeliest kind of each released word; ``of_inputs[x, k]``: how often x is of kind k."""
        parts = range(0, len(self.rest), _WORDS_AT_ONCE)
        return np.concatenate(
            [self.expect(of_inputs, slice(start, start + _WORDS_AT_ONCE)).argmax(axis=1) for start in parts]
        )


def make_posterior(channel: Channel, prior: Floats, *, candidates: int = MOST_CANDIDATES) -> Posterior:
    """Return the posterior of a channel and a prior over its inputs.

    :raises InvalidParameter: if the prior does not fit the channel.
    """
    check_numbers("prior", prior, len(channel))
    if not prior.sum() > 0.0:
        raise InvalidParameter("prior", "no shares", "must have a share that is greater than 0")
    prior = prior / prior.sum()
    expected = channel.output_shares(prior)
    # Words that are likely wherever nothing else is known stand among the candidates of every output.
    everywhere = np.argsort(-prior * channel.rest, kind="stable")[:EVERYWHERE]

    by_output = channel.by_output  # made before threads ask for it, which would each make one

    def listed(start: int) -> tuple[Ids, Ids, Floats]:
        inputs, columns, chances = _entries(by_output[:, start : start + COLUMNS_AT_ONCE], everywhere)
        outputs = start + columns
        likely = expected[outputs]
        posterior = prior[inputs] * (chances + channel.rest[inputs] * channel.background[outputs])
        posterior = np.divide(posterior, likely, out=np.zeros_like(posterior), where=likely > 0.0)
        width = min(COLUMNS_AT_ONCE, len(channel.embedding) - start)
        order = _likeliest(columns, posterior, width, candidates)
        return np.bincount(columns[order], minlength=width), inputs[order], posterior[order]

    starts = range(0, len(channel.embedding), COLUMNS_AT_ONCE)
    with ThreadPoolExecutor(threads()) as pool:
        lengths, rows, chances = zip(*pool.map(listed, starts), strict=True)
    return Posterior(
        channel=channel,
        prior=prior,
        starts=np.cumsum(np.concatenate([np.zeros(1, dtype=np.int64), *lengths])),
        rows=np.concatenate(rows),
        chances=np.concatenate(chances),
        everywhere=everywhere,
    )


def _entries(part: Any, everywhere: Ids) -> tuple[Ids, Ids, Floats]:
    """Return the inputs, columns and probabilities that columns of a channel list, and 0 for those of
    ``everywhere`` that they do not; column by column, in the order of the inputs."""
    rows, width = part.shape
    columns = np.repeat(np.arange(width), np.diff(part.indptr))
    keys = columns * rows + part.indices
    wanted = (np.arange(width)[:, None] * rows + np.sort(everywhere)).ravel()
    at = np.searchsorted(keys, wanted)
    missing = np.append(keys, -1)[at] != wanted
    at, added = at[missing], wanted[missing]
    return (
        np.insert(part.indices.astype(np.int64), at, added % rows),
        np.insert(columns, at, added // rows),
        np.insert(part.data.astype(np.float64), at, 0.0),
    )


def _likeliest(columns: Ids, posterior: Floats, width: int, most: int) -> Ids:
    """Return the places of the ``most`` likeliest entries of each column, by falling probability; of equal
    ones the first.

    A channel lists thousands of inputs for an output, so only what can be among the likeliest is sorted.
    """
    lengths = np.bincount(columns, minlength=width)
    ends = np.cumsum(lengths)
    least = np.zeros(width)
    for column in np.flatnonzero(lengths > most).tolist():
        cut = lengths[column] - most
        least[column] = np.partition(posterior[ends[column] - lengths[column] : ends[column]], cut)[cut]
    kept = np.flatnonzero((posterior >= np.repeat(least, lengths)) & (posterior > 0.0))
    counts = np.bincount(columns[kept], minlength=width)
    starts = np.cumsum(counts) - counts
    # What is there is below 0, so that it comes before what is not.
    falling = np.zeros((width, int(counts.max(initial=0))))
    falling[columns[kept], np.arange(len(kept)) - np.repeat(starts, counts)] = -posterior[kept]
    order = np.argsort(falling, axis=1, kind="stable")[:, :most]
    inside = np.arange(order.shape[1]) < counts[:, None]
    chosen: Ids = kept[(starts[:, None] + order)[inside]]
    return chosen


class BayesAdversary:
    """Guesses argmax_x π(x)·P(y | x): nobody who knows π and the mechanism guesses right more often."""

    def __init__(self, channel: Columns, prior: Floats) -> None:
        """Guess by a channel and a prior over all words."""
        self._channel, self._prior = channel, prior[channel.inputs]

    def guesses(self, outputs: Ids) -> Ids:
        """Return the guess for each released word."""
        wanted, places = np.unique(outputs, return_inverse=True)
        best = [int(np.argmax(column * self._prior)) for column in self._channel.columns(wanted)]
        guesses: Ids = self._channel.inputs[best][places]
        return guesses

    def guesses_from_repeats(self, outputs: Ids, counts: tuple[int, ...]) -> dict[int, Ids]:
        """Return the guess from the first m of each row of ``outputs``, independent releases of one word."""
        wanted, places = np.unique(outputs, return_inverse=True)
        with np.errstate(divide="ignore"):
            logs = np.stack([np.log(column).astype(np.float32) for column in self._channel.columns(wanted)])
            log_prior = np.log(self._prior)
        table = places.reshape(outputs.shape)
        answer = {m: np.empty(len(outputs), dtype=np.int64) for m in counts}
        for row, seen in enumerate(table):
            for m in counts:
                answer[m][row] = self._channel.inputs[int(np.argmax(logs[seen[:m]].sum(axis=0) + log_prior))]
        return answer
