"""Bayes bound in context: which share of words can a reader name at most who knows all other words?

At each place a language model of public text, or anything else that is public, says how likely each word is
between the true words around it: π_i. The reader knows π_i, all other words of the text, and the noisy point
z of this one. For a word x drawn from π_i the best guess is right with probability E[max_x P(x | z)], as in
``bayes_bound``, and the average over places bounds every reader of the whole release: what is released
elsewhere tells nothing of this word that the true words there do not tell, for draws are independent.

It speaks of words that follow the model. Where a text is more predictable than the model thinks, a reader
with a better model may name more of it.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from deniable.arrays import Floats
from deniable.interfaces import Mechanism
from deniable.measures.bayes_bound import behind, coordinates, cost, unit_noise
from deniable.measures.estimate import Estimate, ends_of_mean
from deniable.mechanisms.base import radial_noise


def bound_in_context(
    mechanism: Mechanism, places: Iterable[Floats], *, in_words: str, seed: int = 11
) -> Estimate | None:
    """Return the share of words that no reader in context exceeds; None if it is not noise in a space.

    ``places`` have one number for each word and ⊥, of any sum: how likely each is there, all other words
    known.
    """
    noisy = behind(mechanism)
    if noisy is None or (noise := radial_noise(noisy)) is None:
        return None
    chance = np.random.Generator(np.random.PCG64(seed))
    words = coordinates(noisy, np.arange(len(mechanism.embedding) + 1))
    squares = np.einsum("ij,ij->i", words, words)
    tops, blind = [], []
    for given in places:
        inputs = np.flatnonzero(given)
        shares = given[inputs] / given[inputs].sum()
        own = min(int(np.searchsorted(np.cumsum(shares), chance.random())), len(inputs) - 1)
        away = unit_noise(noise, 1, chance)[0]
        point = words[inputs[own]] + away
        apart = np.maximum(squares[inputs] - 2.0 * (words[inputs] @ point) + point @ point, 0.0)
        apart[own] = away @ away  # its distance is known exactly
        logs = np.log(shares) - cost(apart, squared=noise.lengths == "chi")
        tops.append(min(1.0, 1.0 / float(np.exp(logs - logs.max()).sum())))
        blind.append(float(shares.max()))
    values = np.array(tops)
    low, high = ends_of_mean(values)
    before, value = float(np.mean(blind)), float(values.mean())
    statement = f"{in_words}; a reader who knows all other words, and how likely each word is between them"
    return Estimate(
        value=max(value, before),
        low=max(low, before),
        high=max(high, before),
        blind=before,
        statement=statement,
    )
