"""Which word was it? The Bayes adversary, who knows the mechanism, ε, the embedding and how frequent words are.

The audit says how often each adversary names the word, by ε, by frequency band, and for the words most at risk.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Self

import numpy as np

from deniable.arrays import Floats, Ids
from deniable.audit.results import AtEpsilon, AuditResult, Estimate, Share, head_of, largest_acceptable, share_of, sorted_epsilons
from deniable.channel.draws import Draws
from deniable.channel.likelihood import channel_of
from deniable.decoding import priors
from deniable.decoding.posterior import BayesAdversary
from deniable.embeddings.embedding import Embedding
from deniable.errors import InvalidParameter
from deniable.interfaces import Mechanism
from deniable.mechanisms.catalogue import ChosenMechanism
from deniable.parameters import validated_count, validated_share
from deniable.progress import Report

REPEATS = (1, 3, 10, 30)
_BAYES_REPEATS = (1, 3, 10)
_SHORTLIST_DRAWS = 4
_DRAWS_AT_RISK = 25
_EDGES = (100, 1_000, 10_000)


@dataclass(frozen=True, kw_only=True)
class InversionEffort:
    """How much is simulated: words per band, words that are released again and again, and rays or draws of the channel."""

    words_per_band: int = 150
    repeated_words: int = 40
    rays: int = 128
    draws_per_word: int = 100
    at_risk: int = 20

    def __post_init__(self) -> None:
        for name in ("words_per_band", "repeated_words", "rays", "draws_per_word", "at_risk"):
            validated_count(getattr(self, name), name)

    @classmethod
    def of(cls, words: int = 150, *, rays: int = 128, draws: int = 100) -> Self:
        """Return the effort that goes with a number of words to attack in each band.

        :raises InvalidParameter: if a number is not a whole number of at least 1.
        """
        words = validated_count(words, "words")
        return cls(words_per_band=words, repeated_words=max(1, words // 4), at_risk=max(1, words // 8), rays=rays, draws_per_word=draws)


@dataclass(frozen=True, kw_only=True)
class BandFinding:
    """How often the words of a range of ranks are named, and the share of all text that they make up."""

    ranks: str
    share_of_text: float
    bayes: Share
    nearest_word: Share


@dataclass(frozen=True, kw_only=True)
class RepeatFinding:
    """How often a word is named that was released this many times with fresh noise; ``bayes`` is None where it was not tried."""

    releases: int
    majority: Share
    bayes: Share | None


@dataclass(frozen=True, kw_only=True)
class WordAtRisk:
    """A word that is named often."""

    word: str
    bayes: Share


@dataclass(frozen=True, kw_only=True)
class InversionFinding(AtEpsilon):
    """What adversaries learn at one ε. ``prior_guess`` is how often one who sees nothing is right."""

    channel: str
    prior_guess: float
    bayes: Estimate
    nearest_word: Estimate
    bands: tuple[BandFinding, ...]
    repeats: tuple[RepeatFinding, ...]
    at_risk: tuple[WordAtRisk, ...]


@dataclass(frozen=True, kw_only=True)
class InversionResult(AuditResult):
    """The result of ``audit_inversion``: what was found at each ε, and the largest ε at which it is acceptable."""

    frequencies: str
    acceptable: float
    largest_acceptable_epsilon: float | None
    results: tuple[InversionFinding, ...]


def audit_inversion(
    embedding: Embedding,
    mechanism: ChosenMechanism | None = None,
    *,
    epsilons: Sequence[float],
    frequencies: Path | None = None,
    corpus: Path | None = None,
    acceptable: float = 0.2,
    effort: InversionEffort | None = None,
    seed: int = 0,
    report: Report | None = None,
) -> InversionResult:
    """Let the Bayes adversary guess the words behind released words, and return how often the guess is right.

    The adversary knows word frequencies from ``frequencies`` (a file with a word and its count on each line), from ``corpus`` (a text,
    one document a line), or else from the embedding's order. ``acceptable`` is how often it may be right.

    :raises InvalidParameter: if an argument is not allowed.
    :raises RecordError: if a line of ``frequencies`` is not a word and its count.
    :raises UnusableAuditData: if the file of frequencies or the corpus holds no known word.
    """
    mechanism = ChosenMechanism() if mechanism is None else mechanism
    acceptable, values = validated_share(acceptable, "acceptable"), sorted_epsilons(epsilons)
    if frequencies is not None and corpus is not None:
        raise InvalidParameter("corpus", str(corpus), "cannot be given with frequencies: the adversary knows one of them")
    prior = priors.by_rank(embedding)
    if frequencies is not None:
        prior = priors.from_table(embedding, frequencies)
    elif corpus is not None:
        prior = priors.from_corpus(embedding, corpus)
    found = []
    for done, value in enumerate(values, 1):
        found.append(invert(mechanism(embedding, epsilon=value), prior, seed=seed, effort=effort))
        if report is not None:
            report(done, len(values))
    return InversionResult(
        **head_of("inversion", embedding, mechanism, seed),
        frequencies=str(frequencies or corpus or "by rank (Zipf)"),
        acceptable=acceptable,
        largest_acceptable_epsilon=largest_acceptable(((each, each.bayes.value) for each in found), acceptable),
        results=tuple(found),
    )


def invert(mechanism: Mechanism, prior: Floats, *, seed: int, effort: InversionEffort | None = None) -> InversionFinding:
    """Return what adversaries who know these word frequencies learn from a mechanism at its ε.

    The channel is estimated from one seed and judged on draws of another.

    :raises InvalidParameter: if the seed is not a whole number of at least 0.
    """
    effort = InversionEffort() if effort is None else effort
    seed = validated_count(seed, "seed", at_least=0)
    channel = channel_of(mechanism, seed=2 * seed, rays=effort.rays, draws_per_word=effort.draws_per_word)
    adversary = BayesAdversary(channel, prior)
    draws, rng = Draws(mechanism, seed=2 * seed + 1), np.random.default_rng([seed, 5])
    bands = tuple(_judge_band(band, adversary, draws, rng, effort.words_per_band) for band in frequency_bands(prior))
    return InversionFinding(
        epsilon=mechanism.epsilon,
        channel=channel.how,
        prior_guess=float(prior.max()),
        bayes=_over_all_text(bands, [band.bayes for band in bands]),
        nearest_word=_over_all_text(bands, [band.nearest_word for band in bands]),
        bands=bands,
        repeats=_repeats(adversary, draws, rng, prior, effort.repeated_words),
        at_risk=_most_at_risk(mechanism, adversary, draws, prior, effort.at_risk),
    )


@dataclass(frozen=True, kw_only=True)
class Band:
    """Words of a range of ranks: their ids, the share of all text they make up, and each one's share within the band."""

    name: str
    ids: Ids
    mass: float
    weights: Floats


