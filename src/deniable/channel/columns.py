"""The columns of a channel by rays, brought to the sums that draws give them.

All rows follow the same directions. So rows of neighbouring words err alike, and which of them a released word came from is told well. But
a word that the directions happen to meet too often gets too much from all rows, and whoever sums over rows (how often is each word
released? how often was each used?) finds that error whole. Draws have independent errors, and their sums are good where single rows would
not be. So words are drawn as often as their ranks say and released, and each column is multiplied by what came out over what was expected.

With n words drawn where E were expected, the factor is (n + a)/(E + a): the mean of a factor that has variance 1/a around 1 before
anything is drawn, given n (a Gamma prior and Poisson counts). 1/a is estimated from all columns together, so that draws change nothing
where the rows err by less than the draws do.
"""

from __future__ import annotations

import numpy as np

from deniable.arrays import Floats
from deniable.channel.channel import Channel
from deniable.channel.draws import Draws
from deniable.interfaces import Mechanism

FEWEST_INPUTS = 1_000
"""A channel of fewer words stays as the rays are: its rows are looked at one by one, and then say what an explanation of the word says."""

_DRAWS_PER_INPUT = 50
_SEED = 11


def column_factors(channel: Channel, mechanism: Mechanism) -> Floats:
    """Return by what to multiply the probability of each released word, in all rows; 1 for words that nothing is known of."""
    weights = 1.0 / (1.0 + np.arange(len(channel)))
    inputs = np.sort(channel.inputs)  # ids go by rank; the order of the rows does not matter
    shares = np.zeros(len(channel))
    shares[channel.places(inputs)] = weights / weights.sum()
    draws = _DRAWS_PER_INPUT * len(channel)
    random = np.random.Generator(np.random.PCG64(_SEED))
    drawn = Draws(mechanism, seed=_SEED).of_each(random.choice(channel.inputs, size=draws, p=shares))
    counts = np.bincount(drawn, minlength=len(channel.embedding)).astype(np.float64)
    expected = draws * channel.output_shares(shares)
    return shrunken(counts, expected)


def shrunken(counts: Floats, expected: Floats) -> Floats:
    """Return (n + a)/(E + a), a from the spread of all counts around what was expected; ones where chance alone explains it."""
    excess = float(((counts - expected) ** 2 - expected).sum())
    if excess <= 0.0:
        return np.ones_like(expected)
    prior = float((expected**2).sum()) / excess
    factors: Floats = (counts + prior) / (expected + prior)
    return factors
