"""What a word may become: its output distribution (``distribution``) and its neighbourhood in the embedding.

Everything here is about a public embedding and a word the caller names; it is not a release of anybody's
text.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from deniable.channel.distribution import OutputDistribution, binomial_error
from deniable.channel.moves import MapEffect, NeighbourMoves
from deniable.channel.outputs import output_distribution
from deniable.errors import InvalidParameter
from deniable.interfaces import Mechanism, Randomness
from deniable.mechanisms.base import Method
from deniable.neighbours import best_neighbours
from deniable.parameters import validated_count
from deniable.words.cutter import Cutter, Lookup


class Outcome(NamedTuple):
    """A word that came out, how often, and the standard error of that share."""

    word: str
    probability: float
    standard_error: float


class Neighbour(NamedTuple):
    """A near word, its Euclidean distance, and the mechanism's bound on the log-likelihood ratio against it,
    perhaps infinite."""

    word: str
    distance: float
    bound: float


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """The answer of ``explain_word``. An unknown word is explained as ⊥, which cannot stay itself:
    ``unchanged`` is None.

    ``goes_in_as`` is the word that stands in for it where it is protected: outcomes and bounds are those of
    that word, the neighbours and their distances its own. ``moves`` tells which neighbours came nearer or
    went away where the vectors of the embedding are a map of others.
    """

    word: str
    known: bool
    mechanism: str
    epsilon: float
    embedding: str
    method: Method
    draws: int
    unchanged: Outcome | None
    distinct: int
    outcomes: tuple[Outcome, ...]
    neighbours: tuple[Neighbour, ...]
    goes_in_as: str | None = None
    moves: NeighbourMoves | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as JSON-ready data; a bound that there is not is None."""
        data = vars(self) | {
            "unchanged": None if self.unchanged is None else self.unchanged._asdict(),
            "outcomes": [each._asdict() for each in self.outcomes],
            "neighbours": [
                each._asdict() | ({} if math.isfinite(each.bound) else {"bound": None})
                for each in self.neighbours
            ],
        }
        data["moves"] = None if self.moves is None else self.moves.to_dict()
        return {
            name: value
            for name, value in data.items()
            if value is not None or name not in ("goes_in_as", "moves")
        }


def explain_word(
    mechanism: Mechanism, word: str, *, draws: int = 1000, top: int = 10, randomness: Randomness | None = None
) -> Explanation:
    """Return what ``word`` becomes, and its ``top`` nearest words.

    The softmax mechanisms sum their distributions exactly. For the multivariate, Mahalanobis and Gaussian
    mechanisms each of ``draws`` random directions is followed through all lengths of noise (``rays``), which
    gives much better estimates than as many draws. Other mechanisms, or a source of randomness given, are
    simulated. ``method`` says which. An unknown word is explained as ⊥, which is how it is treated, and a
    protected word as the one that stands in for it. Shares are estimates unless exact: each carries its
    standard error. ``unchanged`` estimates N_w; ``distinct`` counts the distinct words among ``draws`` draws,
    one per direction (the paper's S_w with 1,000).

    :raises InvalidParameter: if ``word`` is not one word to the tokeniser, or ``draws`` or ``top`` is not a
        whole number of at least 1.
    """
    return _explain(
        mechanism, word, MapEffect(mechanism.embedding), draws=draws, top=top, randomness=randomness
    )


def explain_words(
    mechanism: Mechanism, texts: Iterable[str], *, draws: int = 1000, top: int = 10
) -> list[Explanation]:
    """Return what each word of the texts becomes, as ``explain_word`` says, in their order and each word
    once.

    :raises InvalidParameter: if there is no word in them, or ``draws`` or ``top`` is not a whole number of at
        least 1.
    """
    cut = Cutter(mechanism.embedding).words
    words = list(dict.fromkeys(word for text in texts for word in cut(text)))
    if not words:
        raise InvalidParameter("words", "nothing", "there is no word to explain")
    effect = MapEffect(mechanism.embedding)
    return [_explain(mechanism, word, effect, draws=draws, top=top) for word in words]


def _explain(
    mechanism: Mechanism,
    word: str,
    effect: MapEffect,
    *,
    draws: int,
    top: int,
    randomness: Randomness | None = None,
) -> Explanation:
    draws, top = validated_count(draws, "draws"), validated_count(top, "top")
    embedding = mechanism.embedding
    words = Cutter(embedding).words(word)
    if len(words) != 1:
        parts = (
            f"is {len(words)} words in a text: {', '.join(words)}; explain one of them"
            if words
            else "holds no word"
        )
        raise InvalidParameter("word", word, parts)
    word = words[0]
    word_id = Lookup(embedding).ids([word])[0]
    known = word_id != embedding.unknown_id
    stand_in = int(embedding.stands_in(np.array([word_id]))[0])
    found = output_distribution(mechanism, word_id, draws=draws, randomness=randomness)
    near = min(len(embedding), top + 1)
    near_ids, distances = best_neighbours(embedding).nearest_k(embedding.rows(np.array([word_id])), near)
    return Explanation(
        word=embedding.words[word_id] if known else word,
        known=known,
        mechanism=type(mechanism).__name__,
        epsilon=mechanism.epsilon,
        embedding=embedding.name,
        method=found.method,
        draws=draws,
        unchanged=_stays(found, word_id, embedding.words[word_id]) if known else None,
        distinct=found.distinct,
        outcomes=tuple(
            Outcome(embedding.words[released], probability, error)
            for released, probability, error in zip(
                found.words[:top].tolist(),
                found.probabilities[:top].tolist(),
                found.standard_errors[:top].tolist(),
                strict=True,
            )
        ),
        neighbours=tuple(
            Neighbour(embedding.words[i], float(distance), mechanism.log_bound(word_id, i))
            for i, distance in zip(near_ids[0].tolist(), distances[0], strict=True)
            if i != word_id
        )[:top],
        goes_in_as=None
        if stand_in == word_id
        else "⊥"
        if stand_in == embedding.unknown_id
        else embedding.words[stand_in],
        moves=effect.on(word_id, top=top),
    )


def _stays(found: OutputDistribution, word: int, spelling: str) -> Outcome:
    here = np.flatnonzero(found.words == word)
    if len(here):
        return Outcome(spelling, float(found.probabilities[here[0]]), float(found.standard_errors[here[0]]))
    never = (
        binomial_error(np.zeros(1, dtype=np.int64), found.draws)[0] if found.method == "simulation" else 0.0
    )
    return Outcome(spelling, 0.0, float(never))
