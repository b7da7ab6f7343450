"""TEM, the truncated exponential mechanism (Carvalho et al. 2021).

γ = (2/ε)·ln[((1-β)/β)·(|W|-1)], β = 0.001. The authors score words within γ of w by -d(w, u), put all others
into one bucket ⊥ of score -γ + (2/ε)·ln(number of others), add Gumbel noise of scale 2/ε and release the
best, a word of the bucket drawn uniformly. The best of scores with Gumbel noise of scale 2/ε is a draw with
probability proportional to exp(score·ε/2): a near word has weight exp(-(ε/2)·d), the bucket exp(-(ε/2)·γ)
times the number of its words. So exactly

    P(u | w) is proportional to exp(-(ε/2)·min(d(w, u), γ)),

and it is drawn as that. min(d, γ) is a metric, so ε·min(d, γ) metric privacy holds (proof in ``softmax``),
and with it local differential privacy with ε·γ = 2·ln[((1-β)/β)·(|W|-1)], whatever ε is. β bounds the
probability of leaving the near words when all others lie beyond γ.
"""

from __future__ import annotations

import math

import numpy as np

from deniable.arrays import Floats
from deniable.embeddings.embedding import Embedding
from deniable.errors import InvalidParameter
from deniable.interfaces import LOCAL_PRIVACY, METRIC_PRIVACY, Guarantee
from deniable.mechanisms.base import metric_privacy
from deniable.mechanisms.softmax import Softmax
from deniable.noise.portable import minus_log
from deniable.parameters import validated_share


class TEM(Softmax):
    """P(u | w) proportional to exp(-(ε/2)·min(d(w, u), γ)): ε·min(d, γ) metric privacy, and local privacy
    with ε·γ."""

    def __init__(self, embedding: Embedding, epsilon: float, *, beta: float = 0.001) -> None:
        """Prepare the mechanism; ``beta`` sets the distance γ beyond which all words are alike.

        :raises InvalidParameter: if ``epsilon`` is not a finite number greater than 0, or ``beta`` does not
            lie between 0 and 1 such that γ is at least 0.
        """
        super().__init__(embedding, epsilon=epsilon)
        self.beta = validated_share(beta, "beta", below_one=True)
        others = len(self.outputs) - 1
        odds = (1.0 - self.beta) / self.beta * others if self.beta > 0.0 else math.inf
        if not math.isfinite(odds) or (others and odds < 1.0):
            raise InvalidParameter(
                "beta",
                beta,
                f"must be above 0 and at most {others / (others + 1):g} for {others + 1:,} words, such as "
                "0.001",
            )
        self._log_odds = -float(minus_log(np.array([odds]))[0]) if others else 0.0

    @property
    def gamma(self) -> float:
        """The distance beyond which all words are alike."""
        return 2.0 / self._epsilon * self._log_odds

    @property
    def guarantee(self) -> Guarantee:
        """What is promised for one word."""
        return metric_privacy(
            self._epsilon,
            notion=f"{METRIC_PRIVACY}, and {LOCAL_PRIVACY}",
            metric=(
                "min(d, γ) of the Euclidean distance d between word vectors, rounded to a fine public grid; "
                "summed over the words of a text"
            ),
            exponent="ε·min(d(w, w'), γ)",
            where=(
                f", d being the Euclidean distance of the grid vectors and ε·γ = {2.0 * self._log_odds:.4g}: "
                "local differential privacy with that parameter for a word"
            ),
            parameters={"beta": self.beta},
        )

    def cost(self, distances: Floats, epsilon: float | Floats) -> Floats:
        """Return the distances, cut off at γ."""
        costs: Floats = np.minimum(distances, 2.0 / epsilon * self._log_odds)
        return costs

    def log_bound(self, first: int, second: int) -> float:
        """Return ε·min(d, γ)."""
        return self._epsilon * min(self.grid.between(*self._entering_pair(first, second)), self.gamma)
