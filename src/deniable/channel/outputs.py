"""What a word becomes under a mechanism, with probabilities: for explanations and calibrations.

By exact sums, by rays or by draws, as ``method_of`` decides, and the answer says which.

Everything here is about a public embedding and words the caller names; it is not a release of anybody's text.
"""

from __future__ import annotations

import numpy as np

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
    if noise is not None and sums is None:
        return _by_rays(mechanism, noise, int(entering[0]), draws)
    released = mechanism.perturb(np.repeat(entering, draws), SecureRandomness())
    words, counts = np.unique(released, return_counts=True)
    distinct, probabilities, errors = len(words), counts / draws, binomial_error(counts, draws)
    if sums is not None:
        ((words, probabilities),) = sums.probabilities(entering)
        errors = np.zeros(len(words))
    order = np.lexsort((words, -probabilities))
    order = order[probabilities[order] > 0.0]
    return OutputDistribution(
        words=words[order],
        probabilities=probabilities[order],
        standard_errors=errors[order],
        method="simulation" if sums is None else "exact",
        draws=draws,
        distinct=distinct,
    )


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
