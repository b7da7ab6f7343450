"""What a word may become: its output distribution by simulation, and its neighbourhood in the embedding.

Everything here is about a public embedding and a word the caller names; it is not a release of anybody's text.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from deniable.errors import InvalidParameter
from deniable.interfaces import Mechanism, Randomness
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


def explain_word(
    mechanism: Mechanism, word: str, *, draws: int = 10_000, top: int = 10, randomness: Randomness | None = None
) -> Explanation:
    """Return what ``word`` becomes in ``draws`` simulated draws, and its ``top`` nearest words.

    An unknown word is explained as ⊥, which is how it is treated. Shares are estimates: each carries its standard
    error. ``unchanged`` estimates N_w; ``distinct`` counts the distinct words among the draws (the paper's S_w with
    1,000 draws).

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
    source = SecureRandomness() if randomness is None else randomness
    released = mechanism.perturb(np.full(draws, word_id, dtype=np.int64), source)
    ids, counts = np.unique(released, return_counts=True)
    order = np.lexsort((ids, -counts))[:top]
    same = int(counts[ids == word_id].sum())
    near = min(len(embedding), top + 1)
    near_ids, distances = best_neighbours(embedding).nearest_k(embedding.rows(np.array([word_id])), near)
    return Explanation(
        word=embedding.words[word_id] if known else word,
        known=known,
        epsilon=mechanism.epsilon,
        embedding=embedding.name,
        draws=draws,
        unchanged=_outcome(embedding.words[word_id], same, draws) if known else None,
        distinct=len(ids),
        outcomes=tuple(_outcome(embedding.words[ids[i]], int(counts[i]), draws) for i in order),
        neighbours=tuple(
            Neighbour(embedding.words[i], float(distance), mechanism.epsilon * float(distance))
            for i, distance in zip(near_ids[0].tolist(), distances[0], strict=True)
            if i != word_id
        )[:top],
    )


def share_unchanged(mechanism: Mechanism, *, sample: int = 256) -> float:
    """Return which share of ``sample`` words, drawn at random from the vocabulary, is released unchanged in one draw each."""
    ids = np.random.default_rng().integers(0, len(mechanism.embedding), sample)
    return float((mechanism.perturb(ids, SecureRandomness()) == ids).mean())


def _outcome(word: str, count: int, draws: int) -> Outcome:
    # Two draws more, one of each kind, keep the error of "never" and "always" above zero.
    smoothed = (count + 1) / (draws + 2)
    return Outcome(word, count / draws, math.sqrt(smoothed * (1 - smoothed) / (draws + 2)))