def frequency_bands(prior: Floats) -> list[Band]:
    """Return the most frequent 100 words, the next up to 1,000, up to 10,000, and the rest; words that never occur are left out.

    Rare words hardly occur in a text: only in a band of their own are they seen in an audit.
    """
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
    """Return the most frequent word of each row, the earliest on a tie: what a naive adversary guesses from repeats."""
    guesses = np.empty(len(outputs), dtype=np.int64)
    for row, seen in enumerate(outputs):
        words, first, counts = np.unique(seen, return_index=True, return_counts=True)
        guesses[row] = words[np.lexsort((first, -counts))[0]]
    return guesses


def _judge_band(band: Band, adversary: BayesAdversary, draws: Draws, rng: np.random.Generator, words: int) -> BandFinding:
    truth: Ids = rng.choice(band.ids, size=words, p=band.weights)
    outputs = draws.of_each(truth)
    return BandFinding(
        ranks=band.name,
        share_of_text=band.mass,
        bayes=_share(adversary.guesses(outputs) == truth),
        nearest_word=_share(outputs == truth),
    )


def _over_all_text(bands: Sequence[BandFinding], found: Sequence[Share]) -> Estimate:
    """Return the success over all text: bands weighed by their share of it, with a standard error."""
    masses = np.array([band.share_of_text for band in bands])
    values = np.array([share.value for share in found])
    tries = np.array([share.tries for share in found])
    # One hit and one miss more keep the error of a band without either above zero.
    smoothed = (values * tries + 1.0) / (tries + 2.0)
    error = float(np.sqrt((masses**2 * smoothed * (1.0 - smoothed) / (tries + 2.0)).sum()))
    return Estimate(value=float((masses * values).sum() / masses.sum()), standard_error=error)


def _repeats(adversary: BayesAdversary, draws: Draws, rng: np.random.Generator, prior: Floats, words: int) -> tuple[RepeatFinding, ...]:
    """Release the same words again and again with fresh noise: what happens without keyed releases."""
    truth: Ids = rng.choice(len(prior), size=words, p=prior)
    outputs = draws.of_each(np.repeat(truth, max(REPEATS))).reshape(words, max(REPEATS))
    bayes = adversary.guesses_from_repeats(outputs[:, : max(_BAYES_REPEATS)], _BAYES_REPEATS)
    return tuple(
        RepeatFinding(
            releases=m, majority=_share(majority(outputs[:, :m]) == truth), bayes=_share(bayes[m] == truth) if m in bayes else None
        )
        for m in REPEATS
    )


def _most_at_risk(mechanism: Mechanism, adversary: BayesAdversary, draws: Draws, prior: Floats, count: int) -> tuple[WordAtRisk, ...]:
    """Look for words that hardly change, among all words, and judge them and the most frequent words on fresh draws.

    At large ε lonely words are named most often; at small ε, where little is learnt from an output, frequent ones are.
    """
    words = len(mechanism.embedding)
    stays = np.zeros(words)
    for _ in range(_SHORTLIST_DRAWS):
        stays += draws.of_each(np.arange(words, dtype=np.int64)) == np.arange(words)
    by_chance = np.random.default_rng(words).random(words)  # among words that stayed equally often
    frequent, lonely = np.argsort(-prior, kind="stable")[: count // 2], np.lexsort((by_chance, -stays))[: count - count // 2]
    some = np.union1d(frequent, lonely)
    truth = np.repeat(some, _DRAWS_AT_RISK)
    named = (adversary.guesses(draws.of_each(truth)) == truth).reshape(len(some), -1)
    order = np.lexsort((some, -named.sum(axis=1)))
    return tuple(WordAtRisk(word=str(mechanism.embedding.words[some[i]]), bayes=_share(named[i])) for i in order)


def _share(hits: np.ndarray[Any, np.dtype[np.bool_]]) -> Share:
    return share_of(int(hits.sum()), len(hits))
