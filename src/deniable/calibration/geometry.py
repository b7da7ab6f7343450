"""The geometry of an embedding: how far a word is from its k-th neighbour, in percentiles over the words."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from deniable.arrays import Floats, Ids
from deniable.embeddings.embedding import Embedding
from deniable.embeddings.restrict import restrict
from deniable.neighbours import best_neighbours
from deniable.parameters import validated_count

NEIGHBOURS = (1, 5, 10, 20, 50, 100, 200, 500, 1000)
PERCENTILES = (5, 20, 50, 80, 95)


@dataclass(frozen=True, kw_only=True)
class Geometry:
    """``percentiles[i, j]`` is the ``PERCENTILES[j]``-th percentile of the distance to the ``neighbours[i]``-th neighbour."""

    embedding: str
    words: int
    neighbours: tuple[int, ...]
    percentiles: Floats

    def to_dict(self) -> dict[str, Any]:
        """Return the embedding as ``deniable embeddings geometry --json`` prints it, with a row per neighbour."""
        rows = [
            {"neighbour": k, **{f"{p}%": float(value) for p, value in zip(PERCENTILES, row, strict=True)}}
            for k, row in zip(self.neighbours, self.percentiles, strict=True)
        ]
        return {"embedding": self.embedding, "words": self.words, "neighbours": rows}


def geometry(embedding: Embedding, *, sample: int | None = None) -> Geometry:
    """Return the percentiles over all words, or over a sample of them drawn with a public seed.

    A word is no neighbour of itself; words that share its vector are neighbours at distance 0. Neighbours that the
    vocabulary is too small for are left out.
    """
    ids: Ids = np.arange(len(embedding))
    if sample is not None:
        random = np.random.Generator(np.random.PCG64(5))
        ids = np.sort(random.choice(ids, min(validated_count(sample, "sample"), len(ids)), replace=False))
    wanted = tuple(k for k in NEIGHBOURS if k < len(embedding))
    if not wanted:
        return Geometry(embedding=embedding.name, words=len(ids), neighbours=(), percentiles=np.empty((0, len(PERCENTILES))))
    distances = np.empty((len(ids), len(wanted)))
    search, at_once = best_neighbours(embedding), 512
    for start in range(0, len(ids), at_once):
        part = ids[start : start + at_once]
        # The word itself, at distance 0, is always among the first: the k-th neighbour has place k.
        _, found = search.nearest_k(embedding.rows(part), max(wanted) + 1)
        distances[start : start + len(part)] = found[:, list(wanted)]
    percentiles = np.percentile(distances, PERCENTILES, axis=0).T
    return Geometry(embedding=embedding.name, words=len(ids), neighbours=wanted, percentiles=percentiles)


def compare_geometry(
    first: str | Path | Embedding, second: str | Path | Embedding | None = None, *, sample: int | None = None
) -> tuple[Geometry, ...]:
    """Return the geometry of an embedding, or of two, each cut down to the words that both have.

    :raises EmbeddingNotFound: if there is no such embedding.
    :raises MalformedEmbedding: if two have no word in common.
    """
    one = first if isinstance(first, Embedding) else Embedding.open(first)
    if second is None:
        return (geometry(one, sample=sample),)
    other = second if isinstance(second, Embedding) else Embedding.open(second)
    return geometry(restrict(one, common_with=other), sample=sample), geometry(restrict(other, common_with=one), sample=sample)
