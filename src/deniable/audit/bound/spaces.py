"""Small embeddings in one, two and three dimensions, where a broken bound is visible.

In 50 or 300 dimensions noise is so spread out that even half of it would not show in any number of draws one
could make. The same code runs in every dimension, so it is attacked where it can be caught: on made spaces
and on projections of the user's own embedding. All are measured in units of 1/ε.
"""

from __future__ import annotations

import numpy as np

from deniable.arrays import Floats
from deniable.embeddings.embedding import Embedding
from deniable.neighbours import best_neighbours

DIMENSIONS = (1, 2, 3)
_PROJECTED_WORDS = 24


def spread(dimension: int, epsilon: float) -> Embedding:
    """Two words close together, and words on the axes that catch the tails, where the bound is nearly
    reached."""
    far = np.concatenate([np.eye(dimension), -np.eye(dimension)]) * 1.5
    near = np.full((1, dimension), 0.4) / np.sqrt(dimension)
    return _scaled(
        np.concatenate([np.zeros((1, dimension)), near, far, 2 * far]), epsilon, f"spread, {dimension}d"
    )


def stretched(dimension: int, epsilon: float) -> Embedding:
    """A fine grid of words in a space that is long along one axis: shows noise whose shape is not what the
    metric says."""
    steps = np.arange(-2, 3) * 0.2 if dimension < 3 else np.arange(-1, 2) * 0.3
    grid = np.stack(np.meshgrid(*[steps] * dimension, indexing="ij"), axis=-1).reshape(-1, dimension)
    far = np.zeros((8, dimension))
    far[:, 0] = [3.0, -3.0, 6.0, -6.0, 9.0, -9.0, 12.0, -12.0]
    grid = grid[np.argsort(np.linalg.norm(grid, axis=1), kind="stable")]
    # The first words are the ones that are attacked: the middle, some along the long axis, some close
    # together.
    return _scaled(
        np.concatenate([grid[:1], far[:3], grid[1:], far[3:]]), epsilon, f"stretched, {dimension}d"
    )


def projected(embedding: Embedding, dimension: int, epsilon: float, *, seed: int) -> Embedding | None:
    """A word of the user's embedding drawn at random and its neighbours, on their own main axes; None if they
    lie in one point.

    The scale is such that half of the words have their nearest neighbour within 1/ε.
    """
    rng = np.random.default_rng(seed)
    count = min(_PROJECTED_WORDS, len(embedding))
    chosen = rng.integers(0, len(embedding), 1)
    near, _ = best_neighbours(embedding).nearest_k(embedding.rows(chosen), count)
    vectors = embedding.rows(near[0]).astype(np.float64)
    vectors -= vectors.mean(axis=0)
    _, _, axes = np.linalg.svd(vectors, full_matrices=False)
    points = np.zeros((count, dimension))
    usable = min(dimension, len(axes))
    points[:, :usable] = vectors @ axes[:usable].T
    gaps = np.linalg.norm(points[:, None] - points[None], axis=-1)
    np.fill_diagonal(gaps, np.inf)
    scale = float(np.median(gaps.min(axis=1))) if count > 1 else 0.0
    if not scale > 0.0:
        return None
    return _scaled(points / scale, epsilon, f"projection of {embedding.name}, {dimension}d")


def _scaled(points: Floats, epsilon: float, name: str) -> Embedding:
    return Embedding([f"w{i}" for i in range(len(points))], points / epsilon, name=name)
