"""What a word may become: its output distribution (``distribution``) and its neighbourhood in the embedding.

Where vectors are a map of others, it tells which neighbours came nearer and which went away. Distances of two
spaces do not compare, so what is told is the place of a neighbour in the order of distance, before and now.

Everything here is about a public embedding and a word the caller names; it is not a release of anybody's
text.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from deniable.arrays import Floats, Ids
from deniable.channel.distribution import OutputDistribution, binomial_error
from deniable.channel.outputs import output_distribution
from deniable.embeddings.embedding import Embedding
from deniable.embeddings.places import find_by_fingerprint
from deniable.errors import InvalidParameter
from deniable.interfaces import Mechanism
from deniable.mechanisms.base import Method
from deniable.neighbours import best_neighbours
from deniable.parameters import validated_count
from deniable.words.cutter import Cutter

_WORDS_AT_ONCE = 1 << 14


@dataclass(frozen=True)
class Move:
    """A neighbour, and its place in the order of distance from the word: 1 is the nearest."""

    word: str
    before: int
    now: int


@dataclass(frozen=True, kw_only=True)
class NeighbourMoves:
    """What a map did to the neighbours of a word.

    ``source`` is the name that the embedding it was made from has here; None if it is not on this machine,
    and then nothing is told. ``nearer`` are among the nearest words now and were not before, ``away`` were
    and are not.
    """

    source: str | None
    source_fingerprint: str
    nearer: tuple[Move, ...] = ()
    away: tuple[Move, ...] = ()


def moves_of(embedding: Embedding, word_id: int, *, top: int) -> NeighbourMoves | None:
    """Return what a map did to the ``top`` nearest words of a word, or of ⊥; None if the vectors are no map
    of others."""
    if embedding.linear_map is None or (origin := embedding.linear_map.origin) is None:
        return None
    name = find_by_fingerprint(origin.source_fingerprint, first=origin.source)
    if name is None:
        return NeighbourMoves(source=None, source_fingerprint=origin.source_fingerprint)
    source = _source(str(name), origin.source_fingerprint)
    ids = source.ids(embedding.words)
    known = np.flatnonzero(ids != source.unknown_id)  # all, unless it was changed
    there = source.unknown_id if word_id == embedding.unknown_id else int(ids[word_id])
    before, now = _places(source, there, ids[known]), _places(embedding, word_id, known)
    others = known != word_id

    def moves(among: Ids) -> tuple[Move, ...]:
        return tuple(Move(embedding.words[known[i]], int(before[i]), int(now[i])) for i in among.tolist())

    nearer = np.flatnonzero(others & (now <= top) & (before > top))
    away = np.flatnonzero(others & (before <= top) & (now > top))
    return NeighbourMoves(
        source=name,
        source_fingerprint=origin.source_fingerprint,
        nearer=moves(nearer[np.argsort(now[nearer])]),
        away=moves(away[np.argsort(before[away])]),
    )


@lru_cache(maxsize=1)
def _source(name: str, fingerprint: str) -> Embedding:  # noqa: ARG001 - another fingerprint is another embedding
    return Embedding.open(name)


@dataclass(frozen=True)
class Outcome:
    """A word that came out, how often, and the standard error of that share."""

    word: str
    probability: float
    standard_error: float


@dataclass(frozen=True)
class Neighbour:
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
        explanation = asdict(self)
        for neighbour in explanation["neighbours"]:
            if not math.isfinite(neighbour["bound"]):
                neighbour["bound"] = None
        for name in ("goes_in_as", "moves"):
            if explanation[name] is None:
                del explanation[name]
        return explanation


def explain_word(
    mechanism: Mechanism,
    word: str,
    *,
    draws: int = 1000,
    top: int = 10,
) -> Explanation:
    """Return what ``word`` becomes, and its ``top`` nearest words.

    The softmax mechanisms sum their distributions exactly. For the multivariate, Mahalanobis and Gaussian
    mechanisms each of ``draws`` random directions is followed through all lengths of noise (``rays``), which
    gives much better estimates than as many draws. Other mechanisms are simulated. ``method`` says which. An
    unknown word is explained as ⊥, which is how it is treated, and a protected word as the one that stands in
    for it. Shares are estimates unless exact: each carries its standard error. ``unchanged`` estimates N_w;
    ``distinct`` counts the distinct words among ``draws`` draws, one per direction (the paper's S_w with
    1,000).

    :raises InvalidParameter: if ``word`` is not one word to the tokeniser, or ``draws`` or ``top`` is not a
        whole number of at least 1.
    """
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
    word_id = Cutter(embedding).ids([word])[0]
    known = word_id != embedding.unknown_id
    stand_in = int(embedding.stands_in(np.array([word_id]))[0])
    found = output_distribution(mechanism, word_id, draws=draws)
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
        unchanged=_stays(embedding, found, word_id) if known else None,
        distinct=found.distinct,
        outcomes=tuple(_outcome(embedding, found, i) for i in range(min(top, len(found.words)))),
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
        moves=moves_of(embedding, word_id, top=top),
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
    return [explain_word(mechanism, word, draws=draws, top=top) for word in words]


def _outcome(embedding: Embedding, found: OutputDistribution, place: int) -> Outcome:
    word = embedding.words[found.words[place]]
    return Outcome(word, float(found.probabilities[place]), float(found.standard_errors[place]))


def _stays(embedding: Embedding, found: OutputDistribution, word: int) -> Outcome:
    here = np.flatnonzero(found.words == word)
    if len(here):
        return _outcome(embedding, found, int(here[0]))
    never = binomial_error(np.zeros(1), found.draws)[0] if found.method == "simulation" else 0.0
    return Outcome(embedding.words[word], 0.0, float(never))


def _places(embedding: Embedding, word_id: int, others: Ids) -> Ids:
    """Return the place of each of these words in their order of distance from a word, which itself has the
    place 0."""
    point = embedding.rows(np.array([word_id]))[0].astype(np.float64)
    distances: Floats = np.empty(len(others))
    for start in range(0, len(others), _WORDS_AT_ONCE):
        part = slice(start, start + _WORDS_AT_ONCE)
        distances[part] = np.linalg.norm(embedding.vectors[others[part]] - point, axis=1)
    distances[others == word_id] = -1.0
    places = np.empty(len(others), dtype=np.int64)
    places[np.argsort(distances, kind="stable")] = np.arange(len(others)) + (
        0 if (others == word_id).any() else 1
    )
    return places
