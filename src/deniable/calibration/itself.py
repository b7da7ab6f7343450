"""How often protected words come out themselves, by rays.

A protected word goes in as another, so its first breakpoints say how often that other word stays. The word itself comes out where a
ray from there crosses its cell: it has to be walked for, and it need not come out more often when ε grows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deniable.arrays import Floats, Ids
from deniable.channel.rays.radial import RadialRays
from deniable.channel.rays.statistics import distribution_on_rays, furthest_radius
from deniable.embeddings.embedding import Embedding
from deniable.neighbours.released import first_of_each
from deniable.noise import RadialNoise


@dataclass(frozen=True, kw_only=True)
class Itself:
    """What protected words have at one ε: Pr[M(w) = w] with its standard error, and how many of one draw per ray gave the word."""

    means: Floats
    errors: Floats
    counts: Ids


def come_out_themselves(embedding: Embedding, noise: RadialNoise, ids: Ids, epsilons: list[float], *, rays: int) -> dict[float, Itself]:
    """Return this of the words at each ε, from one walk a word; of words with one vector the first counts."""
    engine, shape = RadialRays(embedding, noise, rays=rays), (len(epsilons), len(ids))
    length = engine.length
    draws, means, errors, counts = length.draws(rays), np.zeros(shape), np.zeros(shape), np.zeros(shape, dtype=np.int64)
    walks = engine.envelopes(ids, furthest=furthest_radius(min(epsilons), length, draws))
    for column, (word, envelope) in enumerate(zip(first_of_each(embedding)[ids].tolist(), walks, strict=True)):
        for row, epsilon in enumerate(epsilons):
            outputs = distribution_on_rays(envelope, epsilon, length)
            own = outputs.words == word
            means[row, column], errors[row, column] = outputs.probabilities[own].sum(), outputs.standard_errors[own].sum()
            counts[row, column] = np.count_nonzero(envelope.at(draws / epsilon) == word)
    return {e: Itself(means=m, errors=s, counts=c) for e, m, s, c in zip(epsilons, means, errors, counts, strict=True)}
