"""The line: two-sided geometric noise on the place of a word in a public list (1-Diffractor; Meisenbacher,
Chevli and Matthes 2024).

All words that can be released stand in a public list, near words mostly beside one another. The list is a
walk: it begins at a word, and after each word comes the nearest one that has no place yet; where none of its
50 nearest is left, the walk goes on at the first word, in the order of ids, that has no place. The word at
place p is replaced by the one at place p + k, and by the word at the end where that lies beyond it. With q =
e^-ε, k has the probability (1 - q)/(1 + q)·q^|k|. With m lists, which begin at the first m words, one of the
lists is drawn for each token, each with probability 1/m, whatever the word is.

Proof of ε·d metric privacy, d(w, w') = max over the lists of |p(w) - p(w')|. In one list, w comes to place r
by the step r - p(w), and |r - p(w)| ≥ |r - p(w')| - |p(w) - p(w')|: the probability of every place, also of
places beyond the ends, differs between w and w' by at most the factor exp(ε·|p(w) - p(w')|); so does that of
an end word, which is a sum of such. The list is drawn with the same probability for both words, so a draw of
list and word keeps the factor exp(ε·d), and to forget the list is post-processing. So the bound also holds
against a reader who knows the list. With one list it is attained for every pair. Neighbours in one list may
stand far apart in another, so more lists widen it. ⊥ has the place of the word nearest to it, as an input
only; a word that shares its vector with an earlier one has the place of that one. (The authors' program draws
among the lists that hold the word, so that the list tells about the word, and returns words that no list
holds as they are.)

*How it is drawn.* k is G with probability 1/(1 + q), else -1 - G, where G = ⌊x/ε⌋ is geometric
for an exponential x. Two uniform numbers of 53 bits make one of 106, and -ln of it is taken from whichever
end of [0, 1] is nearer: so x is precise to a few units of 2⁻⁵³ of itself wherever it lies. Where the first of
them is 0, x is at least 53·ln 2, and what lies beyond is exponential again: the second takes its place, a
further number is drawn, and so on to the end of the list. So no place is out of reach, however unlikely it
is. The border of place k, at x = k·ε, is off by a few units of k·ε·2⁻⁵³, and every probability by a few units
of |W|·2⁻⁵¹ of itself: under 10⁻⁸ for 400,000 words. (A probability below about 10⁻³⁰⁸ is no float64 any more:
``distributions`` states 0 there, and the draw does not.) Places are whole numbers; logarithms are those of
``portable``, the same on every machine.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np

from deniable.arrays import Floats, Ids
from deniable.embeddings.embedding import Embedding
from deniable.errors import InvalidParameter
from deniable.interfaces import METRIC_PRIVACY, Guarantee, Randomness
from deniable.mechanisms.base import DrawsByParts, ExactSums
from deniable.neighbours import best_neighbours
from deniable.neighbours.selection import known_words_for, nearest_released, released_words
from deniable.noise.portable import exp_minus, minus_log, minus_log_one_minus, one_minus_exp_minus
from deniable.parameters import validated_count

NEIGHBOURS_KNOWN = 50  # as the authors have it
_WORDS_AT_ONCE = 4_096
_MOST_LISTS = 100
_LEAST = 2.0**-107
_ALL_ZERO = 53.0 * float(np.log(2.0))
"""What an exponential number exceeds whose first 53 bits are 0."""

_neighbours: WeakKeyDictionary[Embedding, Ids] = WeakKeyDictionary()
"""The nearest words of each word of an embedding, by places among the words that can be released: mechanisms
at several ε share them."""


class Line(DrawsByParts, ExactSums):
    """Geometric noise on the place in a public list of all words: ε times the places between two words."""

    def __init__(self, embedding: Embedding, epsilon: float, *, lists: int = 1) -> None:
        """Prepare the mechanism; ``lists`` is the number of public lists, one of which is drawn for each
        token.

        :raises InvalidParameter: if ``epsilon`` is not a finite number greater than 0, or ``lists`` not a
            whole number from 1 to 100.
        """
        super().__init__(embedding, epsilon=epsilon)
        self.lists = validated_count(lists, "lists")
        if self.lists > _MOST_LISTS:
            raise InvalidParameter("lists", lists, f"must be at most {_MOST_LISTS}")

    @property
    def guarantee(self) -> Guarantee:
        """What is promised for one word."""
        where = (
            "a public list of all words"
            if self.lists == 1
            else f"that one of {self.lists} public lists of all words where it is largest"
        )
        return Guarantee(
            notion=METRIC_PRIVACY,
            metric=f"difference of the places of two words in {where}; summed over the words of a text",
            epsilon=self._epsilon,
            statement=(
                "For any two words w and w', known or unknown, and any output y: Pr[M(w) = y] ≤ exp(ε·d(w, "
                f"w'))·Pr[M(w') = y], d being the difference of their places in {where}; for texts with the "
                "same number of words the exponents add."
            ),
            parameters={"lists": self.lists},
            caveat=(
                "This ε is a rate per place in a public list of words. It is not the ε of local differential "
                "privacy, and does not compare "
                "with a rate per distance between word vectors, nor across vocabularies."
            ),
        )

    def log_bound(self, first: int, second: int) -> float:
        """Return ε times the difference of the places, in the list where it is largest."""
        first, second = self._entering_pair(first, second)
        return self._epsilon * float(np.abs(self.places[:, first] - self.places[:, second]).max())

    @cached_property
    def orders(self) -> Ids:
        """The public lists: a row of word ids for each, made on first use."""
        near, count = _near_words(self._embedding), len(self.outputs)
        return np.stack([self.outputs[_walk(near, start % count)] for start in range(self.lists)])

    @cached_property
    def places(self) -> Ids:
        """The place of every input id in each list (rows), ⊥ and words that share a vector included."""
        places = np.empty((self.lists, len(self._embedding) + 1), dtype=np.int64)
        for row, order in zip(places, self.orders, strict=True):
            row[order] = np.arange(len(order))
        return places[:, known_words_for(self._embedding)]

    def draw(self, ids: Ids, source: Randomness, epsilon: Floats) -> Ids:
        """Return the word at a noisy place of a random list."""
        uniforms = source.uniforms(len(ids), 5)
        count = self.orders.shape[1]
        with np.errstate(over="ignore"):
            steps = np.floor(
                _unbounded_exponentials(uniforms[:, :2], source, enough=count * epsilon) / epsilon
            )
        # No step needs to go further than from one end to beyond the other.
        away = np.minimum(steps, float(count)).astype(np.int64)
        ratios = exp_minus(epsilon)
        backwards = uniforms[:, 2] + uniforms[:, 3] * 2.0**-53 < ratios / (1.0 + ratios)
        lists = np.minimum(np.floor(uniforms[:, 4] * self.lists).astype(np.int64), self.lists - 1)
        places = self.places[lists, ids] + np.where(backwards, -1 - away, away)
        released: Ids = self.orders[lists, np.clip(places, 0, count - 1)]
        return released

    def distributions(self, ids: Ids, epsilons: Floats) -> Iterator[tuple[Ids, Floats]]:
        """Yield for each input id all outputs and their probabilities; see ``ExactSums``."""
        count = len(self.outputs)
        powers = exp_minus(np.outer(epsilons, np.arange(count)))
        within = (one_minus_exp_minus(epsilons) / (1.0 + exp_minus(epsilons)))[:, None] * powers
        beyond = powers / (1.0 + exp_minus(epsilons))[:, None]
        columns = np.searchsorted(self.outputs, self.orders)
        for word in self._entering(ids).tolist():
            chances = np.zeros((len(epsilons), count))
            for place, column in zip(self.places[:, word].tolist(), columns, strict=True):
                row = np.concatenate([within[:, place:0:-1], within[:, : count - place]], axis=1)
                row[:, 0], row[:, -1] = beyond[:, place], beyond[:, count - 1 - place]
                chances[:, column] += row if count > 1 else 1.0
            yield self.outputs, chances / self.lists


def exponentials(uniforms: Floats) -> Floats:
    """Return an exponential number for each row of two uniform ones, precise near 0 and far out."""
    first, rest = uniforms[:, 0], uniforms[:, 1] * 2.0**-53
    from_below = minus_log(np.maximum(first + rest, _LEAST))
    from_above = minus_log_one_minus((1.0 - first) - rest)
    return np.where(first < 0.5, from_below, from_above)


def _unbounded_exponentials(uniforms: Floats, source: Randomness, *, enough: Floats) -> Floats:
    """Return exponential numbers; rows that begin with 0 get further ones until ``enough``."""
    beyond = np.zeros(len(uniforms))
    while (short := (uniforms[:, 0] == 0.0) & (beyond < enough)).any():
        # All tokens draw, since a keyed source has a stream for each of them: so what one of them gets does
        # not hang on the others.
        further = np.concatenate([uniforms[:, 1:], source.uniforms(len(uniforms), 1)], axis=1)
        uniforms, beyond = (
            np.where(short[:, None], further, uniforms),
            beyond + np.where(short, _ALL_ZERO, 0.0),
        )
    return beyond + exponentials(uniforms)


def _near_words(embedding: Embedding) -> Ids:
    """Return the nearest words of each word, nearest first, by their places among the outputs."""
    near = _neighbours.get(embedding)
    if near is None:
        search, outputs = best_neighbours(embedding), released_words(embedding)
        near = np.empty((len(outputs), min(NEIGHBOURS_KNOWN, len(outputs))), dtype=np.int64)
        for start in range(0, len(outputs), _WORDS_AT_ONCE):
            rows = embedding.rows(outputs[start : start + _WORDS_AT_ONCE])
            found, _ = nearest_released(embedding, search, rows, near.shape[1])
            near[start : start + len(rows)] = np.searchsorted(outputs, found)
        _neighbours[embedding] = near
    return near


def _walk(near: Ids, start: int) -> Ids:
    """Return all words in the order of a walk to the nearest word that was not met yet."""
    free = bytearray(b"\x01") * len(near)
    order = np.empty(len(near), dtype=np.int64)
    current, first_free = start, 0
    for place in range(len(near)):
        order[place], free[current] = current, 0
        following = next((word for word in near[current].tolist() if free[word]), -1)
        if following < 0:
            first_free = free.find(1, first_free)
            following = first_free
        current = following
    return order
