"""P(y | x): how likely each word is to be the input when a word is released."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from deniable.arrays import Floats, Ids
from deniable.channel.likelihood_by_draws import DrawnChannel
from deniable.channel.likelihood_by_rays import RayChannel
from deniable.channel.likelihood_exactly import ExactChannel, HasProbabilities
from deniable.interfaces import Mechanism
from deniable.mechanisms.multivariate import Multivariate


class Channel(Protocol):
    """Knows the output distribution of every word; ``how`` says from what."""

    how: str

    def log_likelihoods(self, outputs: Ids) -> Iterator[Floats]:
        """Yield for each output the logarithm of its probability for every input word, ⊥ left out."""
        ...


def channel_of(mechanism: Mechanism, *, seed: int, rays: int = 128, draws_per_word: int = 100) -> Channel:
    """Return the best channel for a mechanism: exact if it can say its probabilities, by rays, or by simulation."""
    if type(mechanism) is Multivariate:
        return RayChannel(mechanism, rays=rays, seed=seed)
    if isinstance(mechanism, HasProbabilities):
        return ExactChannel(mechanism)
    return DrawnChannel(mechanism, draws_per_word=draws_per_word, seed=seed)
