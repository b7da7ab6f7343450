"""Exact nearest words of points in the embedding space.

Every implementation returns the same words: the true nearest one, ties to the lowest id. Which one is used depends on
the machine, never on the caller.
"""

from __future__ import annotations

from deniable.embeddings.embedding import Embedding
from deniable.interfaces import Neighbours


def best_neighbours(embedding: Embedding) -> Neighbours:
    """Return the fastest exact search this machine has for the embedding."""
    from deniable.neighbours.blas import BlasNeighbours

    return BlasNeighbours(embedding)


__all__ = ["Neighbours", "best_neighbours"]
