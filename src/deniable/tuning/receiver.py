"""What somebody makes of a label who has released text only, to learn from and to judge.

A release is read in three ways: its words as released, decoded, and as the mean vector of each text. The last one is weak in a wide
space and strong in one that was shaped for the label, so leaving it out would say too little of what survives.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Literal

import numpy as np

from deniable.arrays import Floats, Ids
from deniable.channel.channel import Channel
from deniable.comparison.received import learn_counts, learn_words, mean_vectors
from deniable.comparison.texts import Texts
from deniable.embeddings.embedding import Embedding
from deniable.learning.scores import sklearn
from deniable.utility.receiver import expected_counts, whole_counts

ReadAs = Literal["as released", "decoded", "mean vectors"]
READINGS: tuple[ReadAs, ...] = ("as released", "decoded", "mean vectors")

_STRENGTH, _ROUNDS = 0.1, 500


@dataclass(frozen=True, kw_only=True)
class Told:
    """The shares of texts whose label is told rightly, by each way to read them; decoding has no sense for original text."""

    as_released: float
    mean_vectors: float
    decoded: float | None = None

    def by(self, reading: ReadAs) -> float:
        """Return the share of one reading, which must have been tried."""
        found: float = getattr(self, reading.replace(" ", "_"))
        return found

    @property
    def best(self) -> ReadAs:
        """The reading with the largest share."""
        tried: list[ReadAs] = [reading for reading in READINGS if reading != "decoded" or self.decoded is not None]
        return max(tried, key=self.by)


def tell_labels(draw: Callable[[Ids], Ids], channel: Channel, learn: Texts, judge: Texts) -> Told:
    """Release all texts, learn the labels of one part, and return how often those of the other are told rightly.

    ``draw`` returns what words become; the texts are for learning in memory only.
    """
    embedding = channel.embedding
    ids = [draw(part.ids) for part in (learn, judge)]
    words = [part.with_words(embedding, drawn) for part, drawn in zip((learn, judge), ids, strict=True)]
    # How frequent words are behind the release is learnt from all of it, without a label.
    counts = expected_counts([*words[0], *words[1]], channel)
    decoded = learn_counts(counts[: len(learn.labels)], learn.labels).predict(counts[len(learn.labels) :])
    return Told(
        as_released=_share_right(learn_words(words[0], learn.labels).predict(words[1]), judge.labels),
        decoded=_share_right(decoded, judge.labels),
        mean_vectors=_by_mean_vectors(embedding, (learn, ids[0]), (judge, ids[1])),
    )


def tell_original(embedding: Embedding, learn: Texts, judge: Texts) -> Told:
    """Return how often labels are told rightly by somebody who has the original texts."""
    return Told(
        as_released=_share_right(learn_words(learn.words, learn.labels).predict(judge.words), judge.labels),
        mean_vectors=_by_mean_vectors(embedding, (learn, learn.ids), (judge, judge.ids)),
    )


def _by_mean_vectors(embedding: Embedding, learn: tuple[Texts, Ids], judge: tuple[Texts, Ids]) -> float:
    first, second = (_mean_vectors(embedding, texts, ids) for texts, ids in (learn, judge))
    mean, spread = first.mean(axis=0), np.maximum(first.std(axis=0), 1e-12)
    model: Any = sklearn("linear_model", "tuning a space").LogisticRegression(C=_STRENGTH, max_iter=_ROUNDS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a fit that stopped early is a slightly worse classifier
        model.fit((first - mean) / spread, learn[0].labels)
    return _share_right(model.predict((second - mean) / spread), judge[0].labels)


def _mean_vectors(embedding: Embedding, texts: Texts, ids: Ids) -> Floats:
    lengths = [len(words) for words in texts.words]
    counts = whole_counts(ids, np.array([0, *accumulate(lengths)], dtype=np.int64), embedding)
    return mean_vectors(counts, embedding)


def _share_right(found: Sequence[str], labels: list[str]) -> float:
    return float((np.array(found) == np.array(labels)).mean())
