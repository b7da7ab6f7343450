"""Protects exposed words by a public map (guarantee.md, rule 10).

An exposed word w goes into the mechanism as π(w): its nearest word that is not exposed, or ⊥. Outputs and
everybody's cells stay as they are, so one pass suffices. The guarantee holds with d(π(w), π(w')) in place of
d(w, w').
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from deniable.arrays import Ids
from deniable.embeddings.embedding import Embedding
from deniable.errors import InvalidParameter
from deniable.neighbours import best_neighbours

By = Literal["nearest", "unknown"]

_FIRST_NEIGHBOURS = 32


@dataclass(frozen=True, kw_only=True)
class Protection:
    """How words that miss the targets are protected: in a new embedding, installed under ``name``, they go in
    as others.

    They go in ``by`` their nearest word that meets the targets ("nearest"), or by ⊥ ("unknown"). Where no ε
    is given, the largest is chosen at which at most a share ``most_protected`` of the words needs it.
    """

    name: str
    by: By = "nearest"
    most_protected: float = 0.01


def protect(embedding: Embedding, exposed: Ids, *, by: By = "nearest", name: str | None = None) -> Embedding:
    """Return the embedding with a public map from each exposed word to its nearest unexposed word, or to ⊥.

    :raises InvalidParameter: if all words are exposed, ``by`` is neither of the two, or the embedding is
        protected already.
    """
    check_protectable(embedding, by)
    exposed = np.unique(np.asarray(exposed, dtype=np.int64))
    if len(exposed) == len(embedding):
        raise InvalidParameter(
            "exposed", "all words", "no word would be left to stand in for them; choose a smaller ε"
        )
    mapped = np.arange(len(embedding) + 1, dtype=np.int64)
    mapped[exposed] = embedding.unknown_id if by == "unknown" else _nearest_unexposed(embedding, exposed)
    return Embedding.from_checked(
        embedding.words,
        embedding.vectors,
        embedding.unknown,
        name=name or embedding.name,
        unknown_origin=embedding.unknown_origin,
        cased=embedding.cased,
        shadowed=embedding.shadowed,
        subwords=embedding.subwords,
        protection=mapped,
        linear_map=embedding.linear_map,
    )


def check_protectable(embedding: Embedding, by: str) -> None:
    """Do nothing if words of this embedding can be protected in this way.

    :raises InvalidParameter: if the way is not known, or the embedding is protected already.
    """
    if by not in ("nearest", "unknown"):
        raise InvalidParameter("protect", by, "must be nearest or unknown")
    if embedding.protection is not None:
        raise InvalidParameter(
            "embedding", embedding.name, "is protected already; protect the embedding that it was made from"
        )


def _nearest_unexposed(embedding: Embedding, exposed: Ids) -> Ids:
    is_exposed = np.zeros(len(embedding), dtype=bool)
    is_exposed[exposed] = True
    found = np.full(len(exposed), -1, dtype=np.int64)
    search, k = best_neighbours(embedding), min(_FIRST_NEIGHBOURS, len(embedding))
    while (left := np.flatnonzero(found < 0)).size:
        near, _ = search.nearest_k(embedding.rows(exposed[left]), k)
        free = ~is_exposed[near]
        some = free.any(axis=1)
        found[left[some]] = near[some, free[some].argmax(axis=1)]
        k = min(4 * k, len(embedding))
    return found
