"""The channel of a mechanism as a whole: P(y | x) for a support of input words, ⊥ among them, and all words
that can be released.

A row is what one input word becomes. Its likeliest outputs are kept one by one until all but a small share of
the probability is there; what is left is spread over the words that can be released, in the same way for all
rows. So the channel is a sparse matrix plus one number for each row, and nothing has probability zero: a
released word that no row happened to meet says little, not something impossible.

Everything here is public: it is computed from the embedding, the mechanism and ε, never from text.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from deniable.arrays import Floats, Ids
from deniable.channel.points import points_each
from deniable.embeddings.embedding import Embedding
from deniable.errors import InvalidParameter
from deniable.mechanisms.base import Method
from deniable.neighbours.selection import released_words
from deniable.neighbours.threads import threads

if TYPE_CHECKING:
    from scipy.sparse import csr_array

LEFT_OUT = 1e-3
"""What the listed outputs of a row leave out of its probability."""

_NUMBERS_AT_ONCE = 1 << 20
_PARTS = 16
_EVEN = 0.1
_LEAST_REST = 1e-12
_DRAWS_BEHIND_A_POINT = 32
_DRAWS_BEHIND_ASKED = 100.0

_Made = TypeVar("_Made")


@dataclass(frozen=True, kw_only=True)
class Channel:
    """P(y | x) of one mechanism at one ε: row i belongs to the input word ``inputs[i]``, which is
    ``unknown_id`` for ⊥.

    The outputs of row i are ``outputs[starts[i]:starts[i + 1]]``, with the probabilities ``chances``;
    ``rest[i]`` is what they leave out. ``directions`` is how many rays or draws each row was estimated from,
    or how many shared points were drawn for each; 0 after exact sums. ``asked`` are the outputs that it
    knows, where it does not know all: what else an input becomes is then left out of all sums, and
    ``dropped`` is how much of the probability of these each row does not list.
    """

    embedding: Embedding = field(repr=False)
    epsilon: float
    method: Method
    directions: int
    inputs: Ids = field(repr=False)
    starts: Ids = field(repr=False)
    outputs: np.ndarray[Any, np.dtype[np.int32]] = field(repr=False)
    chances: np.ndarray[Any, np.dtype[np.float32]] = field(repr=False)
    asked: Ids | None = field(default=None, repr=False)
    dropped: Floats | None = field(default=None, repr=False)

    def __len__(self) -> int:
        """Return the number of input words."""
        return len(self.inputs)

    @cached_property
    def rest(self) -> Floats:
        """What the listed outputs of each row leave out of the probability; never nothing, since at a large ε
        rays meet one word only.

        Of a channel that knows some outputs it is what is spread over these, and so no more than any row
        leaves out.
        """
        rest: Floats = np.clip(1.0 - self._listed_sums(np.ones(len(self.embedding))), _LEAST_REST, 1.0)
        if self.asked is None:
            return rest
        dropped = 0.0 if self.dropped is None else self.dropped / self.background[self.asked].sum()
        return np.minimum(rest, dropped + (_LEAST_REST if self.is_exact else LEFT_OUT))

    @cached_property
    def background(self) -> Floats:
        """The share of the rest that each word gets: as rows have it on average, a tenth of it evenly; all
        evenly after exact sums."""
        shares = np.zeros(len(self.embedding))
        released = released_words(self.embedding)
        shares[released] = 1.0 / len(released)
        if self.method == "exact" or not len(self.outputs):
            return shares
        average = self._listed_output_shares(np.ones(len(self)))
        average /= average.sum() if self.asked is None else len(self)
        mixed: Floats = (1.0 - _EVEN) * average + _EVEN * shares
        return mixed

    @property
    def draws_behind(self) -> float:
        """From how many draws a row is known, about; infinitely many where sums are exact.

        Half of the points that words share are drawn evenly around them, and a few kept of each output say no
        more than a few. In many dimensions the noise is nearly of one length, and a ray says little more than
        a draw.
        """
        if not self.directions:
            return math.inf
        if self.asked is not None:
            return _DRAWS_BEHIND_ASKED
        if self.method != "points":
            return float(self.directions)
        return min(0.5 * self.directions, float(_DRAWS_BEHIND_A_POINT * points_each(self.embedding)))

    @property
    def is_exact(self) -> bool:
        """Whether the probabilities have no error but that of rounding."""
        return self.method == "exact"

    @property
    def is_coarse(self) -> bool:
        """Whether each row comes from rays or draws of its own, so that a learnt prior would explain their
        errors."""
        return self.method in ("rays", "simulation")

    def knows(self, outputs: Ids) -> Any:
        """Return whether the channel knows each of these outputs."""
        return np.ones(len(outputs), dtype=bool) if self.asked is None else np.isin(outputs, self.asked)

    def places(self, ids: Ids) -> Ids:
        """Return the rows of input words; -1 for those that are not in the support."""
        return self._places[np.asarray(ids, dtype=np.int64)]

    def row(self, word: int) -> tuple[Ids, Floats]:
        """Return the outputs of one input word that are listed, and their probabilities.

        :raises InvalidParameter: if the word is not in the support.
        """
        place = int(self._places[word])
        if place < 0:
            raise InvalidParameter("word", word, "is not an input word of this channel")
        part = slice(int(self.starts[place]), int(self.starts[place + 1]))
        return self.outputs[part].astype(np.int64), self.chances[part].astype(np.float64)

    def listed(self, rows: Ids) -> csr_array:
        """Return the listed probabilities of some rows as one sparse matrix."""
        from scipy.sparse import csr_array

        lengths = np.diff(self.starts)[rows]
        starts = np.concatenate([[0], np.cumsum(lengths)])
        at = np.repeat(self.starts[rows] - starts[:-1], lengths) + np.arange(starts[-1])
        return csr_array(
            (self.chances[at].astype(np.float64), self.outputs[at], _short(starts)),
            shape=(len(rows), len(self.embedding)),
        )

    def output_shares(self, prior: Floats) -> Floats:
        """Return how likely each word is to be released, if the input words have these shares: Σ_x π(x)·P(y |
        x)."""
        shares: Floats = float(self.rest @ prior) * self.background + self._listed_output_shares(prior)
        return shares

    def pulled_back(self, weights: Floats) -> Floats:
        """Return Σ_y P(y | x)·weight(y) for each input word; ``weights`` may be several columns."""
        pulled: Floats = self._listed_sums(weights)
        pulled += np.multiply.outer(self.rest, self.background @ weights)
        return pulled

    def keeping(self, words: Ids) -> Channel:
        """Return the channel of a release that lets these input words through as they are."""
        rows = np.unique(self.places(words))
        rows = rows[rows >= 0]
        lengths = np.diff(self.starts)
        stays = np.ones(len(self.outputs), dtype=bool)
        for row in rows.tolist():
            stays[self.starts[row] : self.starts[row + 1]] = False
        lengths[rows] = 0
        starts = np.concatenate([[0], np.cumsum(lengths)])
        return replace(
            self,
            starts=starts + np.concatenate([[0], np.cumsum(np.isin(np.arange(len(self)), rows))]),
            outputs=np.insert(self.outputs[stays], starts[rows], self.inputs[rows].astype(np.int32)),
            chances=np.insert(self.chances[stays], starts[rows], np.float32(1.0)),
        )

    def blocks(self, within: slice | None = None) -> Iterator[tuple[slice, csr_array]]:
        """Yield the listed probabilities of all rows, or of those within, as sparse matrices, some rows at a
        time.

        In float64 all of them may not fit in memory, and those of few rows stay in the cache of the
        processor.
        """
        from scipy.sparse import csr_array

        start, stop = (0, len(self)) if within is None else (within.start, within.stop)
        while start < stop:
            end = int(np.searchsorted(self.starts, self.starts[start] + _NUMBERS_AT_ONCE, side="right")) - 1
            end = min(max(end, start + 1), stop)
            part = slice(int(self.starts[start]), int(self.starts[end]))
            shape = (end - start, len(self.embedding))
            starts = _short(self.starts[start : end + 1] - self.starts[start])
            yield (
                slice(start, end),
                csr_array((self.chances[part].astype(np.float64), self.outputs[part], starts), shape=shape),
            )
            start = end

    def _listed_output_shares(self, prior: Floats) -> Floats:
        def of_rows(within: slice) -> Floats:
            shares = np.zeros(len(self.embedding))
            for rows, block in self.blocks(within):
                shares += block.T @ prior[rows]
            return shares

        sums: Floats = np.sum(self._in_parts(of_rows), axis=0)
        return sums

    def _listed_sums(self, weights: Floats) -> Floats:
        sums = np.empty((len(self), *weights.shape[1:]))

        def of_rows(within: slice) -> None:
            for rows, block in self.blocks(within):
                # Column by column the sums of these rows stay in the cache; row by row many columns of
                # weights would not.
                sums[rows] = (block if weights.ndim == 1 else block.tocsc()) @ weights

        self._in_parts(of_rows)
        return sums

    def _in_parts(self, of_rows: Callable[[slice], _Made]) -> list[_Made]:
        """Return what a function makes of some rows after the other, in their order; several threads work,
        whose number changes nothing."""
        if len(self.outputs) <= _NUMBERS_AT_ONCE:
            return [of_rows(slice(0, len(self)))]
        bounds = np.searchsorted(self.starts, np.linspace(0, len(self.outputs), _PARTS + 1)[1:-1])
        edges = np.unique(np.concatenate([[0], bounds, [len(self)]])).tolist()
        with ThreadPoolExecutor(threads()) as pool:
            return list(pool.map(of_rows, [slice(start, stop) for start, stop in pairwise(edges)]))

    @property
    def how(self) -> str:
        """From what the probabilities are known, in words."""
        ways = {"rays": "rays", "points": "shared points", "simulation": "draws"}
        return (
            "exact probabilities"
            if self.is_exact
            else f"{self.directions:,} {ways[self.method]} of each word"
        )

    def columns(self, outputs: Ids) -> Iterator[Floats]:
        """Yield for each released word P(y | x) of all rows."""
        listed = self.by_output
        for output in outputs.tolist():
            column: Floats = self.rest * self.background[output]
            part = slice(listed.indptr[output], listed.indptr[output + 1])
            column[listed.indices[part]] += listed.data[part]
            yield column

    @cached_property
    def by_output(self) -> Any:
        """The listed probabilities in float32, sorted by output: inputs by outputs, in memory."""
        from scipy.sparse import csr_array

        return csr_array(
            (self.chances, self.outputs, _short(self.starts)), shape=(len(self.inputs), len(self.embedding))
        ).tocsc()

    @cached_property
    def _places(self) -> Ids:
        places = np.full(len(self.embedding) + 1, -1, dtype=np.int64)
        places[self.inputs] = np.arange(len(self.inputs))
        return places


def _short(starts: Ids) -> Any:
    """Return where rows start in 32 bits if that is enough: in 64 bits sparse matrices would copy all outputs
    into as many."""
    return starts.astype(np.int32) if starts[-1] <= np.iinfo(np.int32).max else starts
