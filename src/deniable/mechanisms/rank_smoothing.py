"""Rank smoothing: a wrapper that spreads the output over the neighbours of the word that came out (Asghar et
al. 2024).

In high dimensions the nearest word of a noisy point is either the word itself or one far away: near words
hardly ever come out. The wrapper takes the released word x of any nearest-word mechanism, draws a rank k = 0,
1, …, |W| - 1 with probability proportional to exp(-c·ε·k), and releases the k-th nearest word of x (the 0-th
is x).

Proof. The rank does not depend on the input, and the k-th neighbour of x is a public function of x and k:
post-processing of x. So the guarantee is that of the wrapped mechanism, unchanged.

The rank is drawn by inversion: with ratio q = exp(-c·ε) and a uniform u, k = ⌊ln(1 - u·(1 - q^|W|))/ln q⌋, in
float64.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from deniable.arrays import Floats, Ids
from deniable.errors import InvalidParameter
from deniable.interfaces import Guarantee, Randomness
from deniable.mechanisms.base import DrawsByParts, NearestWord
from deniable.neighbours.selection import nearest_released
from deniable.noise.portable import minus_log_one_minus, one_minus_exp_minus
from deniable.parameters import validated_epsilon

_LEAST_DECAY = 1e-290


class RankSmoothing(DrawsByParts):
    """The word that a nearest-word mechanism releases, replaced by its k-th neighbour with k truncated
    geometric."""

    def __init__(self, mechanism: NearestWord, *, c: float = 0.04) -> None:
        """Wrap a mechanism; the ratio of successive ranks is exp(-c·ε).

        :raises InvalidParameter: if ``mechanism`` is not one of the nearest-word family, or ``c`` not a
            finite number greater than 0.
        """
        if not isinstance(mechanism, NearestWord):
            raise InvalidParameter(
                "mechanism",
                type(mechanism).__name__,
                "must be one that releases the word nearest to a noisy point",
            )
        super().__init__(mechanism.embedding, epsilon=mechanism.epsilon)
        self.c = validated_epsilon(c, "c")
        self.wrapped = mechanism

    @property
    def guarantee(self) -> Guarantee:
        """What is promised for one word: what the wrapped mechanism promises."""
        wrapped = self.wrapped.guarantee
        return replace(
            wrapped, parameters={"c": self.c, "over": type(self.wrapped).__name__, **wrapped.parameters}
        )

    def log_bound(self, first: int, second: int) -> float:
        """Return the bound of the wrapped mechanism."""
        return self.wrapped.log_bound(first, second)

    def draw(self, ids: Ids, source: Randomness, epsilon: Floats) -> Ids:
        """Return a neighbour of the word that the wrapped mechanism releases, by a random rank."""
        released = self.wrapped.draw(ids, source, epsilon)
        ranks = truncated_geometric(source.uniforms(len(ids), 1)[:, 0], self.c * epsilon, len(self.outputs))
        # Tokens of like rank together, so that few are asked for more neighbours than they need.
        for top in range(1, int(ranks.max(initial=0)).bit_length() + 1):
            tokens = np.flatnonzero((ranks >= 1 << (top - 1)) & (ranks < 1 << top))
            if len(tokens):
                words, places = np.unique(released[tokens], return_inverse=True)
                furthest = int(ranks[tokens].max()) + 1
                near, _ = nearest_released(
                    self._embedding, self.wrapped.neighbours, self._embedding.rows(words), furthest
                )
                released[tokens] = near[places, ranks[tokens]]
        return released


def truncated_geometric(uniforms: Floats, decay: Floats, count: int) -> Ids:
    """Return a rank below ``count`` for each uniform number, with probability ∝ exp(-decay·rank)."""
    # With next to no decay the ranks are uniform, which the quotient of two tiny numbers says too, but for
    # 0/0.
    decay = np.maximum(decay, _LEAST_DECAY)
    with np.errstate(over="ignore"):
        reach = one_minus_exp_minus(decay * count)
    ranks = np.floor(minus_log_one_minus(uniforms * reach) / decay)
    return np.minimum(ranks, count - 1).astype(np.int64)
