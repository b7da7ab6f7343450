"""The channel of a mechanism as a whole: P(y | x) for a support of input words, ⊥ among them, and all words that can be released.

A row is what one input word becomes. Its likeliest outputs are kept one by one until all but a small share of the probability is there;
what is left is spread over the words that can be released, in the same way for all rows. So the channel is a sparse matrix plus one number
for each row, and nothing has probability zero: a released word that no row happened to meet says little, not something impossible.

Everything here is public: it is computed from the embedding, the mechanism and ε, never from text.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.arrays import Floats, Ids
from deniable.embeddings.embedding import Embedding
from deniable.errors import InvalidParameter
from deniable.mechanisms.base import Method
from deniable.neighbours.selection import released_words

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_COLUMNS_AT_ONCE = 4_096
_NUMBERS_AT_ONCE = 1 << 22
_NUMBERS_TO_HOLD = 1 << 26
_EVEN = 0.1
_LEAST_REST = 1e-12


@dataclass(frozen=True, kw_only=True)
class Channel:
    """P(y | x) of one mechanism at one ε: row i belongs to the input word ``inputs[i]``, which is ``unknown_id`` for ⊥.

    The outputs of row i are ``outputs[starts[i]:starts[i + 1]]``, with the probabilities ``chances``; ``rest[i]`` is what they leave out.
    ``directions`` is how many rays or draws each row was estimated from, and 0 where it was summed exactly. With ``factors``, one for each
    word that can be released, the probabilities are multiplied by them, and each row is brought to the sum that it had.
    """

    embedding: Embedding = field(repr=False)
    epsilon: float
    method: Method
    directions: int
    inputs: Ids = field(repr=False)
    starts: Ids = field(repr=False)
    outputs: np.ndarray[Any, np.dtype[np.int32]] = field(repr=False)
    chances: np.ndarray[Any, np.dtype[np.float32]] = field(repr=False)
    factors: Floats | None = field(default=None, repr=False)

    def __len__(self) -> int:
        """Return the number of input words."""
        return len(self.inputs)

    @cached_property
    def rest(self) -> Floats:
        """What the listed outputs of each row leave out of the probability; never nothing, since at a large ε rays meet one word only."""
        sums = np.add.reduceat(np.append(self.chances, np.float32(0.0)).astype(np.float64), self.starts[:-1])
        sums[np.diff(self.starts) == 0] = 0.0
        rest: Floats = np.maximum(1.0 - sums, _LEAST_REST)
        return rest

    @cached_property
    def background(self) -> Floats:
        """The share of the rest that each word gets: as rows have it on average, a tenth of it evenly; all evenly after exact sums."""
        shares = np.zeros(len(self.embedding))
        released = released_words(self.embedding)
        shares[released] = 1.0 / len(released)
        if self.method == "exact" or not len(self.outputs):
            return shares
        average = np.zeros(len(self.embedding))
        for _, block in self.blocks():
            average += np.asarray(block.sum(axis=0)).ravel()
        mixed: Floats = (1.0 - _EVEN) * average / average.sum() + _EVEN * shares
        return mixed

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
        return self.outputs[part].astype(np.int64), self._listed(place, place + 1)

    def output_shares(self, prior: Floats) -> Floats:
        """Return how likely each word is to be released, if the input words have these shares: Σ_x π(x)·P(y | x)."""
        shares: Floats = float(self.rest @ prior) * self.background
        for rows, block in self.blocks():
            shares += block.T @ prior[rows]
        return shares

    def pulled_back(self, weights: Floats) -> Floats:
        """Return Σ_y P(y | x)·weight(y) for each input word; ``weights`` may be several columns."""
        pulled: Floats = np.multiply.outer(self.rest, self.background @ weights)
        for rows, block in self.blocks():
            pulled[rows] += block @ weights
        return pulled

    def keeping(self, words: Ids) -> Channel:
        """Return the channel of a release that lets these input words through as they are."""
        if self.factors is not None:
            return replace(self, chances=self._listed(0, len(self)).astype(np.float32), factors=None).keeping(words)
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

    def blocks(self) -> Iterator[tuple[slice, csr_array]]:
        """Yield the listed probabilities as sparse matrices, some rows at a time: in float64 all of them may not fit in memory."""
        yield from self._held if len(self.outputs) <= _NUMBERS_TO_HOLD else self._read_blocks()

    @cached_property
    def _held(self) -> list[tuple[slice, csr_array]]:
        return list(self._read_blocks())

    def _read_blocks(self) -> Iterator[tuple[slice, csr_array]]:
        from scipy.sparse import csr_array

        start = 0
        while start < len(self.inputs):
            end = int(np.searchsorted(self.starts, self.starts[start] + _NUMBERS_AT_ONCE, side="right")) - 1
            end = min(max(end, start + 1), len(self.inputs))
            part = slice(int(self.starts[start]), int(self.starts[end]))
            shape = (end - start, len(self.embedding))
            numbers = (self._listed(start, end), self.outputs[part], self.starts[start : end + 1] - self.starts[start])
            yield slice(start, end), csr_array(numbers, shape=shape)
            start = end

    def _listed(self, start: int, end: int) -> Floats:
        """Return the probabilities that some rows list, one row after the other."""
        part = slice(int(self.starts[start]), int(self.starts[end]))
        chances = self.chances[part].astype(np.float64)
        if self.factors is None:
            return chances
        owners = np.repeat(np.arange(end - start), np.diff(self.starts[start : end + 1]))
        weighted: Floats = chances * self.factors[self.outputs[part]]
        before, after = (np.bincount(owners, weights=each, minlength=end - start) for each in (chances, weighted))
        weighted *= (before / np.where(after > 0.0, after, 1.0))[owners]
        return weighted

    def columns(self, outputs: Ids) -> Iterator[tuple[Ids, Floats]]:
        """Yield for each released word the rows that list it, and P(y | x) there; all other rows have ``rest`` times ``background``."""
        for start in range(0, len(outputs), _COLUMNS_AT_ONCE):
            part = outputs[start : start + _COLUMNS_AT_ONCE]
            found = self.by_output[:, part]
            for column, output in enumerate(part.tolist()):
                rows = found.indices[found.indptr[column] : found.indptr[column + 1]].astype(np.int64)
                chances = found.data[found.indptr[column] : found.indptr[column + 1]].astype(np.float64)
                yield rows, chances + self.rest[rows] * self.background[output]

    @cached_property
    def by_output(self) -> Any:
        """The listed probabilities in float32, sorted by output: inputs by outputs, in memory."""
        from scipy.sparse import csr_array

        chances = self.chances if self.factors is None else self._listed(0, len(self)).astype(np.float32)
        return csr_array((chances, self.outputs, self.starts), shape=(len(self.inputs), len(self.embedding))).tocsc()

    @cached_property
    def _places(self) -> Ids:
        places = np.full(len(self.embedding) + 1, -1, dtype=np.int64)
        places[self.inputs] = np.arange(len(self.inputs))
        return places
