"""The inversion audit: how often each adversary names the word, by ε, by frequency band and for the words most at risk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from deniable.arrays import Floats, Ids
from deniable.audit.inversion.adversary import Share, majority
from deniable.audit.inversion.bands import Band, frequency_bands
from deniable.channel.draws import Draws
from deniable.channel.likelihood import channel_of
from deniable.decoding.posterior import BayesAdversary
from deniable.interfaces import Mechanism
from deniable.parameters import validated_count

REPEATS = (1, 3, 10, 30)
_BAYES_REPEATS = (1, 3, 10)
_SHORTLIST_DRAWS = 4
_DRAWS_AT_RISK = 25


@dataclass(frozen=True, kw_only=True)
class Effort:
    """How much is simulated: words per band, words that are released again and again, and rays or draws of the channel."""

    words_per_band: int = 150
    repeated_words: int = 40
    rays: int = 128
    draws_per_word: int = 100
    at_risk: int = 20

    def __post_init__(self) -> None:
        for name in ("words_per_band", "repeated_words", "rays", "draws_per_word", "at_risk"):
            validated_count(getattr(self, name), name)


def audit_inversion(mechanism: Mechanism, prior: Floats, *, seed: int, effort: Effort | None = None) -> dict[str, Any]:
    """Return what adversaries learn at the mechanism's ε, as JSON-ready data.

    The channel is estimated from one seed and judged on draws of another. ``prior_guess`` is how often an adversary who sees
    nothing is right: always guessing the most frequent word.

    :raises InvalidParameter: if a number is not allowed.
    """
    effort = Effort() if effort is None else effort
    seed = validated_count(seed, "seed", at_least=0)
    channel = channel_of(mechanism, seed=2 * seed, rays=effort.rays, draws_per_word=effort.draws_per_word)
    adversary = BayesAdversary(channel, prior)
    draws, rng = Draws(mechanism, seed=2 * seed + 1), np.random.default_rng([seed, 5])
    bands = [_judge_band(band, adversary, draws, rng, effort.words_per_band) for band in frequency_bands(prior)]
    return {
        "epsilon": mechanism.epsilon,
        "channel": channel.how,
        "prior_guess": float(prior.max()),
        "bayes": _overall(bands, "bayes"),
        "nearest_word": _overall(bands, "nearest_word"),
        "bands": bands,
        "repeats": _repeats(adversary, draws, rng, prior, effort.repeated_words),
        "at_risk": _most_at_risk(mechanism, adversary, draws, prior, effort.at_risk),
    }


def _judge_band(band: Band, adversary: BayesAdversary, draws: Draws, rng: np.random.Generator, words: int) -> dict[str, Any]:
    truth: Ids = rng.choice(band.ids, size=words, p=band.weights)
    outputs = draws.of_each(truth)
    named = adversary.guesses(outputs) == truth
    return {
        "ranks": band.name,
        "share_of_text": band.mass,
        "bayes": Share(hits=int(named.sum()), tries=words).to_dict(),
        "nearest_word": Share(hits=int((outputs == truth).sum()), tries=words).to_dict(),
    }


def _overall(bands: list[dict[str, Any]], name: str) -> dict[str, float]:
    """Return the success over all text: bands weighed by their share of it, with a standard error."""
    masses = np.array([band["share_of_text"] for band in bands])
    values = np.array([band[name]["value"] for band in bands])
    tries = np.array([band[name]["tries"] for band in bands])
    # One hit and one miss more keep the error of a band without either above zero.
    smoothed = (values * tries + 1.0) / (tries + 2.0)
    error = float(np.sqrt((masses**2 * smoothed * (1.0 - smoothed) / (tries + 2.0)).sum()))
    return {"value": float((masses * values).sum() / masses.sum()), "standard_error": error}


def _repeats(adversary: BayesAdversary, draws: Draws, rng: np.random.Generator, prior: Floats, words: int) -> list[dict[str, Any]]:
    """Release the same words again and again with fresh noise: what happens without keyed releases."""
    truth: Ids = rng.choice(len(prior), size=words, p=prior)
    outputs = draws.of_each(np.repeat(truth, max(REPEATS))).reshape(words, max(REPEATS))
    bayes = adversary.guesses_from_repeats(outputs[:, : max(_BAYES_REPEATS)], _BAYES_REPEATS)
    rows = []
    for m in REPEATS:
        row: dict[str, Any] = {"releases": m, "majority": _share(majority(outputs[:, :m]) == truth)}
        row["bayes"] = _share(bayes[m] == truth) if m in bayes else None
        rows.append(row)
    return rows


def _most_at_risk(mechanism: Mechanism, adversary: BayesAdversary, draws: Draws, prior: Floats, count: int) -> list[dict[str, Any]]:
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
    return [{"word": str(mechanism.embedding.words[some[i]]), "bayes": _share(named[i])} for i in order]


def _share(hits: np.ndarray[Any, np.dtype[np.bool_]]) -> dict[str, float]:
    return Share(hits=int(hits.sum()), tries=len(hits)).to_dict()
