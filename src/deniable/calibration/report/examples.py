"""Public examples: what a few words become, as in the paper, and sentences released for real.

Words are shown with their likeliest outputs where the average word stays 50 to 300 times in 1,000. Sentences
are released by the mechanism and the secure noise that private text would get.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deniable.calibration.by_rays import RayCalibration
from deniable.calibration.calibration import Calibration
from deniable.channel.distribution import Distribution
from deniable.channel.outputs import output_distribution
from deniable.channel.rays.rays import RadialRays
from deniable.channel.rays.statistics import distribution_on_rays, furthest_radius
from deniable.embeddings.embedding import Embedding
from deniable.errors import InvalidParameter
from deniable.mechanisms.catalogue import ChosenMechanism
from deniable.release.privatizer import Privatizer
from deniable.words.cutter import Cutter

WORDS = ("encryption", "hockey", "spacecraft")
AVERAGES = (0.05, 0.1, 0.2, 0.3)
_LIKELIEST = 8

SENTENCES = (
    "my doctor said the test results would arrive on friday",
    "we moved to seattle last year and my son plays hockey there",
    "please cancel the insurance on my car before the end of march",
)
"""Written for this purpose; nobody's text."""


@dataclass(frozen=True, kw_only=True)
class Output:
    """What one word becomes at one ε: its N_w, its S_w, and the likeliest other words with their
    probabilities."""

    word: str
    epsilon: float
    unchanged: float
    support: int
    others: tuple[tuple[str, float], ...]


@dataclass(frozen=True, kw_only=True)
class Outputs:
    """``rows[i]`` holds one output per word at ``epsilons[i]``, where N_w is ``averages[i]`` on average: near
    those of ``AVERAGES``."""

    words: tuple[str, ...]
    epsilons: tuple[float, ...]
    averages: tuple[float, ...]
    rows: tuple[tuple[Output, ...], ...]


def sample_outputs(calibration: Calibration, words: tuple[str, ...] = ()) -> Outputs:
    """Return what the words become, from as many directions or draws as the calibration has.

    :raises InvalidParameter: if a word is not in the vocabulary.
    """
    embedding = calibration.embedding
    chosen = _chosen(calibration, words)
    epsilons = tuple(dict.fromkeys(calibration.epsilon_reaching(average) for average in AVERAGES))
    columns = []
    for word in chosen:
        goes_in = int(embedding.stands_in(embedding.ids([word]))[0])
        found = _distributions(calibration, goes_in, epsilons)
        columns.append(
            [_output(embedding, word, epsilon, each) for epsilon, each in zip(epsilons, found, strict=True)]
        )
    averages = tuple(calibration.average(epsilon)[0] for epsilon in epsilons)
    return Outputs(words=chosen, epsilons=epsilons, averages=averages, rows=tuple(zip(*columns, strict=True)))


def _distributions(calibration: Calibration, word: int, epsilons: tuple[float, ...]) -> list[Distribution]:
    if isinstance(calibration, RayCalibration):  # one walk tells all ε
        length = calibration.length
        engine = RadialRays(calibration.embedding, calibration.noise, rays=calibration.draws)
        envelope = engine.envelope(word, furthest=furthest_radius(min(epsilons), length))
        return [distribution_on_rays(envelope, epsilon, length) for epsilon in epsilons]
    mechanisms = [calibration.mechanism(calibration.embedding, epsilon=epsilon) for epsilon in epsilons]
    return [output_distribution(mechanism, word, draws=calibration.draws) for mechanism in mechanisms]


def _output(embedding: Embedding, word: str, epsilon: float, found: Distribution) -> Output:
    named = [
        (embedding.words[i], p)
        for i, p in zip(found.words.tolist(), found.probabilities.tolist(), strict=True)
    ]
    return Output(
        word=word,
        epsilon=epsilon,
        unchanged=sum(p for other, p in named if other == word),
        support=found.support(),
        others=tuple((other, p) for other, p in named if other != word)[:_LIKELIEST],
    )


def _chosen(calibration: Calibration, words: tuple[str, ...]) -> tuple[str, ...]:
    index = calibration.embedding.index
    for word in words:
        if word not in index:
            raise InvalidParameter(
                "word", word, f"is not a word of the embedding {calibration.embedding.name!r}"
            )
    known = words or tuple(word for word in WORDS if word in index)
    if known:
        return known
    # Another language: words that stay rarely, as often as most, and often.
    means, _ = calibration.unchanged(calibration.epsilon_reaching(AVERAGES[-1]))
    order = np.argsort(means, kind="stable")
    rows = order[[len(order) // 4, len(order) // 2, 3 * len(order) // 4]]
    return tuple(dict.fromkeys(calibration.embedding.words[i] for i in calibration.ids[rows].tolist()))


@dataclass(frozen=True, kw_only=True)
class ExampleRelease:
    """Sentences as they come out at one ε, one draw each."""

    epsilon: float
    texts: tuple[str, ...]


_LEAST_KNOWN = 0.5
"""A sentence is shown if the embedding knows at least this share of its words."""


def example_releases(
    embedding: Embedding, mechanism: ChosenMechanism, epsilons: list[float], sentences: tuple[str, ...] = ()
) -> list[ExampleRelease]:
    """Return one release of every sentence at each ε, the sentences themselves first with ε = infinity.

    Our own sentences are left out where the vocabulary knows too few of their words (another language): the
    list is empty then.
    """
    chosen = sentences or tuple(
        sentence for sentence in SENTENCES if _known(embedding, sentence) >= _LEAST_KNOWN
    )
    if not chosen:
        return []
    drawn = [
        ExampleRelease(
            epsilon=epsilon,
            texts=tuple(Privatizer(mechanism(embedding, epsilon=epsilon))(text) for text in chosen),
        )
        for epsilon in epsilons
    ]
    return [ExampleRelease(epsilon=float("inf"), texts=chosen), *drawn]


def example_words(embedding: Embedding, sentence: str) -> list[str]:
    """Return the words of a sentence as they go into the mechanism."""
    return Cutter(embedding).words(sentence)


def _known(embedding: Embedding, sentence: str) -> float:
    words = example_words(embedding, sentence)
    return sum(word in embedding.index for word in words) / max(len(words), 1)
