"""The seam of the attackers, and the simplest: who guesses blindly, who believes the release, and who applies
Bayes' rule to each word."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from deniable.arrays import Floats, Ids
from deniable.audit.inversion.results import ALONE, BLIND, NEAREST_WORD
from deniable.channel.channel import Channel
from deniable.decoding.posterior import make_posterior
from deniable.decoding.reading import Reading, read_as_released, read_blindly

_CANDIDATES_TO_SAY = 100


class Attacker(Protocol):
    """Reads a release: texts as ids of released words. ``knows`` says in a sentence what it knows beside
    them."""

    name: str
    knows: str

    def read(self, released: Sequence[Ids]) -> Reading:
        """Return what it thinks stood at each place of the texts, one after the other."""
        ...


class Blind:
    """Sees nothing of the release."""

    name = BLIND
    knows = "How frequent words are in the public text, and nothing of the release."

    def __init__(self, channel: Channel, prior: Floats) -> None:
        self._shares = _shares_of_all(channel, prior)

    def read(self, released: Sequence[Ids]) -> Reading:
        """Return the most frequent words, at every place."""
        return read_blindly(self._shares, sum(map(len, released)), candidates=_CANDIDATES_TO_SAY)


class AsReleased:
    """Takes the released word as it stands. Where others know the words or the channel poorly, this one names
    more than they do."""

    name = NEAREST_WORD
    knows = (
        "How frequent words are in the public text, and the release. Takes each released word as it stands."
    )

    def __init__(self, channel: Channel, prior: Floats) -> None:
        self._shares = _shares_of_all(channel, prior)

    def read(self, released: Sequence[Ids]) -> Reading:
        """Return each released word, and after it the most frequent words."""
        return read_as_released(self._shares, _one_after_the_other(released), candidates=_CANDIDATES_TO_SAY)


class WordByWord:
    """Bayes' rule, argmax π(x)·P(y | x): nobody who sees one word and knows no more than the frequencies and
    the mechanism does better."""

    name = ALONE
    knows = (
        "The mechanism, ε, the embedding, and how frequent words are in the public text. Reads each "
        "word by itself."
    )

    def __init__(self, channel: Channel, prior: Floats) -> None:
        self._posterior = make_posterior(channel, prior)

    def read(self, released: Sequence[Ids]) -> Reading:
        """Return the likeliest words behind each released word."""
        return self._posterior.read(_one_after_the_other(released))


def _shares_of_all(channel: Channel, prior: Floats) -> Floats:
    """Return a prior over the channel's inputs as one over all words and ⊥."""
    shares = np.zeros(len(channel.embedding) + 1)
    shares[channel.inputs] = prior
    return shares


def _one_after_the_other(released: Sequence[Ids]) -> Ids:
    return np.concatenate([*released, np.zeros(0, dtype=np.int64)])
