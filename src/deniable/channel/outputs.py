"""What a word becomes under a mechanism, with probabilities: for explanations and calibrations.

By exact sums, by rays or by draws, as ``method_of`` decides, and the answer says which. In one dimension rays
pass all words of the vocabulary, and the chance of each word is the chance of an interval: it is summed.

Everything here is about a public embedding and words the caller names; it is not a release of anybody's text.
"""

from __future__ import annotations

import numpy as np

from deniable.arrays import Floats, Ids
from deniable.channel.distribution import OutputDistribution, binomial_error
from deniable.channel.rays.rays import Rays
from deniable.channel.rays.statistics import (
    distinct_words,
    distribution_on_rays,
    furthest_radius,
    length_function,
)
from deniable.interfaces import Mechanism
from deniable.mechanisms.base import exact_sums, radial_noise
from deniable.neighbours.selection import released_words
from deniable.noise.randomness import RadialNoise, SecureRandomness
from deniable.parameters import validated_count


def output_distribution(mechanism: Mechanism, word: int, *, draws: int = 1000) -> OutputDistribution:
    """Return what a word id (or ⊥) becomes, by the best method there is for the mechanism.

    ``draws`` is the number of directions to follow or of draws to make. A protected word becomes what the
    word that stands in for it becomes.

    :raises InvalidParameter: if ``draws`` is not a whole number of at least 1.
    """
    draws = validated_count(draws, "draws")
    entering = mechanism.embedding.stands_in(np.array([word], dtype=np.int64))
    sums, noise = exact_sums(mechanism), radial_noise(mechanism)
    on_a_line = noise is not None and noise.dimension == 1 and noise.shape is None
    if noise is not None and sums is None and not on_a_line:
        return _by_rays(mechanism, noise, int(entering[0]), draws)
    released = mechanism.perturb(np.repeat(entering, draws), SecureRandomness())
    words, counts = np.unique(released, return_counts=True)
    distinct, probabilities, errors = len(words), counts / draws, binomial_error(counts, draws)
    exact = sums is not None or on_a_line
    if sums is not None:
        ((words, probabilities),) = sums.probabilities(entering)
    elif noise is not None and on_a_line:
        words, probabilities = _on_a_line(mechanism, noise, int(entering[0]))
    if exact:
        errors = np.zeros(len(words))
    order = np.lexsort((words, -probabilities))
    order = order[probabilities[order] > 0.0]
    return OutputDistribution(
        words=words[order],
        probabilities=probabilities[order],
        standard_errors=errors[order],
        method="exact" if exact else "simulation",
        draws=draws,
        distinct=distinct,
    )


def _on_a_line(mechanism: Mechanism, noise: RadialNoise, word: int) -> tuple[Ids, Floats]:
    """Return the words that can be released in one dimension, and the chance of being nearest to the point of
    each."""
    from scipy.special import gammaincc

    embedding, words = mechanism.embedding, released_words(mechanism.embedding)
    places = embedding.vectors[words, 0].astype(np.float64)
    order = np.argsort(places, kind="stable")
    words, places = words[order], places[order]
    borders = (places[1:] + places[:-1]) / 2.0 - float(embedding.rows(np.array([word]))[0, 0])
    away = mechanism.epsilon * np.abs(borders)
    # Chances of tails are subtracted on the side where they are small: no digit is lost far out.
    tails = 0.5 * (np.exp(-away) if noise.lengths == "gamma" else gammaincc(0.5, away**2 / 2.0))
    above = np.concatenate([[1.0], np.where(borders >= 0.0, tails, 1.0 - tails), [0.0]])
    below = np.concatenate([[0.0], np.where(borders >= 0.0, 1.0 - tails, tails), [1.0]])
    chances = np.where(above[:-1] <= below[1:], above[:-1] - above[1:], below[1:] - below[:-1])
    return words, chances


def _by_rays(mechanism: Mechanism, noise: RadialNoise, word: int, rays: int) -> OutputDistribution:
    epsilon, length = mechanism.epsilon, length_function(noise)
    lengths = length.draws(rays)
    envelope = Rays(mechanism.embedding, noise, rays=rays).envelope(
        word, furthest=furthest_radius(epsilon, length, lengths)
    )
    return OutputDistribution(
        **vars(distribution_on_rays(envelope, epsilon, length)),
        method="rays",
        draws=rays,
        distinct=distinct_words(envelope, epsilon, lengths),
    )
