"""SanText: the exponential mechanism over the whole vocabulary (Yue et al. 2021).

P(u | w) is proportional to exp(-(ε/2)·d(w, u)) over the words of the public embedding. The cost d is a metric, so ε·d metric
privacy holds (proof in ``softmax``), ⊥ included: it is one more point of the space. The authors' code takes the vocabulary from
the private data; here it is that of the embedding.
"""

from __future__ import annotations

from deniable.arrays import Floats
from deniable.interfaces import METRIC_PRIVACY, Guarantee
from deniable.mechanisms.softmax import Softmax


class SanText(Softmax):
    """P(u | w) proportional to exp(-(ε/2)·d(w, u)): ε·d metric privacy for every pair of words."""

    @property
    def guarantee(self) -> Guarantee:
        """What is promised for one word."""
        return Guarantee(
            notion=METRIC_PRIVACY,
            metric="Euclidean distance between word vectors, rounded to a fine public grid; summed over the words of a text",
            epsilon=self._epsilon,
            statement=(
                "For any two words w and w', known or unknown, and any output y: Pr[M(w) = y] ≤ exp(ε·d(w, w'))·Pr[M(w') = y], d being the "
                "Euclidean distance of the grid vectors; for texts with the same number of words the exponents add."
            ),
        )

    def cost(self, distances: Floats, epsilon: float | Floats) -> Floats:  # noqa: ARG002
        """Return the distances themselves."""
        return distances.copy()

    def log_bound(self, first: int, second: int) -> float:
        """Return ε times the distance of the grid vectors."""
        return self._epsilon * self.grid.between(*self._entering_pair(first, second))
