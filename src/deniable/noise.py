"""Noise with density proportional to exp(-ε‖z‖) in n dimensions, plain and shaped.

In polar form the density is r^(n-1)·exp(-εr) dr on the radius times the uniform distribution on the sphere: the radius
is Gamma(n) with scale 1/ε, the direction is a normalised standard normal vector (section 2.6 of the paper).

Shaped by an invertible matrix A, the noise A·z has density proportional to exp(-ε‖A⁻¹x‖) = exp(-ε·√(xᵀS⁻¹x)) with S = AAᵀ:
the change of variables only adds the constant factor 1/|det A|.

Such noise, and normal noise, is a length times a direction. ``RadialNoise`` says so as data: a mechanism that releases the word nearest
to it declares it, and the channel then follows each direction through all lengths (``channel.rays``).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from deniable.arrays import Floats
from deniable.interfaces import Randomness


@dataclass(frozen=True, kw_only=True)
class RadialNoise:
    """Noise in n dimensions that is a random length divided by ε times a direction g, uniform on the sphere, or times A·g.

    The length is Gamma(n, 1) or χ_n, as ``lengths`` says; ``shape`` is the matrix A, if there is one.
    """

    lengths: Literal["gamma", "chi"]
    dimension: int
    shape: Floats | None = field(default=None, repr=False)


def multivariate_noise(randomness: Randomness, epsilon: float | Floats, tokens: int, dimension: int) -> Floats:
    """Return (tokens, dimension) independent noise vectors.

    ``epsilon`` is one number for all tokens or one per token; both are taken as validated.
    """
    noise = randomness.normals(tokens, dimension)
    norms = row_norms(noise)
    radii = randomness.gammas(tokens, dimension)
    # A zero normal vector has probability 0 in theory and 2^-53-ish per coordinate in practice: in one dimension that
    # can happen, and 0/0 would release garbage. Its direction is then the first axis.
    degenerate = norms == 0.0
    if degenerate.any():
        noise[degenerate, 0] = 1.0
        norms[degenerate] = 1.0
    noise *= (radii / norms / epsilon)[:, None]
    return noise


def shaped_noise(randomness: Randomness, epsilon: float | Floats, tokens: int, shape: Floats) -> Floats:
    """Return noise vectors with density proportional to exp(-ε‖A⁻¹x‖), ``shape`` being the symmetric matrix A.

    The matrix product may round the last bit differently in batches of another size: a keyed release repeats its words but for
    points that lie within 10⁻¹⁵ of their length from a border between two words.
    """
    shaped: Floats = multivariate_noise(randomness, epsilon, tokens, len(shape)) @ shape
    return shaped


def row_norms(vectors: Floats) -> Floats:
    """Return the length of each row, the same to the last bit on every machine.

    The right half of the squares is added to the left half, element by element, until one column is left. Sums by a library
    run in an order that depends on the processor, and a keyed release must give the same word everywhere.
    """
    squares = vectors * vectors
    width = squares.shape[1]
    while width > 1:
        half = width // 2
        squares[:, :half] += squares[:, width - half : width]
        width -= half
    norms: Floats = np.sqrt(squares[:, 0])
    return norms
