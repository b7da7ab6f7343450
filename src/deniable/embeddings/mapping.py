"""An embedding under a public linear map."""

from __future__ import annotations

import numpy as np

from deniable.embeddings.embedding import Embedding
from deniable.embeddings.linear_map import LinearMap
from deniable.embeddings.subwords import Subwords
from deniable.errors import InvalidParameter


def map_embedding(embedding: Embedding, linear_map: LinearMap, *, name: str | None = None) -> Embedding:
    """Return the embedding with every vector mapped: those of the words, of ⊥, and of the parts of words.

    :raises InvalidParameter: if words of it are protected, or the map is for another number of coordinates.
    :raises MalformedEmbedding: if a mapped vector is absurdly long.
    """
    check_mappable(embedding)
    mapped = Embedding(
        embedding.words,
        linear_map.apply(embedding.vectors),
        unknown=linear_map.apply(embedding.unknown[np.newaxis])[0],
        name=name or embedding.name,
    )
    mapped.unknown_origin = f"{embedding.unknown_origin}, mapped"
    if embedding.subwords is not None:
        # The vector of an unknown word is a mean of these rows, and a map of the mean is the mean of the
        # maps.
        parts = embedding.subwords
        mapped.subwords = Subwords(linear_map.apply(parts.table), minn=parts.minn, maxn=parts.maxn)
    mapped.linear_map = linear_map
    return mapped


def check_mappable(embedding: Embedding) -> None:
    """Do nothing if the embedding can be mapped.

    :raises InvalidParameter: if words of it are protected: which ones are exposed depends on the metric; or
        if it is mapped already: a space says what one map kept, and what two kept is said by neither.
    """
    if embedding.linear_map is not None:
        origin = embedding.linear_map.origin
        problem = (
            f"is {origin.kind} already; map the embedding that it was made from, {origin.source}, in one step"
        )
        raise InvalidParameter("embedding", embedding.name, problem)
    if embedding.protection is not None:
        problem = (
            "is protected; map the embedding that it was made from, and protect the result: other "
            "words are exposed there"
        )
        raise InvalidParameter("embedding", embedding.name, problem)


def is_mapped_from(embedding: Embedding, source: Embedding) -> bool:
    """Return whether the vectors of an embedding, all of them or those of some words, are those of a source
    under its stated map."""
    linear_map = embedding.linear_map
    if linear_map is None or source.dimension != linear_map.axes.shape[1]:
        return False
    ids = source.ids(embedding.words)
    if (ids == source.unknown_id).any():
        return False
    expected, unknown = linear_map.apply(source.vectors[ids]), linear_map.apply(source.unknown[np.newaxis])[0]
    return np.array_equal(expected, embedding.vectors) and np.array_equal(unknown, embedding.unknown)
