"""Several embeddings side by side: what ε does to the same words in each of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from deniable.arrays import Ids
from deniable.calibration.by_rays import measure_by_rays
from deniable.channel.rays.statistics import average_unchanged
from deniable.embeddings.embedding import Embedding
from deniable.errors import InvalidParameter
from deniable.parameters import validated_count
from deniable.progress import Report


@dataclass(frozen=True, kw_only=True)
class Averages:
    """Averages over the words at one ε of one embedding: N_w with its standard error, S_w and distinct words."""

    embedding: str
    dimension: int
    epsilon: float
    unchanged: float
    error: float
    support: float
    distinct: float

    def to_dict(self) -> dict[str, Any]:
        """Return the averages as JSON-ready data."""
        return asdict(self)


def compare_embeddings(
    embeddings: Sequence[str | Path | Embedding], *, sample: int = 500, rays: int = 1000, report: Report | None = None
) -> list[list[Averages]]:
    """Return what ε does to a random sample of the words that all embeddings have: for each embedding a row per ε.

    ``report`` is told how many words are measured, of how many, for one embedding after the other.

    :raises InvalidParameter: if there are fewer than two embeddings, or they have no word in common.
    :raises EmbeddingNotFound: if there is no such embedding.
    """
    if len(embeddings) < 2:
        raise InvalidParameter("embeddings", len(embeddings), "give two or more")
    opened = [each if isinstance(each, Embedding) else Embedding.open(each) for each in embeddings]
    return [averages(each, ids, rays=rays, report=report) for each, ids in zip(opened, common_words(opened, sample), strict=True)]


def common_words(embeddings: list[Embedding], sample: int) -> list[Ids]:
    """Return the ids, in each embedding, of the same words: a sample, drawn with a public seed, of those that all have.

    :raises InvalidParameter: if they have no word in common.
    """
    shared = [word for word in embeddings[0].words if all(word in other.index for other in embeddings[1:])]
    if not shared:
        raise InvalidParameter("embeddings", ", ".join(e.name for e in embeddings), "have no word in common")
    count = min(validated_count(sample, "sample"), len(shared))
    picked = np.sort(np.random.Generator(np.random.PCG64(6)).choice(len(shared), count, replace=False))
    return [embedding.ids([shared[i] for i in picked]) for embedding in embeddings]


def averages(embedding: Embedding, ids: Ids, *, rays: int = 1000, report: Report | None = None) -> list[Averages]:
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
