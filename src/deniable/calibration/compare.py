"""Embeddings side by side: what ε does to the same words in each of them, and how far a word is from its k-th
neighbour."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from deniable.arrays import Floats, Ids
from deniable.calibration.by_rays import measure_by_rays
from deniable.calibration.calibration import public_sample
from deniable.channel.rays.statistics import average_unchanged
from deniable.embeddings.derived import restrict
from deniable.embeddings.embedding import Embedding
from deniable.errors import InvalidParameter
from deniable.neighbours import best_neighbours
from deniable.parameters import validated_count
from deniable.progress import Report
from deniable.report.wording import Lines, Point


@dataclass(frozen=True, kw_only=True)
class Averages:
    """Averages over the words at one ε of one embedding: N_w with its standard error, S_w and distinct
    words."""

    embedding: str
    dimension: int
    epsilon: float
    unchanged: float
    error: float
    support: float
    distinct: float


def compare_embeddings(
    embeddings: Sequence[str | Path | Embedding],
    *,
    sample: int = 500,
    rays: int = 1000,
    report: Report | None = None,
) -> list[list[Averages]]:
    """Return what ε does to a random sample of the words that all embeddings have: for each embedding a row
    per ε.

    ``report`` receives how many words are measured, of how many, for one embedding after the other.

    :raises InvalidParameter: if there are fewer than two embeddings, or they have no word in common.
    :raises EmbeddingNotFound: if there is no such embedding.
    """
    if len(embeddings) < 2:
        raise InvalidParameter("embeddings", len(embeddings), "give two or more")
    opened = [each if isinstance(each, Embedding) else Embedding.open(each) for each in embeddings]
    return [
        averages(each, ids, rays=rays, report=report)
        for each, ids in zip(opened, common_words(opened, sample), strict=True)
    ]


def average_lines(compared: Sequence[Sequence[Averages]]) -> Lines:
    """Return average N_w against ε with its standard error, a line for each embedding."""
    return {
        f"{rows[0].embedding} ({rows[0].dimension} dimensions)": [
            Point(row.epsilon, row.unchanged, row.unchanged - row.error, row.unchanged + row.error)
            for row in rows
        ]
        for rows in compared
    }


def common_words(embeddings: list[Embedding], sample: int) -> list[Ids]:
    """Return the ids, in each embedding, of the same words: a sample, drawn with a public seed, of those that
    all have.

    :raises InvalidParameter: if they have no word in common.
    """
    shared = [word for word in embeddings[0].words if all(word in other.index for other in embeddings[1:])]
    if not shared:
        raise InvalidParameter("embeddings", ", ".join(e.name for e in embeddings), "have no word in common")
    picked = public_sample(len(shared), validated_count(sample, "sample"), seed=6).tolist()
    return [embedding.ids([shared[i] for i in picked]) for embedding in embeddings]


def averages(
    embedding: Embedding, ids: Ids, *, rays: int = 1000, report: Report | None = None
) -> list[Averages]:
    """Return the averages over these words at twelve ε, from where hardly a word stays to where most do."""
    found = measure_by_rays(embedding, ids=ids, rays=rays, support=True, report=report)
    rows = []
    for e, epsilon in enumerate(found.epsilons.tolist()):
        assert found.support is not None  # noqa: S101 - it was asked for
        assert found.distinct is not None  # noqa: S101
        mean, error = average_unchanged(found.radii, epsilon, found.length)
        rows.append(
            Averages(
                embedding=embedding.name,
                dimension=embedding.dimension,
                epsilon=epsilon,
                unchanged=mean,
                error=error,
                support=float(found.support[:, e].mean()),
                distinct=float(found.distinct[:, e].mean()),
            )
        )
    return rows


NEIGHBOURS = (1, 5, 10, 20, 50, 100, 200, 500, 1000)
PERCENTILES = (5, 20, 50, 80, 95)


@dataclass(frozen=True, kw_only=True)
class Geometry:
    """``percentiles[i, j]`` is the ``PERCENTILES[j]``-th percentile of the distance to the
    ``neighbours[i]``-th neighbour."""

    embedding: str
    words: int
    neighbours: tuple[int, ...]
    percentiles: Floats

    def to_dict(self) -> dict[str, Any]:
        """Return the embedding as ``deniable embeddings geometry --json`` prints it, with a row per
        neighbour."""
        rows = [
            {"neighbour": k, **{f"{p}%": float(value) for p, value in zip(PERCENTILES, row, strict=True)}}
            for k, row in zip(self.neighbours, self.percentiles, strict=True)
        ]
        return {"embedding": self.embedding, "words": self.words, "neighbours": rows}


def geometry(embedding: Embedding, *, sample: int | None = None) -> Geometry:
    """Return the percentiles over all words, or over a sample of them drawn with a public seed.

    A word is no neighbour of itself; words that share its vector are neighbours at distance 0. Neighbours
    that the vocabulary is too small for are left out.
    """
    ids: Ids = np.arange(len(embedding))
    if sample is not None:
        ids = public_sample(ids, validated_count(sample, "sample"), seed=5)
    wanted = tuple(k for k in NEIGHBOURS if k < len(embedding))
    distances = np.empty((len(ids), len(wanted)))
    search, at_once = best_neighbours(embedding), 512
    for start in range(0, len(ids), at_once):
        part = ids[start : start + at_once]
        # The word itself, at distance 0, is always among the first: the k-th neighbour has place k.
        _, found = search.nearest_k(embedding.rows(part), max(wanted, default=0) + 1)
        distances[start : start + len(part)] = found[:, list(wanted)]
    percentiles = np.percentile(distances, PERCENTILES, axis=0).T
    return Geometry(embedding=embedding.name, words=len(ids), neighbours=wanted, percentiles=percentiles)


def geometry_lines(found: Sequence[Geometry]) -> Lines:
    """Return the distance to the k-th neighbour, a line for each embedding: the median word, and where 90 %
    of the words are."""
    return {
        f"{each.embedding}, {each.words:,} words": [
            Point(k, row[len(row) // 2], row[0], row[-1])
            for k, row in zip(each.neighbours, each.percentiles.tolist(), strict=True)
        ]
        for each in found
    }


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
    return geometry(restrict(one, common_with=other), sample=sample), geometry(
        restrict(other, common_with=one), sample=sample
    )
