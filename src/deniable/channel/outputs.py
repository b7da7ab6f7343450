"""What a word becomes under a mechanism, with probabilities: for explanations, audits and comparisons.

By exact sums, by rays or by draws, as ``method_of`` decides, and the answer says which; by draws wherever a
source of randomness is given.

Everything here is about a public embedding and words the caller names; it is not a release of anybody's text.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from deniable.arrays import Ids
from deniable.channel.distribution import OutputDistribution, binomial_error
from deniable.channel.rays.rays import Envelope, RadialRays
from deniable.channel.rays.statistics import (
    distinct_words,
    distribution_on_rays,
    furthest_radius,
    length_function,
)
from deniable.interfaces import Mechanism, Randomness
from deniable.mechanisms.base import ExactSums, exact_sums, radial_noise
from deniable.noise.randomness import RadialNoise, SecureRandomness
from deniable.parameters import validated_count

_LARGEST_TABLE = 1 << 28
_FEW_WORDS = 4


def output_distribution(
    mechanism: Mechanism, word: int, *, draws: int = 1000, randomness: Randomness | None = None
) -> OutputDistribution:
    """Return what one word id (or ⊥) becomes; see ``output_distributions``."""
    return next(
        output_distributions(mechanism, np.array([word], dtype=np.int64), draws=draws, randomness=randomness)
    )


def output_distributions(
    mechanism: Mechanism, ids: Ids, *, draws: int = 1000, randomness: Randomness | None = None
) -> Iterator[OutputDistribution]:
    """Yield what each word id (or ⊥) becomes, by the best method there is for the mechanism.

    ``draws`` is the number of directions to follow or of draws to make. With a source of ``randomness`` it is
    always simulated. A protected word becomes what the word that stands in for it becomes.

    :raises InvalidParameter: if ``draws`` is not a whole number of at least 1.
    """
    draws = validated_count(draws, "draws")
    ids = mechanism.embedding.stands_in(np.asarray(ids, dtype=np.int64))
    if randomness is None and (sums := exact_sums(mechanism)) is not None:
        return _exact(mechanism, sums, ids, draws)
    if randomness is None and (noise := radial_noise(mechanism)) is not None:
        return _by_rays(mechanism, noise, ids, draws)
    return _by_simulation(mechanism, ids, draws, SecureRandomness() if randomness is None else randomness)


def _exact(mechanism: Mechanism, sums: ExactSums, ids: Ids, draws: int) -> Iterator[OutputDistribution]:
    for word, (outputs, probabilities) in zip(ids.tolist(), sums.probabilities(ids), strict=True):
        order = np.lexsort((outputs, -probabilities))
        order = order[probabilities[order] > 0.0]
        released = mechanism.perturb(np.full(draws, word, dtype=np.int64), SecureRandomness())
        yield OutputDistribution(
            words=outputs[order],
            probabilities=probabilities[order],
            standard_errors=np.zeros(len(order)),
            method="exact",
            draws=draws,
            distinct=len(np.unique(released)),
        )


def _by_rays(mechanism: Mechanism, noise: RadialNoise, ids: Ids, rays: int) -> Iterator[OutputDistribution]:
    engine, epsilon = RadialRays(mechanism.embedding, noise, rays=rays), mechanism.epsilon
    length, lengths = length_function(engine.noise), length_function(engine.noise).draws(rays)
    for envelope in _envelopes(engine, ids, furthest_radius(epsilon, length, lengths)):
        found = distribution_on_rays(envelope, epsilon, length)
        yield OutputDistribution(
            words=found.words,
            probabilities=found.probabilities,
            standard_errors=found.standard_errors,
            method="rays",
            draws=rays,
            distinct=distinct_words(envelope, epsilon, lengths),
        )


def _envelopes(engine: RadialRays, ids: Ids, furthest: float) -> Iterator[Envelope]:
    # Tables shared by all words pay for many of them, where they fit.
    if len(ids) > _FEW_WORDS and len(engine.embedding) * engine.rays <= _LARGEST_TABLE:
        yield from engine.envelopes(ids, furthest=furthest)
        return
    for word in ids.tolist():
        yield engine.envelope(word, furthest=furthest)


def _by_simulation(
    mechanism: Mechanism, ids: Ids, draws: int, randomness: Randomness
) -> Iterator[OutputDistribution]:
    for word in ids.tolist():
        met, counts = np.unique(
            mechanism.perturb(np.full(draws, word, dtype=np.int64), randomness), return_counts=True
        )
        order = np.lexsort((met, -counts))
        yield OutputDistribution(
            words=met[order],
            probabilities=counts[order] / draws,
            standard_errors=binomial_error(counts[order], draws),
            method="simulation",
            draws=draws,
            distinct=len(met),
        )
