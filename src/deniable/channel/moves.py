"""Which neighbours of a word came nearer in a mapped space, and which went away.

Distances of two spaces do not compare, so what is told is the place of a neighbour in the order of distance,
before and now.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from deniable.arrays import Floats, Ids
from deniable.embeddings.embedding import Embedding
from deniable.embeddings.places import find_by_fingerprint

_WORDS_AT_ONCE = 1 << 14


class Move(NamedTuple):
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

    def to_dict(self) -> dict[str, Any]:
        """Return the moves as JSON-ready data."""
        return vars(self) | {
            "nearer": [move._asdict() for move in self.nearer],
            "away": [move._asdict() for move in self.away],
        }


class MapEffect:
    """What the map of an embedding did to the neighbours of its words; the embedding that it was made from is
    opened once."""

    def __init__(self, embedding: Embedding) -> None:
        """Find the embedding that this one was made from, if its vectors are a map and that one is on this
        machine."""
        self._embedding, self._origin = (
            embedding,
            None if embedding.linear_map is None else embedding.linear_map.origin,
        )
        self._name = (
            None
            if self._origin is None
            else find_by_fingerprint(self._origin.source_fingerprint, first=self._origin.source)
        )

    @cached_property
    def _source(self) -> tuple[Embedding, Ids]:
        """The embedding that it was made from, and the ids that the words of the other have there."""
        source = Embedding.open(str(self._name))
        return source, source.ids(self._embedding.words)

    def on(self, word_id: int, *, top: int) -> NeighbourMoves | None:
        """Return what became of the ``top`` nearest words of a word, or of ⊥; None if the embedding is not
        mapped."""
        if self._origin is None:
            return None
        if self._name is None:
            return NeighbourMoves(source=None, source_fingerprint=self._origin.source_fingerprint)
        embedding, (source, ids) = self._embedding, self._source
        known = np.flatnonzero(ids != source.unknown_id)  # all, unless it was changed
        there = source.unknown_id if word_id == embedding.unknown_id else int(ids[word_id])
        before, now = _places(source, there, ids[known]), _places(embedding, word_id, known)
        others = known != word_id

        def moves(among: Ids) -> tuple[Move, ...]:
            return tuple(Move(embedding.words[known[i]], int(before[i]), int(now[i])) for i in among.tolist())

        nearer, away = (
            np.flatnonzero(others & (now <= top) & (before > top)),
            np.flatnonzero(others & (before <= top) & (now > top)),
        )
        return NeighbourMoves(
            source=self._name,
            source_fingerprint=self._origin.source_fingerprint,
            nearer=moves(nearer[np.argsort(now[nearer])]),
            away=moves(away[np.argsort(before[away])]),
        )


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
