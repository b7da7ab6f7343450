"""How many points are drawn around each input word: for all outputs, or for those that were asked for.

The estimate by shared points is unbiased however they are spread (``points``); a good spread makes it precise
with fewer of them.
"""

from __future__ import annotations

import numpy as np

from deniable.arrays import Ids, Vectors
from deniable.channel.draws import SeededPoints
from deniable.channel.points import NoiseMetric
from deniable.embeddings.embedding import Embedding
from deniable.mechanisms.base import NearestWord
from deniable.noise.randomness import RadialNoise

MOST_DRAWS_EACH = 200
"""No more points are drawn than this times the outputs: a few are kept of each, and of how many is then known
within 7 % or so."""

SPREAD_DRAWS = 150_000
"""How many points are drawn around all input words where some outputs are asked for: they meet those that are
released most."""

LEAST_MET = 32
"""An output that fewer of these points are expected to meet gets points around the words near it."""

SPREAD_AN_OUTPUT = 40
"""There are as many of them as this for each output, where that is more."""

NEAR, DRAWS_AROUND = 40, 30
"""From how many words near such an output, and how many from each at most: all together no more than are
spread."""

_PILOT_DRAWS = 50_000
_NUMBERS_AT_ONCE = 1 << 24


def draws_each(embedding: Embedding, inputs: int, wanted: int) -> int:
    """Return how many points are drawn for each of so many input words, where so many are wanted; at least
    one."""
    return max(1, min(wanted, MOST_DRAWS_EACH * len(embedding) // inputs))


def draws_of_inputs(embedding: Embedding, inputs: Ids, draws: int) -> Ids:
    """Return how many of about so many points are drawn around each input word, in the order of their ranks;
    at least one.

    Half are the same for all, and half go by rank, as frequent words are released most and ought to be told
    best. ⊥ stands for many words, and lies where the points of no other word come: it gets as many as the
    most frequent word.
    """
    by_rank = 1.0 / (1.0 + np.arange(len(inputs)))
    by_rank[inputs == embedding.unknown_id] = 1.0
    shares = 0.5 / len(inputs) + 0.5 * by_rank / by_rank.sum()
    counts: Ids = np.maximum(1, np.round(shares * draws)).astype(np.int64)
    return counts


def draws_for_outputs(
    mechanism: NearestWord, noise: RadialNoise, inputs: Ids, outputs: Ids, *, seed: int
) -> Ids:
    """Return how many points to draw around each input word so that some come out as each of these outputs.

    A pilot says which outputs points around all words seldom meet. Its own points are not used again: an
    estimate from points whose number depended on them would be biased.
    """
    embedding = mechanism.embedding
    each = draws_of_inputs(embedding, inputs, max(SPREAD_DRAWS, SPREAD_AN_OUTPUT * len(outputs)))
    pilot = draws_of_inputs(embedding, inputs, _PILOT_DRAWS)
    _, met = SeededPoints(mechanism, seed=seed).of_each(embedding.stands_in(np.repeat(inputs, pilot)))
    expected = np.bincount(met, minlength=len(embedding))[outputs] * (each.sum() / pilot.sum())
    seldom = outputs[expected < LEAST_MET]
    near = _near(NoiseMetric(mechanism, noise, inputs), embedding.rows(seldom), min(NEAR, len(inputs)))
    np.add.at(each, near.ravel(), max(1, min(DRAWS_AROUND, int(each.sum()) // max(1, near.size))))
    return each


def _near(metric: NoiseMetric, vectors: Vectors, count: int) -> Ids:
    """Return the places of the input words that lie nearest to each vector, as the noise sees them."""
    inputs, points = metric.inputs, metric.of(vectors)
    squares = np.einsum("ij,ij->i", inputs, inputs)
    found = np.empty((len(points), count), dtype=np.int64)
    at_once = max(1, _NUMBERS_AT_ONCE // len(inputs))
    for start in range(0, len(points), at_once):
        apart = squares - 2.0 * (points[start : start + at_once] @ inputs.T)
        found[start : start + at_once] = np.argpartition(apart, count - 1, axis=1)[:, :count]
    return found
