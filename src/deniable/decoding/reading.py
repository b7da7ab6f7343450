"""What a reader makes of released words: candidates with probabilities for each place, what is left for all
other words, and how good that is against the truth, on the word itself and on its kind.

Every reader, whatever it knows, answers in this form, so that attackers can be compared with one another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from deniable.arrays import Floats, Ids
from deniable.embeddings.kinds import Kinds

NOT_AMONG_THEM = 1 << 30
"""The rank of a word that is no candidate."""

_LEAST_CHANCE = 1e-9
"""A word that a reader takes for impossible counts as one in so many: else it alone would decide."""


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What may have stood at each place of a text: a row of candidates, the likeliest first, then -1.

    ``rest`` is the probability of all other words at each place, spread over them as the shares
    ``elsewhere`` of all words and ⊥ say.
    """

    words: Ids = field(repr=False)
    chances: Floats = field(repr=False)
    rest: Floats = field(repr=False)
    elsewhere: Floats = field(repr=False)

    @classmethod
    def of_candidates(cls, words: Ids, chances: Floats, rest: Floats, elsewhere: Floats) -> Self:
        """Return the reading with these candidates in any order, -1 where there is none."""
        order = np.argsort(-np.where(words >= 0, chances, -1.0), axis=1, kind="stable")
        return cls(
            words=np.take_along_axis(words, order, axis=1),
            chances=np.take_along_axis(chances, order, axis=1),
            rest=rest,
            elsewhere=elsewhere,
        )

    @classmethod
    def join(cls, parts: Sequence[Self]) -> Self:
        """Return one reading of places that follow one another; all parts have the same ``elsewhere``."""
        return cls(
            words=np.concatenate([part.words for part in parts]),
            chances=np.concatenate([part.chances for part in parts]),
            rest=np.concatenate([part.rest for part in parts]),
            elsewhere=parts[0].elsewhere,
        )

    def __len__(self) -> int:
        """Return the number of places."""
        return len(self.words)

    @property
    def likeliest(self) -> Ids:
        """The likeliest word of each place."""
        return self.words[:, 0]

    def at(self, place: int) -> tuple[Ids, Floats]:
        """Return the candidates of one place, the likeliest first, and their probabilities."""
        inside = self.words[place] >= 0
        return self.words[place, inside], self.chances[place, inside]

    def ranks(self, truth: Ids) -> Ids:
        """Return the rank of the true word among the candidates, from 0; ``NOT_AMONG_THEM`` if it is none."""
        hits = self.words == truth[:, None]
        return np.where(hits.any(axis=1), hits.argmax(axis=1), NOT_AMONG_THEM)

    def mean_log_chance(self, truth: Ids) -> float:
        """Return the mean log-probability of the true words, by which a reader is best chosen."""
        held = np.where(self.words == truth[:, None], self.chances, 0.0).sum(axis=1)
        return float(np.log(np.maximum(held, self.rest * self.elsewhere[truth]) + _LEAST_CHANCE).mean())

    def kind_ranks(self, truth: Ids, kinds: Kinds) -> Ids:
        """Return the rank of the true word's kind among all kinds; -1 where the word has none, which the
        reader knows."""
        masses = self.kind_masses(kinds)
        own = kinds.of[truth]
        mass = masses[np.arange(len(truth)), np.maximum(own, 0)][:, None]
        # Of kinds that are equally likely the first is said.
        before = (masses > mass) | ((masses == mass) & (np.arange(kinds.count) < own[:, None]))
        return np.where(own >= 0, before.sum(axis=1), -1)

    def kind_masses(self, kinds: Kinds) -> Floats:
        """Return the probability of each kind at each place; what is left is that of words without a kind."""
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
    """Return the share of places whose kind is among the ``within`` likeliest, of those with a kind."""
    ranks = reading.kind_ranks(truth, kinds)
    judged = ranks[ranks >= 0]
    return float((judged < within).mean()) if len(judged) else float("nan")


def read_blindly(prior: Floats, places: int, *, candidates: int = 10) -> Reading:
    """Return what a reader says who sees nothing: the likeliest words of a prior over all words and ⊥."""
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
    """Return what a reader says who believes each released word, with a prior for second guesses."""
    blind = read_blindly(prior, len(released), candidates=candidates)
    again = blind.words == released[:, None]
    last = np.argsort(again, axis=1, kind="stable")  # the released word is no second guess
    words = np.take_along_axis(np.where(again, -1, blind.words), last, axis=1)
    chances = np.take_along_axis(np.where(again, 0.0, blind.chances), last, axis=1)
    # Two thirds of all belief for one word make its kind likelier than any other, however frequent.
    return Reading(
        words=np.concatenate([released[:, None], words], axis=1),
        chances=np.concatenate([np.full((len(released), 1), 2.0 / 3.0), chances / 3.0], axis=1),
        rest=blind.rest / 3.0,
        elsewhere=blind.elsewhere,
    )
