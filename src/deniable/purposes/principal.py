"""The principal axes of an embedding: the directions along which its words are spread most.

Noise of n dimensions has a length of about n/ε, so dimensions that tell little cost use, not risk: ``reduce``
keeps the first axes only.
"""

from __future__ import annotations

import numpy as np

from deniable.arrays import Floats
from deniable.embeddings.derived import check_mappable, map_embedding
from deniable.embeddings.embedding import Embedding
from deniable.embeddings.linear_map import LinearMap, MapOrigin
from deniable.errors import InvalidParameter
from deniable.parameters import validated_count

_ROWS_AT_ONCE = 16_384
_NO_SPREAD = 1e-12
"""A variance below this share of the largest is rounding: vectors are float32."""


def reduce(embedding: Embedding, dimension: int = 16, *, name: str | None = None) -> Embedding:
    """Return the embedding on its first ``dimension`` principal axes: a public map of public vectors, and
    nothing is learnt.

    :raises InvalidParameter: if the dimension is no whole number of at least 1, there are not that many axes,
        or words are protected.
    """
    check_mappable(embedding)
    dimension = validated_count(dimension, "dimension")
    axes = principal_axes(covariance(embedding), dimension)
    origin = MapOrigin(
        kind="reduced", source=embedding.name, source_fingerprint=embedding.fingerprint, dimension=dimension
    )
    return map_embedding(embedding, LinearMap.of(axes, np.ones(dimension), origin), name=name)


def covariance(embedding: Embedding) -> Floats:
    """Return the covariance of the vectors, every word counting once, in float64."""
    vectors, dimension = embedding.vectors, embedding.dimension
    mean = vectors.mean(axis=0, dtype=np.float64)
    total = np.zeros((dimension, dimension))
    for start in range(0, len(vectors), _ROWS_AT_ONCE):
        block = vectors[start : start + _ROWS_AT_ONCE].astype(np.float64) - mean
        total += block.T @ block
    spread: Floats = (total + total.T) / (2.0 * len(vectors))
    return spread


def principal_axes(spread: Floats, dimension: int, *, besides: Floats | None = None) -> Floats:
    """Return the first principal axes, one a row, orthogonal to the rows of ``besides``.

    ``spread`` is the covariance. The largest coordinate of each axis is positive, so that its sign is no
    matter of chance.

    :raises InvalidParameter: if there are fewer axes along which words differ.
    """
    left = spread
    if besides is not None:
        onto = np.eye(len(spread)) - besides.T @ besides
        left = onto @ spread @ onto
        left = (left + left.T) / 2.0
    values, vectors = np.linalg.eigh(left)
    whole = max(float(np.trace(spread)), 0.0)
    there = int((values > _NO_SPREAD * whole).sum()) if whole > 0.0 else 0
    taken = 0 if besides is None else len(besides)
    if dimension > there:
        beside = f" beside the {taken} of the purpose" if taken else ""
        advice = f"choose at most {there}" if there else "there is nothing to choose from"
        problem = f"the words differ along {there} axes only{beside}; {advice}"
        raise InvalidParameter("dimension", dimension, problem)
    axes = vectors[:, ::-1][:, :dimension].T
    if besides is not None:
        axes = axes - (axes @ besides.T) @ besides
        axes = axes / np.linalg.norm(axes, axis=1, keepdims=True)
    return signed(axes)


def signed(axes: Floats) -> Floats:
    """Return the axes, one a row, each turned so that its largest coordinate is positive."""
    largest = np.take_along_axis(axes, np.abs(axes).argmax(axis=1)[:, None], axis=1)
    turned: Floats = np.where(largest < 0.0, -axes, axes)
    return turned
