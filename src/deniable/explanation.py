"""What a word may become: its output distribution, by rays or by simulation, and its neighbourhood in the embedding.

Everything here is about a public embedding and a word the caller names; it is not a release of anybody's text.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from deniable.errors import InvalidParameter
from deniable.interfaces import Mechanism, Randomness
from deniable.mechanisms.multivariate import Multivariate
from deniable.neighbours import best_neighbours
from deniable.parameters import validated_count
from deniable.randomness import SecureRandomness
from deniable.text.lookup import Lookup
from deniable.text.tokens import Tokeniser, normalise


@dataclass(frozen=True, slots=True)
class Outcome:
    """A word that came out, how often, and the standard error of that share."""

    word: str
    probability: float
    standard_error: float


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A near word, its distance, and ε times the distance: the bound on the log-likelihood ratio against it."""

    word: str
    distance: float
    bound: float


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """The answer of ``explain_word``. An unknown word is explained as ⊥, which cannot stay itself: ``unchanged`` is None."""

    word: str
    known: bool
    epsilon: float
    embedding: str
    draws: int
    unchanged: Outcome | None
    distinct: int
    outcomes: tuple[Outcome, ...]
    neighbours: tuple[Neighbour, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as JSON-ready data."""
        return asdict(self)


def explain_word(mechanism: Mechanism, word: str, *, draws: int = 1000, top: int = 10, randomness: Randomness | None = None) -> Explanation:
    """Return what ``word`` becomes along ``draws`` random directions, and its ``top`` nearest words.

    For the mechanism of the paper every direction is followed through all lengths of noise (``calibration.rays``), which
    gives much better estimates than as many draws. Other mechanisms, or a source of randomness given, are simulated. An
    unknown word is explained as ⊥, which is how it is treated, and a protected word as the one that stands in for it.
    Shares are estimates: each carries its standard error. ``unchanged`` estimates N_w; ``distinct`` counts the distinct
    words among one draw per direction (the paper's S_w with 1,000).

    :raises InvalidParameter: if ``word`` is not one word to the tokeniser, or ``draws`` or ``top`` is not a whole number
        of at least 1.
    """
    draws, top = validated_count(draws, "draws"), validated_count(top, "top")
    embedding = mechanism.embedding
    words = Tokeniser(embedding.index, cased=embedding.cased).words(normalise(word))
    if len(words) != 1:
        parts = f"is {len(words)} words in a text: {', '.join(words)}; explain one of them" if words else "holds no word"
        raise InvalidParameter("word", word, parts)
    word = words[0]
    word_id = Lookup(embedding).ids([word])[0]
    known = word_id != embedding.unknown_id
    goes_in = int(embedding.stands_in(np.array([word_id]))[0])
    if isinstance(mechanism, Multivariate) and randomness is None:
        outcomes, unchanged, distinct = _by_rays(mechanism, goes_in, word_id, draws)
    else:
        outcomes, unchanged, distinct = _by_draws(mechanism, goes_in, word_id, draws, randomness)
    near = min(len(embedding), top + 1)
    near_ids, distances = best_neighbours(embedding).nearest_k(embedding.rows(np.array([word_id])), near)
    return Explanation(
        word=embedding.words[word_id] if known else word,
        known=known,
        epsilon=mechanism.epsilon,
        embedding=embedding.name,
        draws=draws,
        unchanged=unchanged if known else None,
        distinct=distinct,
        outcomes=tuple(outcomes[:top]),
        neighbours=tuple(
            Neighbour(embedding.words[i], float(distance), mechanism.epsilon * float(distance))
            for i, distance in zip(near_ids[0].tolist(), distances[0], strict=True)
            if i != word_id
        )[:top],
    )


def _by_rays(mechanism: Multivariate, goes_in: int, word_id: int, rays: int) -> tuple[list[Outcome], Outcome, int]:
    # SciPy is loaded by these, and nothing else here needs it.
    from deniable.calibration.gamma import GammaFunction, gamma_draws
    from deniable.calibration.single import word_envelope
    from deniable.calibration.statistics import distinct_words, furthest_radius, output_distribution

    embedding, epsilon = mechanism.embedding, mechanism.epsilon
    gamma, lengths = GammaFunction(embedding.dimension), gamma_draws(rays, embedding.dimension)
    envelope = word_envelope(embedding, goes_in, rays=rays, furthest=furthest_radius(epsilon, gamma, lengths))
    found = output_distribution(envelope, epsilon, gamma)
    outcomes = [
        Outcome(embedding.words[word], probability, error)
        for word, probability, error in zip(found.words.tolist(), found.probabilities.tolist(), found.standard_errors.tolist(), strict=True)
    ]
    own = embedding.words[word_id] if word_id < len(embedding) else ""
    unchanged = next((outcome for outcome in outcomes if outcome.word == own), Outcome(own, 0.0, 0.0))
    return outcomes, unchanged, distinct_words(envelope, epsilon, lengths)


def _by_draws(
    mechanism: Mechanism, goes_in: int, word_id: int, draws: int, randomness: Randomness | None
) -> tuple[list[Outcome], Outcome, int]:
    source = SecureRandomness() if randomness is None else randomness
    released = mechanism.perturb(np.full(draws, goes_in, dtype=np.int64), source)
    ids, counts = np.unique(released, return_counts=True)
    words = mechanism.embedding.words
    outcomes = [_outcome(words[ids[i]], int(counts[i]), draws) for i in np.lexsort((ids, -counts))]
    own = words[word_id] if word_id < len(words) else ""
    return outcomes, _outcome(own, int(counts[ids == word_id].sum()), draws), len(ids)


def share_unchanged(mechanism: Mechanism, *, sample: int = 256) -> float:
    """Return which share of ``sample`` words, drawn at random from the vocabulary, is released unchanged in one draw each."""
    ids = np.random.default_rng().integers(0, len(mechanism.embedding), sample)
    return float((mechanism.perturb(mechanism.embedding.stands_in(ids), SecureRandomness()) == ids).mean())


def _outcome(word: str, count: int, draws: int) -> Outcome:
    # Two draws more, one of each kind, keep the error of "never" and "always" above zero.
    smoothed = (count + 1) / (draws + 2)
    return Outcome(word, count / draws, math.sqrt(smoothed * (1 - smoothed) / (draws + 2)))
