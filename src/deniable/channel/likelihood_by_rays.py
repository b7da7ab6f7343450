"""P(y | x) of the multivariate mechanism for one output and all inputs at once, from rays through the output's own cell.

P(y | x) is the integral of c·exp(-ε‖z - φ(x)‖) over the cell of y. Points of the cell come from rays that start at φ(y): along
the direction g the cell ends at R(g), so a radius r drawn from Gamma(n, 1/ε) cut off there gives a point z = φ(y) + r·g of the
cell, always. Relative to the noise around y, whose share inside along g is F(ε·R(g)),

    P(y | x) = E_g,r [ F(ε·R(g)) · exp(-ε·(‖z - φ(x)‖ - r)) ],

an unbiased estimate for every x from the same points. ‖z - φ(x)‖² = r² + 2r·⟨g, φ(y) - φ(x)⟩ + ‖φ(y) - φ(x)‖², so that the
projections on the shared directions are all that is needed.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from deniable.arrays import Floats, Ids
from deniable.channel.rays.rays import Rays
from deniable.embeddings.embedding import Embedding
from deniable.interfaces import Mechanism

_OUTPUTS_AT_ONCE = 64
_NEGLIGIBLE = 25.0
_SMALLEST_SHARE = 1e-280
_LEAST = -1e30


class RayChannel:
    """The channel of a mechanism that releases the word nearest to round Gamma noise, protected embeddings included."""

    how = "rays through the cell of each released word"

    def __init__(self, mechanism: Mechanism, *, rays: int, seed: int) -> None:
        embedding = mechanism.embedding
        self._epsilon = mechanism.epsilon
        # The cells are those of the words themselves: what stands in for a word matters for inputs only.
        bare = Embedding.from_checked(
            embedding.words, embedding.vectors, embedding.unknown, name=embedding.name, shadowed=embedding.shadowed
        )
        self._rays = Rays(bare, rays=rays, seed=seed)
        entering = embedding.stands_in(np.arange(len(embedding), dtype=np.int64))
        self._inputs = embedding.rows(entering).astype(np.float32)
        self._squares = np.einsum("ij,ij->i", self._inputs, self._inputs)
        directions = self._rays.directions.astype(np.float32)
        self._along = directions @ self._inputs.T
        self._uniform = np.random.default_rng([seed, 1]).random(len(directions))
        self._directions, self._embedding = directions, bare

    def log_likelihoods(self, outputs: Ids) -> Iterator[Floats]:
        """Yield for each output the logarithm of its probability for every input word."""
        for start in range(0, len(outputs), _OUTPUTS_AT_ONCE):
            part = outputs[start : start + _OUTPUTS_AT_ONCE]
            ends, _ = self._rays.first_breakpoints(part)
            for output, radii in zip(part.tolist(), ends, strict=True):
                yield self._of(output, radii)

    def _of(self, output: int, ends: Floats) -> Floats:
        inside = self._log_inside(self._epsilon * ends)
        kept = inside > inside.max() - _NEGLIGIBLE
        radii = self._cut_off_radii(ends[kept], inside[kept], self._uniform[kept]).astype(np.float32)
        own = self._embedding.vectors[output]
        gaps = self._squares + np.float32(own @ own) - 2.0 * (self._inputs @ own)
        offsets = (self._directions[kept] @ own)[:, None] - self._along[kept]
        squares = radii[:, None] * (radii[:, None] + 2.0 * offsets)
        squares += np.maximum(gaps, 0.0)[None]
        # Larger by rounding than the exact values only where they hardly count: far points.
        losses = (np.sqrt(np.maximum(squares, 0.0)) - radii[:, None]) * np.float32(-self._epsilon)
        losses += inside[kept].astype(np.float32)[:, None]
        highest = losses.max(axis=0)
        losses -= highest
        total = np.exp(losses).sum(axis=0, dtype=np.float64)
        answer: Floats = np.log(total) + highest - np.log(len(ends))
        return answer

    def _log_inside(self, lengths: Floats) -> Floats:
        """Return ln F_n; where F_n is too small for a float, the first term of its series."""
        from scipy.special import gammainc, gammaln

        n = self._embedding.dimension
        shares = gammainc(n, lengths)
        short = np.minimum(lengths, 1.0)
        with np.errstate(divide="ignore"):
            tiny = n * np.log(short) - short - gammaln(n + 1.0)
            logs: Floats = np.where(shares > _SMALLEST_SHARE, np.log(shares), tiny)
        return np.maximum(logs, _LEAST)

    def _cut_off_radii(self, ends: Floats, inside: Floats, uniform: Floats) -> Floats:
        """Return radii of the noise, given that they end inside the cell."""
        from scipy.special import gammaincinv

        n = self._embedding.dimension
        usual = gammaincinv(n, np.exp(inside) * uniform) / self._epsilon
        radii: Floats = np.where(inside > np.log(_SMALLEST_SHARE), usual, np.where(np.isfinite(ends), ends, 0.0) * uniform ** (1.0 / n))
        return radii
