"""The attacker who knows which words follow one another: forward–backward over a chain of words, by bigrams
of public text.

It takes the released words as independent given the words that went in, as the mechanism promises. So it also
notices where a mechanism that is sound for every word by itself gives a text away as a whole. How far it
trusts the bigrams it finds out on a shadow: public text that it releases itself, and that the bigrams it
tries there have not read.
"""

from __future__ import annotations

from collections.abc import Sequence

from deniable.arrays import Floats, Ids
from deniable.audit.inversion.results import IN_CONTEXT
from deniable.audit.inversion.shadow import ReleasedShadow
from deniable.channel.channel import Channel
from deniable.decoding.context import CANDIDATES, ContextDecoder
from deniable.decoding.ngrams import Bigrams
from deniable.decoding.reading import Reading

TRUSTS = (1.0, 0.75, 0.5, 0.25, 0.0)
"""How much bigrams may count; with 0 the attacker is the one who reads word by word."""


class InContext:
    """Reads each word beside its neighbours."""

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
