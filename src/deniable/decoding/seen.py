"""The part of a channel that tells of the words that were released: most releases hold few of all words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from deniable.arrays import Floats, Ids
from deniable.channel.channel import Channel

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_NUMBERS_TO_HOLD = 1 << 25


class Outputs(Protocol):
    """Some outputs of a channel, or all: what is needed to learn shares from their counts."""

    def output_shares(self, prior: Floats) -> Floats:
        """Return how likely each output is, if the input words have these shares."""
        ...

    def pulled_back(self, weights: Floats) -> Floats:
        """Return Σ_y P(y | x)·weight(y) over these outputs, for each input word."""
        ...


class SeenOutputs:
    """Some outputs of a channel, held in memory in float64: ``listed`` are the probabilities that its rows
    list for them."""

    def __init__(self, channel: Channel, outputs: Ids, listed: csr_array) -> None:
        self._listed, self._rest, self._background = listed, channel.rest, channel.background[outputs]

    def output_shares(self, prior: Floats) -> Floats:
        """Return how likely each of the outputs is, if the input words have these shares."""
        shares: Floats = self._listed.T @ prior + float(self._rest @ prior) * self._background
        return shares

    def pulled_back(self, weights: Floats) -> Floats:
        """Return Σ_y P(y | x)·weight(y) over these outputs, for each input word."""
        pulled: Floats = self._listed @ weights + self._rest * float(self._background @ weights)
        return pulled


def select_seen(channel: Channel, counts: Floats) -> tuple[Outputs, Ids]:
    """Return the outputs that were counted and their ids; where those list too many numbers to hold, the
    channel and all ids."""
    from scipy.sparse import vstack

    seen = np.flatnonzero(counts)
    held, numbers = [], 0
    for _, block in channel.blocks():
        held.append(block[:, seen])
        numbers += held[-1].nnz
        if numbers > _NUMBERS_TO_HOLD:
            return channel, np.arange(len(counts))
    return SeenOutputs(channel, seen, vstack(held, format="csr")), seen
