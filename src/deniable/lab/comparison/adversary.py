"""One adversary for all mechanisms: it learns P(y | x) from draws, with a guess for what it never saw.

It knows that the word is one of the probed ones and how frequent each is, draws the mechanism many times for
each of them, and counts. For a pair it never or seldom saw it falls back on exp(-κ·d(x, y)), scaled to sum 1
over the vocabulary:

    P(y | x) ≈ (count(x, y) + α·exp(-κ·d(x, y))/Z_κ(x)) / (draws + α).

κ and α are chosen on draws of their own. The guess is argmax_x π(x)·P(y | x), the Bayes rule with a learnt P:
nobody who knows no more does better than the rule with the true P, so a success judged on fresh draws is a
lower bound on that of the Bayes adversary among these words. Every mechanism meets the same learner with the
same number of draws, so that no one is favoured by a better formula; that the learner comes near the exact
rule is tested where the exact one is known.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from deniable.arrays import Floats, Ids
from deniable.lab.comparison.probe import Probe

_PRIOR_DRAWS = (1.0, 10.0, 100.0, 1e4, 1e6)
_DECAYS_TRIED = 2
_TINY = 1e-250


class Seen(NamedTuple):
    """Draws of a mechanism: ``places`` are the probed words that went in, ``outputs`` what came out."""

    places: Ids
    outputs: Ids


class LearntAdversary:
    """Guesses the probed word behind an output from draws it has seen."""

    def __init__(self, probe: Probe, learnt: Seen, tuning: Seen) -> None:
        self._probe, self._learnt = probe, learnt
        self._decay, self._prior_draws = self._tuned(tuning)

    def guesses(self, outputs: Ids) -> Ids:
        """Return the place of the probed word guessed for each output."""
        words, where = np.unique(outputs, return_inverse=True)
        fallback = self._fallback(self._decay, self._probe.distances(words))
        return self._best(self._counts(words), fallback, self._prior_draws)[where]

    def _tuned(self, tuning: Seen) -> tuple[int, float]:
        """Return the κ (by its place) and α whose guesses are right most often, of the κ that fit the draws
        best."""
        words, where = np.unique(tuning.outputs, return_inverse=True)
        counts, distances = self._counts(words), self._probe.distances(words)
        own, met = distances[tuning.places, where], counts[tuning.places, where]
        weights = -self._probe.decays[:, None] * own - self._probe.log_sums[:, tuning.places]
        # κ = 0 is for outputs that say nothing; a κ may fit the draws as a whole, or only those that were not
        # met before.
        whole, rest = weights.mean(axis=1), np.where(met > 0.0, 0.0, weights).mean(axis=1)
        tried = {0, *np.argsort(whole)[-_DECAYS_TRIED:].tolist(), *np.argsort(rest)[-_DECAYS_TRIED:].tolist()}
        best = (-1.0, 0, 0.0)
        for decay in sorted(tried):
            fallback = self._fallback(decay, distances)
            for draws in _PRIOR_DRAWS:
                hits = float((self._best(counts, fallback, draws)[where] == tuning.places).mean())
                best = max(best, (hits, decay, draws))
        return best[1], best[2]

    def _best(self, counts: Floats, fallback: Floats, draws: float) -> Ids:
        # The tiny number leaves the most frequent word as the guess for an output that nothing explains.
        best: Ids = np.argmax((counts + draws * fallback + _TINY) * self._probe.shares[:, None], axis=0)
        return best

    def _fallback(self, decay: int, distances: Floats) -> Floats:
        answer: Floats = np.exp(-self._probe.decays[decay] * distances - self._probe.log_sums[decay][:, None])
        return answer

    def _counts(self, words: Ids) -> Floats:
        """Return how often each probed word became each of these (sorted) words."""
        columns = np.minimum(np.searchsorted(words, self._learnt.outputs), len(words) - 1)
        met = words[columns] == self._learnt.outputs
        counts = np.zeros((len(self._probe.ids), len(words)))
        np.add.at(counts, (self._learnt.places[met], columns[met]), 1.0)
        return counts
