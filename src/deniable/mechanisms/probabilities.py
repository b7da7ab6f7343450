"""What a word becomes under a mechanism, with probabilities: for explanations, audits and comparisons.

Three methods, and the answer says which one was used:

- ``exact``: the mechanism can sum its own distribution (the softmax family, randomised response); standard errors are 0.
- ``rays``: noise is a length times a direction, and one walk along a direction gives the released word for every length
  (``calibration.rays``). For the multivariate mechanism the length is Gamma(n, 1/ε). For the Mahalanobis mechanism the
  direction is A·g, walked as a unit vector with lengths divided by ‖A·g‖. For the Gaussian mechanism the length is χ_n/ε.
- ``simulation``: as many draws of the mechanism itself; for all others, and wherever a source of randomness is given.

Everything here is about a public embedding and words the caller names; it is not a release of anybody's text.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal, Protocol, runtime_checkable

import numpy as np

from deniable.calibration.gamma import ChiFunction, GammaFunction, chi_draws, gamma_draws
from deniable.calibration.rays import SEED, Envelope, Rays
from deniable.calibration.single import word_envelope
from deniable.calibration.statistics import Distribution, distinct_words, furthest_radius
from deniable.calibration.statistics import output_distribution as distribution_on_rays
from deniable.calibration.tables import unit_directions
from deniable.interfaces import Floats, Ids, Mechanism, Randomness
from deniable.mechanisms.gaussian import Gaussian
from deniable.mechanisms.mahalanobis import Mahalanobis
from deniable.mechanisms.multivariate import Multivariate
from deniable.parameters import validated_count
from deniable.randomness import SecureRandomness

Method = Literal["exact", "rays", "simulation"]

_LARGEST_TABLE = 1 << 28
_FEW_WORDS = 4


@dataclass(frozen=True, kw_only=True)
class OutputDistribution(Distribution):
    """The words that an input becomes, by falling probability, with standard errors.

    ``draws`` are the directions or draws it was estimated from, and ``distinct`` how many distinct words one draw for each of
    them gave; for an exact distribution as many draws were made just for that.
    """

    method: Method
    draws: int
    distinct: int


@runtime_checkable
class SumsItself(Protocol):
    """A mechanism that knows its output distribution exactly."""

    def probabilities(self, ids: Ids) -> Iterator[tuple[Ids, Floats]]:
        """Yield for each input id the ids of the words that can be released and their exact probabilities."""
        ...


def output_distribution(mechanism: Mechanism, word: int, *, draws: int = 1000, randomness: Randomness | None = None) -> OutputDistribution:
    """Return what one word id (or ⊥) becomes; see ``output_distributions``."""
    return next(output_distributions(mechanism, np.array([word], dtype=np.int64), draws=draws, randomness=randomness))


def output_distributions(
    mechanism: Mechanism, ids: Ids, *, draws: int = 1000, randomness: Randomness | None = None
) -> Iterator[OutputDistribution]:
    """Yield what each word id (or ⊥) becomes, by the best method there is for the mechanism.

    ``draws`` is the number of directions to follow or of draws to make. With a source of ``randomness`` it is always simulated.
    A protected word becomes what the word that stands in for it becomes.

    :raises InvalidParameter: if ``draws`` is not a whole number of at least 1.
    """
    draws = validated_count(draws, "draws")
    ids = mechanism.embedding.stands_in(np.asarray(ids, dtype=np.int64))
    if randomness is None and isinstance(mechanism, SumsItself):
        return _exact(mechanism, mechanism, ids, draws)
    if randomness is None and isinstance(mechanism, (Multivariate, Mahalanobis, Gaussian)):
        return _by_rays(mechanism, ids, draws)
    return _by_simulation(mechanism, ids, draws, SecureRandomness() if randomness is None else randomness)


def _exact(mechanism: Mechanism, sums: SumsItself, ids: Ids, draws: int) -> Iterator[OutputDistribution]:
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


def _by_rays(mechanism: Multivariate | Mahalanobis | Gaussian, ids: Ids, rays: int) -> Iterator[OutputDistribution]:
    embedding, epsilon = mechanism.embedding, mechanism.epsilon
    normal = isinstance(mechanism, Gaussian)
    length = ChiFunction(embedding.dimension) if normal else GammaFunction(embedding.dimension)
    lengths = chi_draws(rays, embedding.dimension) if normal else gamma_draws(rays, embedding.dimension)
    directions, stretch = unit_directions(rays, embedding.dimension, seed=SEED), np.ones(rays)
    if isinstance(mechanism, Mahalanobis):
        directions = directions @ mechanism.shape
        stretch = np.sqrt(np.einsum("ij,ij->i", directions, directions))
        directions /= stretch[:, None]
    furthest = furthest_radius(epsilon, length, lengths) * float(stretch.max())
    for walked in _envelopes(mechanism, ids, directions, furthest):
        envelope = replace(walked, radii=walked.radii / np.repeat(stretch, walked.counts))
        found = distribution_on_rays(envelope, epsilon, length)
        yield OutputDistribution(
            words=found.words,
            probabilities=found.probabilities,
            standard_errors=found.standard_errors,
            method="rays",
            draws=rays,
            distinct=distinct_words(envelope, epsilon, lengths),
        )


def _envelopes(mechanism: Mechanism, ids: Ids, directions: Floats, furthest: float) -> Iterator[Envelope]:
    embedding = mechanism.embedding
    # Tables shared by all words pay for many of them, where they fit.
    if len(ids) > _FEW_WORDS and len(embedding) * len(directions) <= _LARGEST_TABLE:
        yield from Rays(embedding, directions=directions).envelopes(ids, furthest=furthest)
        return
    for word in ids.tolist():
        yield word_envelope(embedding, word, rays=len(directions), furthest=furthest, directions=directions)


def _by_simulation(mechanism: Mechanism, ids: Ids, draws: int, randomness: Randomness) -> Iterator[OutputDistribution]:
    for word in ids.tolist():
        met, counts = np.unique(mechanism.perturb(np.full(draws, word, dtype=np.int64), randomness), return_counts=True)
        order = np.lexsort((met, -counts))
        yield OutputDistribution(
            words=met[order],
            probabilities=counts[order] / draws,
            standard_errors=binomial_error(counts[order], draws),
            method="simulation",
            draws=draws,
            distinct=len(met),
        )


def binomial_error(counts: Ids, draws: int) -> Floats:
    """Return the standard errors of shares counted in so many draws."""
    # Two draws more, one of each kind, keep the error of "never" and "always" above zero.
    smoothed = (counts + 1) / (draws + 2)
    errors: Floats = np.sqrt(smoothed * (1 - smoothed) / (draws + 2))
    return errors
