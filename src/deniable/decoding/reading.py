"""What a reader makes of released words: the candidates for each place, and how good they are against the
truth.

Every reader, whatever it knows, answers in this form: a few words with probabilities at each place, and what
is left for all other words. So attackers are compared with one another, on the word itself and on its kind,
and whoever compares mechanisms can use any of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from deniable.arrays import Floats, Ids
from deniable.decoding.context import ContextDecoder
from deniable.decoding.posterior import Posterior
from deniable.embeddings.kinds import Kinds

NOT_AMONG_THEM = 1 << 30
"""The rank of a word that is no candidate."""

_LEAST_CHANCE = 1e-9
"""A word that a reader takes for impossible counts as one in so many: else it alone would decide."""


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What may have stood at each place of a text: a row a place, candidates by falling probability, -1 where
    there are no more.

    ``rest`` is the probability of all other words at each place, spread over them as ``elsewhere`` says,
    which has a share for each word and ⊥.
    """

    words: Ids = field(repr=False)
    chances: Floats = field(repr=False)
    rest: Floats = field(repr=False)
    elsewhere: Floats = field(repr=False)

    def __len__(self) -> int:
        """Return the number of places."""
        return len(self.words)

    def ranks(self, truth: Ids) -> Ids:
        """Return the place of the true word among the candidates, 0 for the likeliest; a large number if it
        is none of them."""
        hits = self.words == truth[:, None]
        return np.where(hits.any(axis=1), hits.argmax(axis=1), NOT_AMONG_THEM)

    def mean_log_chance(self, truth: Ids) -> float:
        """Return the mean logarithm of the probability of the true words: what a reader is best chosen by."""
        held = np.where(self.words == truth[:, None], self.chances, 0.0).sum(axis=1)
        return float(np.log(np.maximum(held, self.rest * self.elsewhere[truth]) + _LEAST_CHANCE).mean())

    def kind_ranks(self, truth: Ids, kinds: Kinds) -> Ids:
        """Return the place of the true word's kind among all kinds; -1 where that word stands apart.

        The reader is told at which places a word stands that has a kind.
        """
        masses = self.kind_masses(kinds)
        own = kinds.of[truth]
        mass = masses[np.arange(len(truth)), np.maximum(own, 0)][:, None]
        # Of kinds that are equally likely the first is said.
        before = (masses > mass) | ((masses == mass) & (np.arange(kinds.count) < own[:, None]))
        return np.where(own >= 0, before.sum(axis=1), -1)

    def kind_masses(self, kinds: Kinds) -> Floats:
        """Return the probability of each kind at each place; what is left belongs to the words that stand
        apart."""
        inside = self.words >= 0
        of = np.where(inside, kinds.of[self.words], -1)
        places = np.repeat(np.arange(len(self)), self.words.shape[1]).reshape(of.shape)
        known = of >= 0
        flat = places[known] * kinds.count + of[known]
        masses = np.bincount(flat, weights=self.chances[known], minlength=len(self) * kinds.count).reshape(
            len(self), kinds.count
        )
        has_kind = kinds.of >= 0
        spread = np.bincount(kinds.of[has_kind], weights=self.elsewhere[has_kind], minlength=kinds.count)
        answer: Floats = masses + self.rest[:, None] * spread
        return answer


def share_named(reading: Reading, truth: Ids, *, within: int = 1) -> float:
    """Return the share of places whose word is among the ``within`` likeliest candidates."""
    return float((reading.ranks(truth) < within).mean())


def share_of_kinds(reading: Reading, truth: Ids, kinds: Kinds, *, within: int = 1) -> float:
    """Return the share of places whose kind is among the ``within`` likeliest, of the places whose word has
    one; NaN without any."""
    ranks = reading.kind_ranks(truth, kinds)
    judged = ranks[ranks >= 0]
    return float((judged < within).mean()) if len(judged) else float("nan")


def read_blindly(prior: Floats, places: int, *, candidates: int = 10) -> Reading:
    """Return what a reader says who sees nothing: the likeliest words of a prior over all words and ⊥, at
    every place."""
    best = np.argsort(-prior, kind="stable")[:candidates]
    elsewhere = prior.copy()
    elsewhere[best] = 0.0
    left = float(elsewhere.sum())
    return Reading(
        words=np.tile(best, (places, 1)),
        chances=np.tile(prior[best], (places, 1)),
        rest=np.full(places, left),
        elsewhere=elsewhere / left if left > 0.0 else elsewhere,
    )


def read_as_released(prior: Floats, released: Ids, *, candidates: int = 10) -> Reading:
    """Return what a reader says who takes each released word for the true one, and has a prior over all words
    and ⊥ for second guesses."""
    blind = read_blindly(prior, len(released), candidates=candidates)
    again = blind.words == released[:, None]
    last = np.argsort(again, axis=1, kind="stable")  # the released word is no second guess
    words = np.take_along_axis(np.where(again, -1, blind.words), last, axis=1)
    chances = np.take_along_axis(np.where(again, 0.0, blind.chances), last, axis=1)
    # Two thirds of all belief for one word: then its kind is likelier than any other, however frequent that
    # is.
    return Reading(
        words=np.concatenate([released[:, None], words], axis=1),
        chances=np.concatenate([np.full((len(released), 1), 2.0 / 3.0), chances / 3.0], axis=1),
        rest=blind.rest / 3.0,
        elsewhere=blind.elsewhere,
    )


def read_alone(posterior: Posterior, released: Ids) -> Reading:
    """Return what Bayes' rule says of each released word by itself."""
    channel = posterior.channel
    outputs, where = np.unique(released, return_inverse=True)
    starts, lengths = posterior.starts[outputs], np.diff(posterior.starts)[outputs]
    width = max(1, int(lengths.max(initial=1)))
    inside = np.arange(width) < lengths[:, None]
    at = np.where(inside, starts[:, None] + np.arange(width), 0)
    some = len(posterior.rows) > 0
    words = np.where(inside, channel.inputs[posterior.rows[at]], -1) if some else np.full(inside.shape, -1)
    chances = np.where(inside, posterior.chances[at], 0.0) if some else np.zeros(inside.shape)
    elsewhere = np.zeros(len(channel.embedding) + 1)
    elsewhere[channel.inputs] = posterior.unlisted
    return Reading(
        words=words[where], chances=chances[where], rest=posterior.rest[released], elsewhere=elsewhere
    )


def read_in_context(decoder: ContextDecoder, texts: Sequence[Ids], alone: Reading) -> Reading:
    """Return what a chain of words says of each place of texts of released ids, one after the other.

    ``alone`` is the reading of the same places by themselves. It says how likely a word is that the chain
    does not follow.
    """
    parts = list(decoder.decode(texts))
    if not len(alone):
        return alone
    words, chances, rest = (
        np.concatenate(each)
        for each in zip(*((part.words, part.chances, part.rest) for part in parts), strict=True)
    )
    order = np.argsort(-np.where(words >= 0, chances, -1.0), axis=1, kind="stable")
    return Reading(
        words=np.take_along_axis(words, order, axis=1),
        chances=np.take_along_axis(chances, order, axis=1),
        rest=rest,
        elsewhere=alone.elsewhere,
    )
