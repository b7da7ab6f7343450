"""The attackers of running text: who guesses blindly, who believes the release, and who applies Bayes' rule
to each word, alone or in context; and the seam for attackers that the package does not bring itself.

In context, released words are taken as independent given the words that went in, as the mechanism promises.
So that attacker also notices where a mechanism that is sound for every word by itself gives a text away as a
whole. How far it trusts its bigrams it finds out on a shadow: public text that it releases itself, and that
the bigrams it tries there have not read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from deniable.arrays import Floats, Ids
from deniable.audit.inversion.results import ALONE, BLIND, IN_CONTEXT, NEAREST_WORD
from deniable.audit.inversion.text import PublicText, ReleasedShadow
from deniable.channel.channel import Channel
from deniable.decoding.context import ContextDecoder
from deniable.decoding.posterior import make_posterior
from deniable.decoding.reading import Reading, read_as_released, read_blindly
from deniable.interfaces import Mechanism

TRUSTS = (1.0, 0.75, 0.5, 0.25, 0.0)
"""How much bigrams may count; with 0 the attacker is the one who reads word by word."""

_CANDIDATES_TO_SAY = 100


@dataclass(frozen=True, kw_only=True)
class Attacker:
    """Reads a release: texts as ids of released words. ``knows`` says what it knows beside the release."""

    name: str
    knows: str
    read: Callable[[Sequence[Ids]], Reading]


def blind(channel: Channel, prior: Floats) -> Attacker:
    """Return the attacker who sees nothing of the release: it says the most frequent words at every place."""
    shares = _shares_of_all(channel, prior)
    return Attacker(
        name=BLIND,
        knows="How frequent words are in the public text, and nothing of the release.",
        read=lambda released: read_blindly(shares, sum(map(len, released)), candidates=_CANDIDATES_TO_SAY),
    )


def as_released(channel: Channel, prior: Floats) -> Attacker:
    """Return the attacker who takes each released word for the true one, then the most frequent words."""
    shares = _shares_of_all(channel, prior)
    return Attacker(
        name=NEAREST_WORD,
        knows="How frequent words are in the public text, and the release. Takes each released word as it "
        "stands.",
        read=lambda released: read_as_released(shares, _joined(released), candidates=_CANDIDATES_TO_SAY),
    )


def word_by_word(channel: Channel, prior: Floats) -> Attacker:
    """Return the attacker by Bayes' rule, argmax π(x)·P(y | x): with as much known, nobody does better."""
    posterior = make_posterior(channel, prior)
    return Attacker(
        name=ALONE,
        knows="The mechanism, ε, the embedding, and how frequent words are in the public text. Reads each "
        "word by itself.",
        read=lambda released: posterior.read(_joined(released)),
    )


def in_context(decoder: ContextDecoder) -> Attacker:
    """Return the attacker who reads each word beside its neighbours, by bigrams of public text."""
    tried = ", ".join(f"{trust:g}" for trust in TRUSTS)
    return Attacker(
        name=IN_CONTEXT,
        knows="All of that, and which words follow one another in the public text (bigrams). Reads each word "
        f"in its text. Trusts the bigrams by {decoder.trust:g}, the best of {tried} on public text that it "
        "released itself.",
        read=decoder.read,
    )


def choose_trust(decoder: ContextDecoder, shadow: ReleasedShadow) -> float:
    """Set and return how much the bigrams are best trusted: as the true words of the shadow are likeliest."""
    tried = {}
    for decoder.trust in TRUSTS:
        tried[decoder.trust] = decoder.read(shadow.released).mean_log_chance(shadow.truth)
    decoder.trust = max(tried, key=lambda trust: tried[trust])
    return decoder.trust


@dataclass(frozen=True, kw_only=True, eq=False)
class Known:
    """What a further attacker builds on; ``learning`` is the attacker in context that has not read the
    shadow."""

    mechanism: Mechanism
    channel: Channel
    prior: Floats
    public: PublicText
    alone: Attacker
    in_context: Attacker
    learning: Attacker | None
    seed: int


@dataclass(frozen=True, kw_only=True)
class FurtherAttacker:
    """Makes an attacker. It releases ``shadow_words`` words of public text to learn from, and ``chooses_by``
    words to choose its settings by; None if it needs none."""

    attacker: Callable[[Known], Attacker]
    shadow_words: int | None = None
    chooses_by: int | None = None


def _shares_of_all(channel: Channel, prior: Floats) -> Floats:
    shares = np.zeros(len(channel.embedding) + 1)
    shares[channel.inputs] = prior
    return shares


def _joined(released: Sequence[Ids]) -> Ids:
    return np.concatenate([*released, np.zeros(0, dtype=np.int64)])
