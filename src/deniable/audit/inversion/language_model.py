"""The attacker with a language model: beam search over the best candidates of each place, scored by what a language model expects.

After BeamClean (2025). The candidates come from the attacker who reads in context. A sequence of words is worth

    Σ_i  log P(y_i | x_i) + log(½·P_model(x_i | x_1 … x_{i-1}) + ½·P_bigram(x_i | x_{i-1})),

where the bigrams are those of the public text: a model that knows nothing does little harm that way. One that is sure of what is wrong
does: the attacker is then weaker than the one who reads in context, and an audit quotes the better of the two. Which word stood at a
place is read from the sequences that are still followed a few words later.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np

from deniable.arrays import Floats, Ids
from deniable.audit.inversion.attackers import Attacker
from deniable.audit.inversion.results import LANGUAGE_MODEL
from deniable.channel.channel import Channel
from deniable.decoding.ngrams import Bigrams
from deniable.decoding.reading import Reading

CANDIDATES, BEAMS, LOOK_AHEAD = 10, 12, 4
_FROM_BASE = 0.05
"""What the other attacker says counts this much: it orders the candidates that no sequence holds."""

_TINY = 1e-300


class Beams(Protocol):
    """Some beginnings of a text that a language model has read."""

    def scores(self, candidates: Sequence[str]) -> Floats:
        """Return log P(word | beginning): a row for each beginning, a column for each word."""
        ...

    def follow(self, beginnings: Ids, words: Sequence[str | None]) -> Beams:
        """Return these beginnings, each with its word added; None adds nothing."""
        ...


class LanguageModel(Protocol):
    """A language model on this machine; ``name`` says which, with its digest."""

    name: str

    def begin(self) -> Beams:
        """Return the beginning of a text: one, without words."""
        ...


class _Sequences(NamedTuple):
    """The sequences that are followed: their words so far, what they are worth, and what the model has read of them."""

    words: Ids
    worth: Floats
    beams: Beams


class ByLanguageModel:
    """Reads each word after all that was read before it."""

    name = LANGUAGE_MODEL

    def __init__(
        self,
        base: Attacker,
        alone: Attacker,
        channel: Channel,
        prior: Floats,
        bigrams: Bigrams,
        model: LanguageModel,
        *,
        beams: int = BEAMS,
    ) -> None:
        """Take candidates from ``base``, and how likely each released word is from ``alone``, who knows no context."""
        self.knows = f"All of that, and what the language model {model.name} expects after the words read so far."
        self._base, self._alone, self._bigrams, self._model, self._beams = base, alone, bigrams, model, beams
        self._shares = np.zeros(len(channel.embedding) + 1)
        self._shares[channel.inputs] = prior
        self._spelled: list[str | None] = [*channel.embedding.words, None]

    def read(self, released: Sequence[Ids]) -> Reading:
        """Return the candidates of the other attacker, ranked by the sequences that hold them."""
        base, alone = self._base.read(released), self._alone.read(released)
        words, chances = base.words.copy(), base.chances.copy()
        top = slice(0, min(CANDIDATES, words.shape[1]))
        likely = _likelihoods(words[:, top], alone, self._shares)
        start = 0
        for ids in released:
            part = slice(start, start + len(ids))
            start += len(ids)
            if not len(ids):
                continue
            mass = chances[part, top].sum(axis=1, keepdims=True)
            before = chances[part, top] / np.maximum(mass, _TINY)
            found = (1.0 - _FROM_BASE) * self._search(words[part, top], likely[part]) + _FROM_BASE * before
            order = np.argsort(-np.where(words[part, top] >= 0, found, -1.0), axis=1, kind="stable")
            words[part, top] = np.take_along_axis(words[part, top], order, axis=1)
            chances[part, top] = np.take_along_axis(found * mass, order, axis=1)
        return Reading(words=words, chances=chances, rest=base.rest, elsewhere=base.elsewhere)

    def _search(self, words: Ids, likely: Floats) -> Floats:
        """Return the share of the followed sequences that each candidate of each place has; likelihoods are logarithms."""
        followed = _Sequences(words=np.zeros((1, 0), dtype=np.int64), worth=np.zeros(1), beams=self._model.begin())
        shares = np.zeros(words.shape)
        for place in range(len(words)):
            followed = self._extend(followed, words[place], likely[place])
            if place >= LOOK_AHEAD:
                shares[place - LOOK_AHEAD] = _share(followed, place - LOOK_AHEAD, words[place - LOOK_AHEAD])
        for place in range(max(0, len(words) - LOOK_AHEAD), len(words)):
            shares[place] = _share(followed, place, words[place])
        return shares

    def _extend(self, followed: _Sequences, candidates: Ids, likely: Floats) -> _Sequences:
        """Return the best sequences with one word more."""
        some = candidates[candidates >= 0]
        known = [word for i in some.tolist() if (word := self._spelled[i]) is not None]
        by_pairs = self._pairs(followed.words[:, -1] if followed.words.shape[1] else None, some)
        by_model = by_pairs.copy()  # a model does not know ⊥: the bigrams alone say how likely it is
        if known:
            by_model[:, [self._spelled[i] is not None for i in some.tolist()]] = np.exp(followed.beams.scores(known))
        with np.errstate(divide="ignore"):
            worth = followed.worth[:, None] + likely[candidates >= 0] + np.log(0.5 * by_model + 0.5 * by_pairs + _TINY)
        best = np.argsort(-worth.ravel(), kind="stable")[: self._beams]
        beginnings, chosen = best // len(some), some[best % len(some)]
        return _Sequences(
            words=np.concatenate([followed.words[beginnings], chosen[:, None]], axis=1),
            worth=worth.ravel()[best] - worth.max(),
            beams=followed.beams.follow(beginnings, [self._spelled[i] for i in chosen.tolist()]),
        )

    def _pairs(self, last: Ids | None, words: Ids) -> Floats:
        if last is None:
            return self._shares[words][None]
        follows = self._bigrams.follows[last][:, words].toarray()
        found: Floats = follows + self._bigrams.backing_off[last][:, None] * self._bigrams.alone[words]
        return found


def _likelihoods(words: Ids, alone: Reading, shares: Floats) -> Floats:
    """Return log P(y | x) but for a number that is the same for all words at a place, from what Bayes' rule says without context.

    A candidate that is not among those of the reading alone gets what is left over there.
    """
    same = words[:, :, None] == alone.words[:, None, :]
    held = np.where(same.any(axis=2), np.take_along_axis(alone.chances, same.argmax(axis=2), axis=1), 0.0)
    rest = alone.rest[:, None] * alone.elsewhere[np.maximum(words, 0)]
    found: Floats = np.log((held + np.where(held > 0.0, 0.0, rest) + _TINY) / (shares[np.maximum(words, 0)] + _TINY))
    return found


def _share(followed: _Sequences, place: int, candidates: Ids) -> Floats:
    weights = np.exp(followed.worth - followed.worth.max())
    found: Floats = ((followed.words[:, place][:, None] == candidates) * weights[:, None]).sum(axis=0) / weights.sum()
    return found
