"""The mechanism of the paper: add noise to the word's vector, release the nearest word.

Theorem 1 (Feyisetan, Balle, Drake, Diethe 2020), extended to all text
----------------------------------------------------------------------
Let W be the words of a fixed public embedding, ⊥ the unknown word, φ: W ∪ {⊥} → Rⁿ their public vectors and
d(w, w') = ‖φ(w) - φ(w')‖. The mechanism M draws N with density p(z) = c·exp(-ε‖z‖), and releases
M(w) = near(φ(w) + N), where ``near`` maps a point to the id of its nearest word in W, ties to the lowest id.

*One word.* ``near`` is a fixed function of the point alone. For an output y let C_y = {z : near(z) = y}. For
any w, w':

    Pr[M(w) = y] = ∫_{C_y} c·exp(-ε‖z - φ(w)‖) dz
                 ≤ ∫_{C_y} c·exp(-ε‖z - φ(w')‖ + ε‖φ(w) - φ(w')‖) dz          (triangle inequality)
                 = exp(ε·d(w, w'))·Pr[M(w') = y].

Nothing was assumed of C_y, so ties, words that share a vector and cells of any shape are covered, and so is
every further function of the output (post-processing). Nothing was assumed of φ either, but d is a metric
only where φ is injective: words with one vector have d = 0 and are perfectly indistinguishable.

*Strings of equal length.* The noise of different words is independent, so the probabilities multiply and the
exponents add: Pr[M(x) = y] ≤ exp(ε·Σᵢ d(wᵢ, w'ᵢ))·Pr[M(x') = y]. With one εᵢ per position (a budget for the
whole record divided by its public number of words) the exponent is Σᵢ εᵢ·d(wᵢ, w'ᵢ).

*All text.* Text becomes words by a fixed public function t (Unicode normalisation, tokenising, dropping
punctuation), and each word becomes an id by a fixed public map π (the vocabulary; every other word becomes
⊥). M ∘ π ∘ t therefore satisfies the bound with d(π(t(x)), π(t(x'))) for any two texts with the same number
of words. Two unknown words have π(w) = π(w') = ⊥ and d = 0: no output tells one from another. Policies that
do more than this (keeping punctuation, case or a list of words, redacting or dropping unknown words) release
further functions of the input, which the bound does not cover: each one is named in the receipt with what it
discloses.

*Floating point.* The radius and direction are float64, the point is rounded to float32 before the search and
points with a coordinate beyond 10²⁴ are pulled back along their ray: functions of the noisy point alone,
hence post-processing. Noise drawn in float64 follows the real-valued density but for rounding and for tails
that a generator of 53-bit numbers cannot reach (events of probability around 2⁻⁵⁰ per word). Only a word id
leaves the mechanism, never a coordinate, so the attack on low-order bits of released floats (Mironov 2012)
has nothing to look at.
"""

from __future__ import annotations

import numpy as np

from deniable.arrays import Floats
from deniable.interfaces import Guarantee, Randomness
from deniable.mechanisms.base import NearestWord, metric_privacy
from deniable.noise.randomness import RadialNoise, multivariate_noise


class Multivariate(NearestWord):
    """Gamma(n, 1/ε) radius, uniform direction, nearest word: ε·d metric privacy for every pair of words."""

    @property
    def guarantee(self) -> Guarantee:
        """What is promised for one word."""
        metric = "Euclidean distance between word vectors; summed over the words of a text"
        return metric_privacy(self._epsilon, metric=metric, exponent="ε·‖φ(w) - φ(w')‖")

    @property
    def radial_noise(self) -> RadialNoise:
        """A length Gamma(n, 1)/ε along a direction that is uniform on the sphere."""
        return RadialNoise(lengths="gamma", dimension=self._embedding.dimension)

    def noise(self, source: Randomness, epsilon: Floats) -> Floats:
        """Return one noise vector with density proportional to exp(-ε‖z‖) for each ε."""
        return multivariate_noise(source, epsilon, len(epsilon), self._embedding.dimension)

    def _log_bound_between(self, difference: Floats) -> float:
        return self._epsilon * float(np.linalg.norm(difference))
