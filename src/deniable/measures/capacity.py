"""Capacity: by what factor can a reader's chance rise, on average, when the released word is seen?

For a channel C, F = Σ_y max_x C(y | x) is its multiplicative Bayes capacity (Braun, Chatzikokolakis,
Palamidessi 2009; Alvim et al. 2012; its logarithm is the maximal leakage of Issa, Wagner and Kamath 2020).
For every prior π and every gain function g ≥ 0 (the word, its kind, ten guesses):

    expected best gain after reading y  =  Σ_y max_w Σ_x π(x)·C(y | x)·g(w, x)
                                        ≤  Σ_y max_x C(y | x) · max_w Σ_x π(x)·g(w, x)  =  F · best gain
                                        before.

"Before" means knowing all but this word: the other released words, and what is public. m independent draws
about one fact multiply: F^m. Equal words under a ``consistent`` key share a draw, so that the factor is not
repeated for them, but each is no independent draw either.

**Noise in a space.** A released word is a function of the noisy point z, and a function only joins outputs: F
≤ ∫ max_x p(z | x) dz. With k input points that integral is k·E[max_x P(x | z)] for x drawn uniformly: k times
the Bayes bound at equal frequencies (``bayes_bound``). Input points are the places that words go in at: words
with one vector count once, protected words as their stand-ins, and the unknown word is one of them. So this
holds for Mahalanobis too, in whose metric the likeliest input is another than the Euclidean nearest word, and
for Vickrey and rank smoothing, which are made of the noisy point of another mechanism.

**F as a sum of the paper's statistic.** Where the noise is round (Multivariate, Gaussian), no word is
protected and the nearest word is released, the sum of N_w is F. Let O be the words that can come out, one for
each vector, and C_y the points that lie nearest to y. The density falls with distance, so max_x p(z | x) is
reached by the word nearest to z, and

    ∫ max_x p(z | x) dz  =  Σ_{y in O} ∫_{C_y} p(z | y) dz  =  Σ_{y in O} N_y.

P(y | y) = N_y gives F ≥ Σ N_y as well. So a calibration of all words knows F at every ε. The unknown word
goes in and never comes out: with it F grows by at most its own chance to stay nearest to its noise, which is
at most 1.

**Around the mechanism.** A kept word comes out as itself, and no more is known of it: F ≤ F of the others + 1
for each. ``redact`` and ``drop`` make one more output of all unknown words: + 1. ``error`` has no unknown
words. ``subwords`` puts unknown words at places of their own, of which there are infinitely many: nothing is
known. Budgets of records: noise at a smaller ε is noise at a larger ε plus independent noise, so F rises with
ε, and F at the largest ε that a word can get holds for all.

**Exact sums** (softmax family, line, CusText, randomised response): the maximum over all rows, the unknown
word among them. Never the sum of N_w: the largest chance of an output need not be its own word's.

It is an average over draws and words. A single isolated word can be recognised far more often than F times as
well as before.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from deniable.arrays import Floats, Ids
from deniable.interfaces import Mechanism
from deniable.measures.bayes_bound import Words, bayes_bound
from deniable.measures.estimate import Estimate
from deniable.mechanisms.base import radial_noise
from deniable.neighbours.selection import first_of_each, released_words

DRAWS = 12_000
STATEMENT = (
    "on average over words and draws, whatever the reader knows before and wants to guess; before means "
    "knowing all other released "
    "words, for independent draws"
)
_NONE = np.array([], dtype=np.int64)
_ONE_SIDED = 1.6448536269514722  # 95 % of a normal variable


def capacity(
    mechanism: Mechanism, *, unknown: str = "perturb", kept: Ids = _NONE, draws: int = DRAWS, seed: int = 17
) -> Estimate | None:
    """Return F of a mechanism between the policies around it; None where it is not known. ``unknown`` is the
    policy for unknown words, ``kept`` are words that come out as themselves."""
    if unknown == "subwords":
        return None
    embedding = mechanism.embedding
    words = np.setdiff1d(np.arange(len(embedding)), kept)
    if unknown == "perturb":
        words = np.append(words, embedding.unknown_id)
    places = np.append(
        first_of_each(embedding), embedding.unknown_id
    )  # where each word goes in: words with one vector at one place
    shares = np.zeros(len(embedding) + 1)
    shares[places[embedding.stands_in(words)]] = 1.0
    if not shares.any():
        return _with_policies(0.0, 0.0, 0.0, unknown, kept)
    bound = bayes_bound(
        mechanism, Words(shares=shares, in_words="all words equally often"), draws=draws, seed=seed
    )
    if bound is None:
        return None
    count = float(shares.sum())
    return _with_policies(count * bound.value, count * bound.low, count * bound.high, unknown, kept)


def sum_of_unchanged(
    mechanism: Mechanism,
    ids: Ids,
    unchanged: Floats,
    error_of_mean: float,
    *,
    at_random: bool,
    unknown: str = "perturb",
    kept: Ids = _NONE,
) -> Estimate | None:
    """Return F as the sum of N_w; None where the sum is not F, or the words are neither all nor drawn at
    random. ``error_of_mean`` is the standard error of the mean of ``unchanged``."""
    embedding, noise = mechanism.embedding, radial_noise(mechanism)
    if noise is None or noise.shape is not None or embedding.protection is not None or unknown == "subwords":
        return None
    outputs = np.setdiff1d(released_words(embedding), kept)
    looked_at = np.isin(ids, outputs)
    count, sample = len(outputs), int(looked_at.sum())
    if sample < count and not (at_random and sample > 1):
        return None
    mean = float(unchanged[looked_at].mean()) if sample else 0.0
    between = (
        float(unchanged[looked_at].var(ddof=1)) / sample * (1.0 - sample / count)
        if 1 < sample < count
        else 0.0
    )
    reach = _ONE_SIDED * float(np.sqrt(error_of_mean**2 + between))
    ends = (count * max(0.0, mean - reach), count * min(1.0, mean + reach))
    one_more = float(unknown == "perturb")  # the unknown word itself, at most
    found = _with_policies(count * mean, *ends, unknown, kept)
    return replace(found, value=found.value + one_more, high=found.high + one_more)


def _with_policies(value: float, low: float, high: float, unknown: str, kept: Ids) -> Estimate:
    """Return the capacity of a mechanism with the outputs that the policies add."""
    more = len(np.unique(kept)) + float(unknown in ("redact", "drop"))
    value, low, high = (max(1.0, each + more) for each in (value, low, high))
    return Estimate(value=value, low=low, high=high, blind=1.0, statement=STATEMENT)
