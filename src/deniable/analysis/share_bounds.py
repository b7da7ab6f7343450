"""How often a word can have been used at most, by what was released, whatever the text was.

A word x that makes up a share p of a text comes out among some outputs A in p·P(A | x) of all words, and
others may come out there too. So p is at most Q(A)/P(A | x), Q being what was released. Nothing has to be
known of the text for that.
"""

from __future__ import annotations

import numpy as np

from deniable.arrays import Floats
from deniable.channel.channel import Channel

_SIZES = (1, 3, 10, 30, 100, 300, 1_000)
"""A is the likeliest outputs of a word, so many of them: chosen before anything was released, or chance would
choose the smallest Q."""

_SURELY = 2.0
"""Standard errors that are allowed for, of what was released and of what is known of the channel."""


def largest_shares(channel: Channel, observed: Floats) -> Floats:
    """Return the largest share that each input word can have had, for counts of released words."""
    words, draws = float(observed.sum()), channel.draws_behind
    largest = np.ones(len(channel))
    for rows, block in channel.blocks():
        first, last = block.indptr[:-1].astype(np.int64), block.indptr[1:].astype(np.int64)
        chances, seen = (
            np.concatenate([[0.0], np.cumsum(each)]) for each in (block.data, observed[block.indices])
        )
        for size in _SIZES:
            end = np.minimum(first + size, last)
            within, there = chances[end] - chances[first], seen[end] - seen[first]
            sure = within - _SURELY * np.sqrt(np.maximum(within * (1.0 - within), 0.0) / draws)
            most = (there + _SURELY * np.sqrt(there) + _SURELY) / words
            largest[rows] = np.minimum(
                largest[rows], np.divide(most, sure, out=np.ones_like(most), where=sure > most)
            )
    return largest
