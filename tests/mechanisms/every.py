"""One of every mechanism over a given embedding."""

from __future__ import annotations

from deniable import Embedding, Mechanism
from deniable.mechanisms import (
    TEM,
    CusText,
    Gaussian,
    Line,
    Mahalanobis,
    Multivariate,
    RandomizedResponse,
    RankSmoothing,
    SanText,
    SanTextPlus,
    Vickrey,
)


def every(embedding: Embedding, epsilon: float) -> dict[str, Mechanism]:
    """Return one of every mechanism, by name."""
    made: list[Mechanism] = [
        Multivariate(embedding, epsilon=epsilon),
        Mahalanobis(embedding, epsilon=epsilon, lam=0.5),
        Vickrey(embedding, epsilon=epsilon),
        Gaussian(embedding, epsilon=epsilon),
        RankSmoothing(Multivariate(embedding, epsilon=epsilon)),
        TEM(embedding, epsilon=epsilon),
        SanText(embedding, epsilon=epsilon),
        SanTextPlus(embedding, epsilon=epsilon, sensitive=embedding.words[:2]),
        CusText(embedding, epsilon=epsilon, k=4),
        Line(embedding, epsilon=epsilon, lists=3),
        RandomizedResponse(embedding, epsilon=epsilon),
    ]
    return {type(mechanism).__name__: mechanism for mechanism in made}


NAMES = list(every(Embedding(["a", "b"], [[0.0], [1.0]]), 1.0))
