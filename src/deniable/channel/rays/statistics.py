"""N_w, S_w and the Rényi entropies of what a word becomes, at any ε, from its rays and the distribution of
the length of the noise.

With J independent rays, N_w(ε) is estimated by the mean of F_n(ε·R₁) over the rays: each ray gives a number
between 0 and 1 whose expectation is N_w, so the mean is unbiased and its error is the usual one. The paper's
form draws one length per ray and counts; it has the same expectation and more variance. Different words share
the rays: errors of different words are correlated, and the error of an average over words is taken over the
rays (``average_unchanged``), which are independent.

S_w and H₀ count words that were met. Words that no ray meets are missing, so both are estimates from below;
their standard errors (``jackknife``) say how much another set of as many rays would give, and nothing about
what all rays miss. The paper swaps two names: H₀ is the Hartley or max-entropy, H_∞ the min-entropy.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from deniable.arrays import Floats, Ids
from deniable.channel.distribution import ETA, Distribution
from deniable.channel.rays.rays import Envelope, Pieces
from deniable.noise.randomness import RadialNoise

GROUPS = 20
"""The errors of S_w and of the entropies come from leaving out one of this many groups of rays at a time."""

_BEYOND = 1e-9
"""Rays are walked until so much of the probability is left."""

_VALUES_AT_ONCE = 1 << 22
_TABLE_POINTS = 1 << 16
_TABLE_TAIL = 1e-13
_LENGTH_SEED = 2


class LengthFunction:
    """The distribution function of the length of noise at ε = 1, as a table with straight lines between its
    points: within 10⁻⁷ of the true value, and much faster.

    Lengths are Gamma(n, 1), that of noise with density exp(-‖z‖), or χ_n, that of n standard normal numbers.
    The function never decreases, so that what is computed from it keeps the order that ε gives.
    """

    def __init__(self, lengths: str, dimension: int) -> None:
        self.dimension, self._normal = dimension, lengths == "chi"
        self._shape = dimension / 2 if self._normal else dimension
        self._low, high = self.quantile(_TABLE_TAIL), self.quantile(1.0 - _TABLE_TAIL)
        self._steps = (_TABLE_POINTS - 1) / (high - self._low)
        self._values = np.maximum.accumulate(self._exact(np.linspace(self._low, high, _TABLE_POINTS)))
        self._values[[0, -1]] = 0.0, 1.0
        self._next = np.append(self._values[1:], 1.0)

    def __call__(self, lengths: Floats) -> Floats:
        """Return the probability of a length at most this long, for each length; infinity is allowed."""
        # The points are evenly spaced, so a place is computed and not searched for: five times as fast as
        # np.interp.
        places: Floats = np.subtract(lengths, self._low)
        places = np.clip(places * self._steps, 0, _TABLE_POINTS - 1)
        below = np.asarray(places, dtype=np.int32)
        start, end = self._values[below], self._next[below]
        values: Floats = np.minimum(start + (places - below) * (end - start), end)
        return values

    def quantile(self, share: float) -> float:
        """Return the length that a share of the draws does not exceed."""
        from scipy.special import gammaincinv

        length = gammaincinv(self._shape, share)
        return float(np.sqrt(2.0 * length) if self._normal else length)

    def draws(self, rays: int) -> Floats:
        """Return one length per ray from a public seed: the paper's single draw, the same for every word and
        ε."""
        random = np.random.Generator(np.random.PCG64([_LENGTH_SEED, self.dimension]))
        lengths: Floats = random.standard_gamma(self._shape, rays)
        return np.sqrt(2.0 * lengths) if self._normal else lengths

    def _exact(self, lengths: Floats) -> Any:
        from scipy.special import gammainc

        return gammainc(self._shape, np.square(lengths) / 2 if self._normal else lengths)


def length_function(noise: RadialNoise) -> LengthFunction:
    """Return the distribution of the length of this noise at ε = 1."""
    return _function_of(noise.lengths, noise.dimension)


_function_of = functools.cache(LengthFunction)


def unchanged(radii: Floats, epsilons: Floats, gamma: LengthFunction) -> tuple[Floats, Floats]:
    """Return N_w of each word (row of first breakpoints) at each ε, and the standard errors, both (words,
    epsilons)."""
    words, rays = radii.shape
    means, errors = np.empty((words, len(epsilons))), np.empty((words, len(epsilons)))
    for part, block in _blocks(radii):
        for e, epsilon in enumerate(epsilons):
            stays = gamma(epsilon * block)
            means[part, e] = stays.mean(axis=1)
            errors[part, e] = stays.std(axis=1, ddof=1 if rays > 1 else 0) / math.sqrt(rays)
    return means, errors


def _blocks(radii: Floats) -> Iterator[tuple[slice, Floats]]:
    """Yield some rows at a time, in float64."""
    at_once = max(1, _VALUES_AT_ONCE // radii.shape[1])
    for start in range(0, len(radii), at_once):
        part = slice(start, start + at_once)
        yield part, np.asarray(radii[part], dtype=np.float64)


def average_unchanged(radii: Floats, epsilon: float, gamma: LengthFunction) -> tuple[float, float]:
    """Return the average of N_w over the words and its standard error, which counts that words share the
    rays."""
    words, rays = radii.shape
    totals = np.zeros(rays)
    for _, block in _blocks(radii):
        totals += gamma(epsilon * block).sum(axis=0)
    averages = totals / words
    return float(averages.mean()), float(averages.std(ddof=1 if rays > 1 else 0) / math.sqrt(rays))


def unchanged_counts(radii: Floats, epsilon: float, draws: Floats) -> Ids:
    """Return how many of the draws, one per ray, leave each word unchanged: the paper's N_w, per 1,000 with
    1,000 rays."""
    counts = np.empty(len(radii), dtype=np.int64)
    for part, block in _blocks(radii):
        counts[part] = (draws < epsilon * block).sum(axis=1)
    return counts


def distinct_words(envelope: Envelope, epsilon: float, draws: Floats) -> int:
    """Return how many distinct words one draw per ray gives: the paper's S_w with 1,000 rays."""
    return len(np.unique(envelope.at(draws / epsilon)))


