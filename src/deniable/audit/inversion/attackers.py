"""The attackers of running text: who guesses blindly, who believes the release, and who applies Bayes' rule
to each word, alone or in context; and the seam for attackers that the package does not bring itself.

In context, released words are taken as independent given the words that went in, as the mechanism promises.
So that attacker also notices where a mechanism that is sound for every word by itself gives a text away as a
whole. How far it trusts its bigrams it finds out on a shadow: public text that it releases itself, and that
the bigrams it tries there have not read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from deniable.arrays import Floats, Ids
from deniable.audit.inversion.results import ALONE, BLIND, IN_CONTEXT, NEAREST_WORD
from deniable.audit.inversion.text import PublicText, ReleasedShadow
from deniable.channel.channel import Channel
from deniable.decoding.context import CANDIDATES, ContextDecoder
from deniable.decoding.ngrams import Bigrams
from deniable.decoding.posterior import make_posterior
from deniable.decoding.reading import Reading, read_as_released, read_blindly
from deniable.interfaces import Mechanism

TRUSTS = (1.0, 0.75, 0.5, 0.25, 0.0)
"""How much bigrams may count; with 0 the attacker is the one who reads word by word."""

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
        self._shares = np.zeros(len(channel.embedding) + 1)
        self._shares[channel.inputs] = prior

    def read(self, released: Sequence[Ids]) -> Reading:
        """Return the most frequent words, at every place."""
        return read_blindly(self._shares, sum(map(len, released)), candidates=_CANDIDATES_TO_SAY)


class AsReleased(Blind):
    """Takes the released word as it stands. Where others know the words or the channel poorly, this one names
    more than they do."""

    name = NEAREST_WORD
    knows = (
        "How frequent words are in the public text, and the release. Takes each released word as it stands."
    )

    def read(self, released: Sequence[Ids]) -> Reading:
        """Return each released word, and after it the most frequent words."""
        return read_as_released(self._shares, _joined(released), candidates=_CANDIDATES_TO_SAY)


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
        return self._posterior.read(_joined(released))


class InContext:
    """Reads each word beside its neighbours: forward–backward over a chain of words, by bigrams of public
    text."""

    name = IN_CONTEXT

    def __init__(
        self,
        channel: Channel,
        prior: Floats,
        bigrams: Bigrams,
        *,
        candidates: int = CANDIDATES,
        trust: float = 1.0,
    ) -> None:
        self._decoder = ContextDecoder(channel, bigrams, prior, candidates=candidates, trust=trust)
        self.knows = (
            "All of that, and which words follow one another in the public text (bigrams). Reads each word "
            "in its text. Trusts the bigrams "
            f"by {trust:g}, the best of {', '.join(f'{each:g}' for each in TRUSTS)} on public text that it "
            "released itself."
        )

    def read(self, released: Sequence[Ids]) -> Reading:
        """Return the likeliest words at each place, given all released words of its text."""
        return self._decoder.read(released)

    def choose_trust(self, shadow: ReleasedShadow) -> float:
        """Return how much the bigrams are best trusted: as the true words of the shadow are likeliest. From
        then on they are."""
        tried = {}
        for trust in TRUSTS:
            self._decoder.trust = trust
            tried[trust] = self.read(shadow.released).mean_log_chance(shadow.truth)
        self._decoder.trust = max(tried, key=lambda trust: tried[trust])
        return self._decoder.trust


@dataclass(frozen=True, kw_only=True, eq=False)
class Known:
    """What a further attacker builds on.

    ``learning`` is the attacker in context that has not read the shadow, to learn from it; None where there
    is no shadow.
    """

    mechanism: Mechanism
    channel: Channel
    prior: Floats
    public: PublicText
    alone: WordByWord
    in_context: InContext
    learning: InContext | None
    seed: int


class FurtherAttacker(Protocol):
    """Makes an attacker, such as those of ``deniable.lab``, and says how many words of public text it
    releases itself: to learn from, and to choose its settings by."""

    @property
    def shadow_words(self) -> int | None:
        """How many words it learns from; None if it needs none."""
        ...

    @property
    def chooses_by(self) -> int | None:
        """How many words it chooses its settings by; None if it needs none."""
        ...

    def attacker(self, known: Known) -> Attacker:
        """Return the attacker who knows this."""
        ...


def _joined(released: Sequence[Ids]) -> Ids:
    return np.concatenate([*released, np.zeros(0, dtype=np.int64)])
