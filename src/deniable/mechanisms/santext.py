"""SanText: the exponential mechanism over the whole vocabulary (Yue et al. 2021).

P(u | w) is proportional to exp(-(ε/2)·d(w, u)) over the words of the public embedding. The cost d is a metric, so ε·d metric
privacy holds (proof in ``softmax``), ⊥ included: it is one more point of the space. The authors' code takes the vocabulary from
the private data; here it is that of the embedding.
"""

from __future__ import annotations

from deniable.arrays import Floats
from deniable.interfaces import Guarantee
from deniable.mechanisms.base import metric_privacy
from deniable.mechanisms.softmax import Softmax


class SanText(Softmax):
    """P(u | w) proportional to exp(-(ε/2)·d(w, u)): ε·d metric privacy for every pair of words."""

    @property
    def guarantee(self) -> Guarantee:
        """What is promised for one word."""
        return metric_privacy(
            self._epsilon,
            metric="Euclidean distance between word vectors, rounded to a fine public grid; summed over the words of a text",
            exponent="ε·d(w, w')",
            where=", d being the Euclidean distance of the grid vectors",
        )

    def cost(self, distances: Floats, epsilon: float | Floats) -> Floats:  # noqa: ARG002
        """Return the distances themselves."""
        return distances.copy()

    def log_bound(self, first: int, second: int) -> float:
        """Return ε times the distance of the grid vectors."""
        return self._epsilon * self.grid.between(*self._entering_pair(first, second))
