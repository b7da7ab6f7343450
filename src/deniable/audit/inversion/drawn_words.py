"""Words drawn by their frequency, each by itself: the Bayes adversary, who knows the mechanism, ε, the
embedding and the frequencies.

Says how often it names the word, by frequency band, from repeated releases, and for the words most at risk,
beside who takes the released word as it stands: where the channel is estimated poorly, that one names more.
No text is needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple, Self

import numpy as np

from deniable.arrays import Floats, Ids
from deniable.audit.inversion.results import (
    BandFinding,
    InversionFinding,
    ProvedBound,
    RepeatFinding,
    WordAtRisk,
)
from deniable.audit.shares import OverallShare, Share, share_of
from deniable.channel.columns import columns_of
from deniable.channel.distribution import binomial_error
from deniable.channel.draws import Draws
from deniable.decoding.posterior import BayesAdversary
from deniable.decoding.priors import SUPPORT
from deniable.embeddings.kinds import Kinds
from deniable.interfaces import Mechanism
from deniable.measures.bayes_bound import Words, bayes_bound
from deniable.measures.estimate import Estimate
from deniable.mechanisms.base import method_of
from deniable.parameters import validated_count

REPEATS = (1, 3, 10, 30)
_BAYES_REPEATS = (1, 3, 10)
_SHORTLIST_DRAWS = 4
_DRAWS_AT_RISK = 25
_MOST_SUMS = 1 << 28
_EDGES = (100, 1_000, 10_000)


@dataclass(frozen=True, kw_only=True)
class InversionEffort:
    """How much is simulated: words per band, words that are released again and again, and what the channel
    is estimated from (at most ``points`` of each released word, or ``draws_per_word``).

    Of running text about ``places`` words are attacked, by attackers who think of the ``support`` most
    frequent words and follow ``directions`` from each.
    """

    words_per_band: int = 150
    repeated_words: int = 40
    points: int = 128
    draws_per_word: int = 100
    at_risk: int = 20
    places: int = 2_000
    support: int = SUPPORT
    directions: int = 300

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            validated_count(value, name)

    @classmethod
    def of(cls, words: int = 150, *, points: int = 128, draws: int = 100, **text: int) -> Self:
        """Return the effort that goes with a number of words to attack in each band; ``text`` is for running
        text.

        :raises InvalidParameter: if a number is not a whole number of at least 1.
        """
        words = validated_count(words, "words")
        return cls(
            words_per_band=words,
            repeated_words=max(1, words // 4),
            at_risk=max(1, words // 8),
            points=points,
            draws_per_word=draws,
            **text,
        )


def invert(
    mechanism: Mechanism, prior: Floats, *, seed: int, effort: InversionEffort | None = None
) -> InversionFinding:
    """Return what adversaries who know these word frequencies learn from a mechanism at its ε, judged on
    draws that the channel was not estimated from."""
    effort = InversionEffort() if effort is None else effort
    seed = validated_count(seed, "seed", at_least=0)
    draws, rng = Draws(mechanism, seed=2 * seed + 1), np.random.default_rng([seed, 5])
    bands = frequency_bands(prior)
    of_bands = [
        _release(draws, rng.choice(band.ids, size=effort.words_per_band, p=band.weights)) for band in bands
    ]
    # Without keyed releases, the same word is released again and again with fresh noise.
    repeated = _release(draws, rng.choice(len(prior), size=effort.repeated_words, p=prior), max(REPEATS))
    exposed = _release(draws, _exposed(draws, prior, effort.at_risk), _DRAWS_AT_RISK)
    # The channel is asked for all of them: points are drawn once.
    read = [*(each.outputs for each in of_bands), repeated.outputs[:, : max(_BAYES_REPEATS)], exposed.outputs]
    outputs = np.concatenate([each.ravel() for each in read])
    channel = columns_of(mechanism, outputs, seed=2 * seed, points=effort.points, draws=effort.draws_per_word)
    adversary = BayesAdversary(channel, prior)
    found = _judge_bands(bands, of_bands, adversary)
    finding = InversionFinding(
        epsilon=mechanism.epsilon,
        channel=channel.how,
        prior_guess=float(prior.max()),
        bayes=_over_all_text(found, [band.bayes for band in found]),
        nearest_word=_over_all_text(found, [band.nearest_word for band in found]),
        bands=found,
        repeats=_judge_repeats(repeated, adversary),
        at_risk=_most_at_risk(mechanism, exposed, adversary),
    )
    return replace(
        finding, bound=proved_bound(mechanism, np.append(prior, 0.0), best=finding.best_drawn.value)
    )


def proved_bound(
    mechanism: Mechanism, shares: Floats, *, best: float, kinds: Kinds | None = None
) -> ProvedBound | None:
    """Return the Bayes bound of words, or of kinds, beside the best attack; None if it is not known, or
    exact sums over a large vocabulary would take too long."""
    if method_of(mechanism) == "exact" and np.count_nonzero(shares) * len(mechanism.embedding) > _MOST_SUMS:
        return None
    if kinds is not None and not shares[kinds.of >= 0].any():
        return None
    words = Words(shares=shares, in_words="words as frequent as the attackers know", kinds=kinds)
    found = bayes_bound(mechanism, words)
    return None if found is None else above(found, best)


def above(found: Estimate, best: float) -> ProvedBound:
    """Return a bound above the best attack."""
    return ProvedBound(value=found.value, at_most=found.high, gap=found.high - best)


class _Released(NamedTuple):
    """Words, and a row of releases of each."""

    truth: Ids
    outputs: Ids


def _release(draws: Draws, truth: Ids, times: int = 1) -> _Released:
    return _Released(truth, draws.of_each(np.repeat(truth, times)).reshape(len(truth), times))


@dataclass(frozen=True, kw_only=True)
class Band:
    """Words of a range of ranks: their ids, their share of all text, and each one's share within the band."""

    name: str
    ids: Ids
    mass: float
    weights: Floats