def furthest_radius(epsilon: float, gamma: LengthFunction, draws: Floats | None = None) -> float:
    """Return how far rays must be walked for this ε: beyond it lies 10⁻⁹ of the probability, and no draw."""
    reach = gamma.quantile(1.0 - _BEYOND)
    return max(reach, 0.0 if draws is None else float(draws.max())) * (1.0 + 1e-9) / epsilon


def distribution_on_rays(envelope: Envelope, epsilon: float, gamma: LengthFunction) -> Distribution:
    """Return what the word becomes at this ε, from walks that went far enough (``furthest_radius``)."""
    rays, pieces = len(envelope.counts), envelope.pieces
    masses = _masses(pieces, epsilon, gamma)
    sums = np.bincount(pieces.places, weights=masses, minlength=len(pieces.met))
    # A ray meets a word at most once, so the squares of its pieces add up to the second moment.
    squares = np.bincount(pieces.places, weights=masses * masses, minlength=len(pieces.met))
    means = sums / rays
    errors = np.sqrt(np.maximum(squares / rays - means * means, 0.0) / max(rays - 1, 1))
    order = np.argsort(-means, kind="stable")  # the words that were met rise, so that ties go to the lowest
    order = order[means[order] > 0.0]
    return Distribution(words=pieces.met[order], probabilities=means[order], standard_errors=errors[order])


def row_on_rays(envelope: Envelope, epsilon: float, gamma: LengthFunction) -> tuple[Ids, Floats, float]:
    """Return the words that the word becomes at this ε, how likely each is, and how likely those are together
    that only one ray met.

    The likeliest come first, as in ``distribution_on_rays``; errors are left out, which a channel has no use
    for.
    """
    rays, pieces = len(envelope.counts), envelope.pieces
    means = (
        np.bincount(pieces.places, weights=_masses(pieces, epsilon, gamma), minlength=len(pieces.met)) / rays
    )
    reached = pieces.places[pieces.begins < furthest_radius(epsilon, gamma)]
    once = float(means[np.bincount(reached, minlength=len(means)) == 1].sum())
    there = np.flatnonzero(means)
    order = there[np.argsort(-means[there], kind="stable")]
    return pieces.met[order], means[order], once


def jackknife(
    envelope: Envelope, epsilon: float, gamma: LengthFunction, eta: float = ETA
) -> tuple[float, Floats]:
    """Return the standard errors of S_w and of the four entropies at this ε.

    Each is computed again without one group of rays after the other. The spread of these values is that of
    the estimate, made smaller by a known factor (Shao and Tu, The Jackknife and Bootstrap, 1995, section
    2.3).
    """
    rays, pieces = len(envelope.counts), envelope.pieces
    groups, met = min(GROUPS, rays), len(pieces.met)
    if groups < 2:
        return math.nan, np.full(4, math.nan)
    membership = np.arange(rays) * groups // rays
    places = membership[pieces.owners] * met + pieces.places
    sums = np.bincount(places, weights=_masses(pieces, epsilon, gamma), minlength=groups * met).reshape(
        groups, met
    )
    sums = sums[:, sums.any(axis=0)]  # at a large ε most words that were met have nothing
    left = np.maximum(sums.sum(axis=0) - sums, 0.0)
    left[(np.count_nonzero(sums, axis=0) == 1) & (sums > 0.0)] = 0.0  # what is left of such words is rounding
    left /= (rays - np.bincount(membership, minlength=groups))[:, None]
    falling = np.sort(left, axis=1)[:, ::-1]
    reached = np.cumsum(falling, axis=1) >= (1.0 - eta) * (1.0 - 1e-12)
    support = np.where(reached.any(axis=1), reached.argmax(axis=1) + 1, met)
    shannon = -(left * np.log2(np.where(left > 0.0, left, 1.0))).sum(axis=1)
    collision, top = -np.log2(np.square(left).sum(axis=1)), -np.log2(falling[:, 0])
    values = np.stack([support, np.log2(np.count_nonzero(left, axis=1)), shannon, collision, top])
    errors: Floats = np.sqrt(
        (groups - 1) / groups * np.square(values - values.mean(axis=1, keepdims=True)).sum(axis=1)
    )
    return float(errors[0]), errors[1:]


def _masses(pieces: Pieces, epsilon: float, gamma: LengthFunction) -> Floats:
    """Return how likely a ray's length ends in each piece."""
    reached = gamma(epsilon * pieces.begins)
    reached[reached >= 1.0 - _BEYOND] = (
        1.0  # a ray may have been walked further for a smaller ε: the numbers are the same
    )
    masses: Floats = np.ones(len(reached))
    masses[~pieces.last] = reached[1:][~pieces.last[:-1]]
    return masses - reached
