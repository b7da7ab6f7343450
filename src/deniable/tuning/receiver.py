"""What somebody makes of a label who has released text only, to learn from and to judge.

A release is read in three ways: its words as released, decoded, and as the mean vector of each text. The last
one is weak in a wide space and strong in one that was shaped for the label, so leaving it out would say too
little of what survives.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from deniable.arrays import Floats, Ids
from deniable.channel.channel import Channel
from deniable.embeddings.embedding import Embedding
from deniable.learning.receivers import learn_counts, learn_words, mean_vectors
from deniable.learning.scores import sklearn
from deniable.measures.texts import Texts
from deniable.utility.receiver import expected_counts, whole_counts

ReadAs = Literal["as released", "decoded", "mean vectors"]
READINGS: tuple[ReadAs, ...] = ("as released", "decoded", "mean vectors")

_STRENGTH, _ROUNDS = 0.1, 500


@dataclass(frozen=True, kw_only=True)
class Told:
    """The shares of texts whose label is told rightly, by each way to read them; decoding has no sense for
    original text."""

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
        tried: list[ReadAs] = [
            reading for reading in READINGS if reading != "decoded" or self.decoded is not None
        ]
        return max(tried, key=self.by)


def tell_labels(draw: Callable[[Ids], Ids], channel: Channel, learn: Texts, judge: Texts) -> Told:
    """Release all texts, learn the labels of one part, and return how often those of the other are told
    rightly, in every way.

    ``draw`` returns what words become; the texts are for learning in memory only.
    """
    released = _Released.of(draw, channel, learn, judge)
    return Told(
        as_released=released.read("as released"),
        decoded=released.read("decoded"),
        mean_vectors=released.read("mean vectors"),
    )


def tell_labels_by(
    reading: ReadAs, draw: Callable[[Ids], Ids], channel: Channel, learn: Texts, judge: Texts
) -> float:
    """Return the same by one way to read the release."""
    return _Released.of(draw, channel, learn, judge).read(reading)


def tell_original(embedding: Embedding, learn: Texts, judge: Texts) -> Told:
    """Return how often labels are told rightly by somebody who has the original texts."""
    return Told(
        as_released=_share_right(learn_words(learn.words, learn.labels).predict(judge.words), judge.labels),
        mean_vectors=_by_mean_vectors(embedding, (learn, learn.ids), (judge, judge.ids)),
    )


@dataclass(frozen=True, kw_only=True)
class _Released:
    """One release of texts to learn from and to judge."""

    channel: Channel
    learn: Texts
    judge: Texts
    ids: tuple[Ids, Ids]

    @classmethod
    def of(cls, draw: Callable[[Ids], Ids], channel: Channel, learn: Texts, judge: Texts) -> _Released:
        return cls(channel=channel, learn=learn, judge=judge, ids=(draw(learn.ids), draw(judge.ids)))

    def read(self, reading: ReadAs) -> float:
        """Return the share of labels that are told rightly by one way to read."""
        embedding, labels = self.channel.embedding, self.learn.labels
        if reading == "mean vectors":
            return _by_mean_vectors(embedding, (self.learn, self.ids[0]), (self.judge, self.ids[1]))
        learn, judge = (
            texts.released(ids, embedding).words
            for texts, ids in ((self.learn, self.ids[0]), (self.judge, self.ids[1]))
        )
        if reading == "as released":
            return _share_right(learn_words(learn, labels).predict(judge), self.judge.labels)
        # How frequent words are behind the release is learnt from all of it, without a label.
        counts = expected_counts([*learn, *judge], self.channel)
        return _share_right(
            learn_counts(counts[: len(labels)], labels).predict(counts[len(labels) :]), self.judge.labels
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
    return mean_vectors(whole_counts(ids, texts.offsets, embedding), embedding)


def _share_right(found: Sequence[str], labels: Sequence[str]) -> float:
    return float((np.array(found) == np.array(labels)).mean())
