"""Kinds of words: who cannot name the word may still tell what it was about.

A kind is a cluster of the public vectors, each brought to length 1: words that are used alike. The most frequent words stand apart, since
they say little of anybody. A list of one's own (drugs, surnames) becomes a kind of its own. All of this is public: it comes from an
embedding, not from a text. Kinds of one embedding serve for any other with the same words, such as one with fewer dimensions.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from deniable.arrays import Ids, Vectors
from deniable.embeddings.embedding import Embedding
from deniable.parameters import validated_count

CLUSTERS = 100
"""How many kinds there are, unless told otherwise."""

MOST_FREQUENT = 150
"""How many of the most frequent words stand apart, unless told otherwise."""

_STEPS = 25
_WORDS_AT_ONCE = 1 << 15
_WORDS_A_KIND = 10


@dataclass(frozen=True, kw_only=True)
class Kinds:
    """The kind of each word: ``of[id]`` is a number below ``count``, and -1 for the words that stand apart, ⊥ among them."""

    of: Ids = field(repr=False)
    count: int

    def with_list(self, ids: Ids) -> Kinds:
        """Return these kinds, but that the given words are a kind of their own: the last one."""
        of = self.of.copy()
        of[ids] = self.count
        return Kinds(of=of, count=self.count + 1)


def make_kinds(
    embedding: Embedding, *, clusters: int = CLUSTERS, most_frequent: int = MOST_FREQUENT, frequent: Ids | None = None, seed: int = 0
) -> Kinds:
    """Return clusters of the words of an embedding, by spherical k-means from a public seed.

    The words ``frequent`` stand apart; without them the first ``most_frequent``, since public embeddings list frequent words first. A
    small vocabulary has fewer of both: a tenth of its words stand apart, and a cluster has ten words or more on average.

    :raises InvalidParameter: if a number is not allowed.
    """
    clusters, most = validated_count(clusters, "clusters"), validated_count(most_frequent, "most_frequent", at_least=0)
    apart = np.arange(min(most, len(embedding) // 10)) if frequent is None else frequent
    of = np.full(len(embedding) + 1, -1, dtype=np.int64)
    inside = np.setdiff1d(np.arange(len(embedding)), apart)
    count = max(1, min(clusters, len(inside) // _WORDS_A_KIND))
    vectors = np.asarray(embedding.vectors[inside], dtype=np.float32)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    of[inside] = _cluster(vectors / np.maximum(lengths, 1e-12), count, np.random.default_rng(seed))
    return Kinds(of=of, count=count)


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
        moved = np.where(lengths > 0.0, sums / np.maximum(lengths, 1e-12), centres)  # an empty cluster stays where it is
        if np.array_equal(moved, centres):
            break
        centres = moved
    return nearest


def _begin(vectors: Vectors, count: int, random: np.random.Generator) -> Vectors:
    """Return words that lie apart, each drawn in proportion to its squared distance from those before it (k-means++)."""
    chosen = [int(random.integers(len(vectors)))]
    apart = np.full(len(vectors), np.inf)
    while len(chosen) < count:
        apart = np.minimum(apart, np.maximum(2.0 - 2.0 * (vectors @ vectors[chosen[-1]]).astype(np.float64), 0.0))
        total = float(apart.sum())
        chances = apart / total if total > 0.0 else None  # all words lie where one of the chosen lies
        chosen.append(int(random.choice(len(vectors), p=chances)))
    return vectors[chosen]
