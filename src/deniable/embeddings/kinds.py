"""Kinds of words: who cannot name the word may still tell what it was about.

A kind is a cluster of the public vectors, each brought to length 1: words that are used alike. The most
frequent words stand apart, since they say little of anybody. A list of one's own (drugs, surnames) becomes a
kind of its own. All of this is public: it comes from an embedding, not from a text. Kinds of one embedding
serve for any other with the same words, such as one with fewer dimensions: for a mapped embedding they are
those of the one that it was made from, so that spaces are compared by the same kinds.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.arrays import Ids, Vectors
from deniable.embeddings.embedding import Embedding
from deniable.embeddings.places import find_by_fingerprint
from deniable.errors import EmbeddingNotFound, MalformedEmbedding
from deniable.parameters import validated_count

CLUSTERS = 100
"""How many kinds there are, by default."""

MOST_FREQUENT = 150
"""How many of the most frequent words stand apart, by default."""

_STEPS = 25
_WORDS_AT_ONCE = 1 << 15
_WORDS_A_KIND = 10


@dataclass(frozen=True, kw_only=True)
class Kinds:
    """The kind of each word: ``of[id]`` is a number below ``count``, and -1 for the words that stand apart, ⊥
    among them.

    ``mapped`` says that they are clusters of mapped vectors, since the embedding that these were made from is
    not on this machine.
    """

    of: Ids = field(repr=False)
    count: int
    mapped: bool = False

    def in_words(self) -> str:
        """Return what they are, to go on with after "kinds are"."""
        where = "public vectors"
        if self.mapped:
            where = "mapped vectors, since those that these were made from are not on this machine"
        apart = int((self.of[:-1] < 0).sum())
        return f"{self.count} clusters of the {where}; {apart:,} frequent words stand apart"

    def with_list(self, ids: Ids) -> Kinds:
        """Return these kinds, but that the given words are a kind of their own: the last one."""
        of = self.of.copy()
        of[ids] = self.count
        return Kinds(of=of, count=self.count + 1, mapped=self.mapped)


def make_kinds(
    embedding: Embedding,
    *,
    clusters: int = CLUSTERS,
    most_frequent: int = MOST_FREQUENT,
    counts: NDArray[Any] | None = None,
    seed: int = 0,
) -> Kinds:
    """Return clusters of the words of an embedding, by spherical k-means from a public seed.

    The ``most_frequent`` words stand apart, by ``counts`` of the words in a text; without counts the first
    words, since public embeddings list frequent words first. A small vocabulary has fewer of both: a tenth of
    its words stand apart, and a cluster has ten words or more on average. The vectors of a mapped embedding
    are those before the map, if the embedding that has them is on this machine.
    """
    clusters = validated_count(clusters, "clusters")
    most = validated_count(most_frequent, "most_frequent", at_least=0)
    ranked = np.arange(len(embedding))
    if counts is not None:
        ranked = np.argsort(-counts[: len(embedding)], kind="stable")
    apart = ranked[: min(most, len(embedding) // 10)]
    of = np.full(len(embedding) + 1, -1, dtype=np.int64)
    inside = np.setdiff1d(np.arange(len(embedding)), apart)
    count = max(1, min(clusters, len(inside) // _WORDS_A_KIND))
    before = _before_maps(embedding)
    source, ids = (embedding, np.arange(len(embedding))) if before is None else before
    vectors = np.asarray(source.vectors[ids[inside]], dtype=np.float32)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    of[inside] = _cluster(vectors / np.maximum(lengths, 1e-12), count, np.random.default_rng(seed))
    return Kinds(of=of, count=count, mapped=before is None)


def _before_maps(embedding: Embedding) -> tuple[Embedding, Ids] | None:
    """Return the embedding that has the vectors before any map, and the ids of the words there; None if it is
    not on this machine."""
    source, seen = embedding, {embedding.fingerprint}
    while source.linear_map is not None:
        origin = source.linear_map.origin
        name = find_by_fingerprint(origin.source_fingerprint, first=origin.source)
        if name is None or origin.source_fingerprint in seen:
            return None
        seen.add(origin.source_fingerprint)
        try:
            source = Embedding.open(name)
        except (MalformedEmbedding, EmbeddingNotFound):  # damaged, or removed just now
            return None
    ids = source.ids(embedding.words)
    return None if (ids == source.unknown_id).any() else (source, ids)


def _cluster(vectors: Vectors, count: int, random: np.random.Generator) -> Ids:
    centres = _begin(vectors, count, random)
    nearest = np.zeros(len(vectors), dtype=np.int64)
    for _ in range(_STEPS):
        for start in range(0, len(vectors), _WORDS_AT_ONCE):
            part = slice(start, start + _WORDS_AT_ONCE)
            nearest[part] = np.argmax(vectors[part] @ centres.T, axis=1)
        sums = np.zeros_like(centres)
        np.add.at(sums, nearest, vectors)
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        # An empty cluster stays where it is.
        moved = np.where(lengths > 0.0, sums / np.maximum(lengths, 1e-12), centres)
        if np.array_equal(moved, centres):
            break
        centres = moved
    return nearest


def _begin(vectors: Vectors, count: int, random: np.random.Generator) -> Vectors:
    """Return words that lie apart, each drawn in proportion to its squared distance from those before it
    (k-means++)."""
    chosen = [int(random.integers(len(vectors)))]
    apart = np.full(len(vectors), np.inf)
    while len(chosen) < count:
        squares = 2.0 - 2.0 * (vectors @ vectors[chosen[-1]]).astype(np.float64)
        apart = np.minimum(apart, np.maximum(squares, 0.0))
        total = float(apart.sum())
        chances = apart / total if total > 0.0 else None  # all words lie where one of the chosen lies
        chosen.append(int(random.choice(len(vectors), p=chances)))
    return vectors[chosen]
