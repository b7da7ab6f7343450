"""Randomised response over the vocabulary (k-RR): the plain local-privacy baseline, which knows nothing of
meaning.

With k words that can be released, w comes out as itself with probability p = e^ε/(e^ε + k - 1) and as each
other word with probability 1/(e^ε + k - 1). ⊥ is not among the outputs: it comes out as each word with
probability 1/k.

Proof of ε-local differential privacy. The probabilities of one output differ between two known words by at
most the factor e^ε. Against ⊥: p·k = k·e^ε/(e^ε + k - 1) ≤ e^ε, and (1/k)·(e^ε + k - 1) = 1 + (e^ε - 1)/k ≤
e^ε. A word that shares its vector with an earlier one is taken as that one, by a public map.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from deniable.arrays import Floats, Ids
from deniable.interfaces import LOCAL_PRIVACY, Guarantee, Randomness
from deniable.mechanisms.base import DrawsByParts, ExactSums
from deniable.noise.portable import exp_minus


class RandomizedResponse(DrawsByParts, ExactSums):
    """The word itself with probability e^ε/(e^ε + |W| - 1), else any other word: ε-local differential
    privacy."""

    @property
    def guarantee(self) -> Guarantee:
        """What is promised for one word."""
        return Guarantee(
            notion=LOCAL_PRIVACY,
            metric="none: the bound is the same for all pairs of words; summed over the words of a text",
            epsilon=self._epsilon,
            statement=(
                "For any two words w and w', known or unknown, and any output y: Pr[M(w) = y] ≤ "
                "exp(ε)·Pr[M(w') = y]; for texts with the "
                "same number of words that differ in m of them the exponent is m·ε."
            ),
            caveat="This ε is that of local differential privacy, per word. It does not compare with the ε "
            "of metric privacy.",
        )

    def log_bound(self, first: int, second: int) -> float:
        """Return ε, or 0 for words that are taken as the same."""
        pair = self._entering_pair(first, second)
        return 0.0 if self.taken_as[pair[0]] == self.taken_as[pair[1]] else self._epsilon

    def draw(self, ids: Ids, source: Randomness, epsilon: Floats) -> Ids:
        """Return each word or another one, by two uniform numbers each."""
        uniforms = source.uniforms(len(ids), 2)
        places, count = self._places[ids], len(self.outputs)
        known = places >= 0
        stays = known & (uniforms[:, 0] < _kept(epsilon, count))
        # A known word skips its own place, so that each other word has the same chance; ⊥ has no place to
        # skip.
        others = np.floor(uniforms[:, 1] * np.where(known, count - 1, count)).astype(np.int64)
        others = np.clip(others + (known & (others >= places)), 0, count - 1)
        return self.outputs[np.where(stays, places, others)]

    def distributions(self, ids: Ids, epsilons: Floats) -> Iterator[tuple[Ids, Floats]]:
        """Yield for each input id all outputs and their probabilities; see ``ExactSums``."""
        count = len(self.outputs)
        kept = _kept(epsilons, count)
        for place in self._places[self._entering(ids)].tolist():
            chances = np.full((len(epsilons), count), 1.0 / count)
            if place >= 0:
                chances[:] = (kept * exp_minus(epsilons))[:, None]
                chances[:, place] = kept
            yield self.outputs, chances

    @cached_property
    def _places(self) -> Ids:
        """Where each input stands among the outputs; -1 for ⊥."""
        places = np.full(len(self._embedding) + 1, -1, dtype=np.int64)
        places[self.outputs] = np.arange(len(self.outputs))
        return places[self.taken_as]


def _kept(epsilon: float | Floats, count: int) -> Floats:
    """Return e^ε/(e^ε + count - 1) without overflow."""
    kept: Floats = 1.0 / (1.0 + (count - 1) * exp_minus(np.asarray(epsilon, dtype=np.float64)))
    return kept
