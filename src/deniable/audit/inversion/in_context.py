"""The attacker who knows which words follow one another: forward–backward over a chain of words, by bigrams of public text.

It takes the released words as independent given the words that went in, as the mechanism promises. So it also notices where a mechanism
that is sound for every word by itself gives a text away as a whole.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from deniable.arrays import Floats, Ids
from deniable.audit.inversion.results import IN_CONTEXT
from deniable.channel.channel import Channel
from deniable.decoding.context import CANDIDATES, ContextDecoder
from deniable.decoding.ngrams import Bigrams
from deniable.decoding.posterior import make_posterior
from deniable.decoding.reading import Reading, read_alone, read_in_context


class InContext:
    """Reads each word beside its neighbours."""

    name = IN_CONTEXT
    knows = "All of that, and which words follow one another in the public text (bigrams). Reads each word in its text."

    def __init__(self, channel: Channel, prior: Floats, bigrams: Bigrams, *, candidates: int = CANDIDATES) -> None:
        self._decoder = ContextDecoder(channel, bigrams, prior, candidates=candidates)
        self._posterior = make_posterior(channel, prior, candidates=candidates)

    def read(self, released: Sequence[Ids]) -> Reading:
        """Return the likeliest words at each place, given all released words of its text."""
        alone = read_alone(self._posterior, np.concatenate([*released, np.zeros(0, dtype=np.int64)]))
        return read_in_context(self._decoder, released, alone)
