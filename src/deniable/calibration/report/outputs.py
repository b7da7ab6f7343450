"""What a few words become, as in the paper: the likeliest outputs where the average word stays 50 to 300 times in 1,000."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deniable.calibration.measure import Calibration
from deniable.calibration.report.span import epsilon_reaching
from deniable.calibration.single import word_envelope
from deniable.calibration.statistics import Distribution, furthest_radius, output_distribution
from deniable.embeddings.embedding import Embedding
from deniable.errors import InvalidParameter

WORDS = ("encryption", "hockey", "spacecraft")
AVERAGES = (0.05, 0.1, 0.2, 0.3)
_LIKELIEST = 8


@dataclass(frozen=True, kw_only=True)
class Output:
    """What one word becomes at one ε: its N_w, its S_w, and the likeliest other words with their probabilities."""

    word: str
    epsilon: float
    unchanged: float
    support: int
    others: tuple[tuple[str, float], ...]


@dataclass(frozen=True, kw_only=True)
class Outputs:
    """``rows[i]`` holds one output per word at ``epsilons[i]``, where N_w is about ``AVERAGES[i]`` on average."""

    words: tuple[str, ...]
    epsilons: tuple[float, ...]
    rows: tuple[tuple[Output, ...], ...]


def sample_outputs(calibration: Calibration, words: tuple[str, ...] = ()) -> Outputs:
    """Return what the words become, from as many rays as the calibration has.

    :raises InvalidParameter: if a word is not in the vocabulary.
    """
    embedding, gamma = calibration.embedding, calibration.gamma
    chosen = _chosen(calibration, words)
    epsilons = tuple(epsilon_reaching(calibration, average) for average in AVERAGES)
    columns = []
    for word in chosen:
        goes_in = int(embedding.stands_in(embedding.ids([word]))[0])
        envelope = word_envelope(embedding, goes_in, rays=calibration.rays, furthest=furthest_radius(min(epsilons), gamma))
        columns.append([_output(embedding, word, epsilon, output_distribution(envelope, epsilon, gamma)) for epsilon in epsilons])
    return Outputs(words=chosen, epsilons=epsilons, rows=tuple(zip(*columns, strict=True)))


def _output(embedding: Embedding, word: str, epsilon: float, found: Distribution) -> Output:
    named = [(embedding.words[i], p) for i, p in zip(found.words.tolist(), found.probabilities.tolist(), strict=True)]
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
            raise InvalidParameter("word", word, f"is not a word of the embedding {calibration.embedding.name!r}")
    known = words or tuple(word for word in WORDS if word in index)
    if known:
        return known
    # Another language: words that stay rarely, as often as most, and often.
    means, _ = calibration.unchanged(epsilon_reaching(calibration, AVERAGES[-1]))
    order = np.argsort(means, kind="stable")
    rows = order[[len(order) // 4, len(order) // 2, 3 * len(order) // 4]]
    return tuple(dict.fromkeys(calibration.embedding.words[i] for i in calibration.ids[rows].tolist()))
