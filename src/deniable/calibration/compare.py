"""Several embeddings side by side: what ε does to the same words in each of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from deniable.arrays import Ids
from deniable.calibration.measure import calibrate
from deniable.channel.rays.statistics import average_unchanged
from deniable.embeddings.embedding import Embedding
from deniable.errors import InvalidParameter
from deniable.parameters import validated_count

Report = Callable[[int, int], None]


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
    found = calibrate(embedding, ids=ids, rays=rays, walks=True, report=report)
    rows = []
    for e, epsilon in enumerate(found.epsilons.tolist()):
        assert found.support is not None  # noqa: S101 - walks were asked for
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