def frequency_bands(prior: Floats) -> list[Band]:
    """Return the 100 most frequent words, the next up to 1,000, up to 10,000, and the rest that occur at
    all."""
    order = np.lexsort((np.arange(len(prior)), -prior))
    order = order[prior[order] > 0.0]
    edges = [0, *(edge for edge in _EDGES if edge < len(order)), len(order)]
    bands = []
    for start, end in pairwise(edges):
        ids = order[start:end]
        mass = float(prior[ids].sum())
        bands.append(Band(name=f"{start + 1:,} to {end:,}", ids=ids, mass=mass, weights=prior[ids] / mass))
    return bands


def majority(outputs: Ids) -> Ids:
    """Return the most frequent word of each row, the earliest on a tie: the naive guess from repeats."""
    guesses = np.empty(len(outputs), dtype=np.int64)
    for row, seen in enumerate(outputs):
        words, first, counts = np.unique(seen, return_index=True, return_counts=True)
        guesses[row] = words[np.lexsort((first, -counts))[0]]
    return guesses


def _judge_bands(
    bands: Sequence[Band], released: Sequence[_Released], adversary: BayesAdversary
) -> tuple[BandFinding, ...]:
    guesses = np.split(
        adversary.guesses(np.concatenate([each.outputs.ravel() for each in released])), len(bands)
    )
    return tuple(
        BandFinding(
            ranks=band.name,
            share_of_text=band.mass,
            bayes=_share(guess == own.truth),
            nearest_word=_share(own.outputs[:, 0] == own.truth),
        )
        for band, own, guess in zip(bands, released, guesses, strict=True)
    )


def _over_all_text(bands: Sequence[BandFinding], found: Sequence[Share]) -> OverallShare:
    """Return the success over all text: bands weighed by their share of it, with a standard error."""
    masses = np.array([band.share_of_text for band in bands])
    values = np.array([share.value for share in found])
    tries = np.array([share.tries for share in found])
    error = float(np.linalg.norm(masses * binomial_error(values * tries, tries)))
    return OverallShare(value=float((masses * values).sum() / masses.sum()), standard_error=error)


def _judge_repeats(released: _Released, adversary: BayesAdversary) -> tuple[RepeatFinding, ...]:
    truth, outputs = released.truth, released.outputs
    bayes = adversary.guesses_from_repeats(outputs[:, : max(_BAYES_REPEATS)], _BAYES_REPEATS)
    return tuple(
        RepeatFinding(
            releases=m,
            majority=_share(majority(outputs[:, :m]) == truth),
            bayes=_share(bayes[m] == truth) if m in bayes else None,
        )
        for m in REPEATS
    )


def _exposed(draws: Draws, prior: Floats, count: int) -> Ids:
    """Return words that hardly change, and the most frequent words, which are named most often at small ε."""
    everything = np.arange(len(prior), dtype=np.int64)
    stays = np.sum([draws.of_each(everything) == everything for _ in range(_SHORTLIST_DRAWS)], axis=0)
    by_chance = np.random.default_rng(len(prior)).random(len(prior))  # among words that stayed equally often
    frequent = np.argsort(-prior, kind="stable")[: count // 2]
    lonely = np.lexsort((by_chance, -stays))[: count - count // 2]
    return np.union1d(frequent, lonely)


def _most_at_risk(
    mechanism: Mechanism, exposed: _Released, adversary: BayesAdversary
) -> tuple[WordAtRisk, ...]:
    """Return the words that were named at least once, the one named most often first."""
    some, words = exposed.truth, mechanism.embedding.words
    named = adversary.guesses(exposed.outputs.ravel()).reshape(exposed.outputs.shape) == some[:, None]
    stayed = exposed.outputs == some[:, None]
    most = np.maximum(named.sum(axis=1), stayed.sum(axis=1))
    return tuple(
        WordAtRisk(word=str(words[some[i]]), bayes=_share(named[i]), nearest_word=_share(stayed[i]))
        for i in np.lexsort((some, -most))
        if most[i] > 0
    )


def _share(hits: np.ndarray[Any, np.dtype[np.bool_]]) -> Share:
    return share_of(int(hits.sum()), len(hits))
