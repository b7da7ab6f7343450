"""What a release is worth to whoever receives it: learnt from and judged on released text, as it stands and
decoded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from deniable.channel.channel import Channel
from deniable.channel.rows import shares_points
from deniable.embeddings.embedding import Embedding
from deniable.interfaces import Mechanism
from deniable.measures.texts import Texts, join_texts
from deniable.mechanisms.base import method_of
from deniable.mechanisms.catalogue import ChosenMechanism
from deniable.progress import Report
from deniable.utility.accuracy import (
    Accuracy,
    DecodingEffort,
    LinearLearner,
    Reading,
    Version,
    input_words,
    open_channels,
    release_texts,
)

_STRENGTH = 1.0


@dataclass(frozen=True, kw_only=True)
class ReceivedAccuracy:
    """Accuracies of one release of all texts. At test time: learnt from original, judged on released text.
    Both: released on both sides.

    At training time only (learnt from released, judged on original text) words as released are measured
    elsewhere. ``vectors`` and ``decoded_vectors`` are those of both sides where a classifier reads the mean
    vector of each text, as released and as expected.
    """

    test: float
    both: float
    decoded_train: float
    decoded_test: float
    decoded_both: float
    vectors: float
    decoded_vectors: float


class ReceivedTask:
    """The task as a receiver meets it: all texts are released, those to learn from with their labels."""

    def __init__(self, embedding: Embedding, learn: Texts, test: Texts) -> None:
        self.original = Version(join_texts(learn, test), embedding)
        self._learnt = len(learn)

    def accuracy(self, reading: Reading) -> Accuracy:
        """Return what learns from the texts to learn from, in one reading, and judges the others."""
        places = np.arange(len(self.original.texts))
        learner, labels = LinearLearner(reading, strength=_STRENGTH), np.array(self.original.texts.labels)
        return Accuracy(learner, self.original, labels, places[: self._learnt], places[self._learnt :])

    @cached_property
    def words(self) -> Accuracy:
        """The accuracy of a classifier that reads words."""
        return self.accuracy("as released")

    @cached_property
    def _counts(self) -> Accuracy:
        return self.accuracy("decoded")

    def measure(self, mechanism: Mechanism, channel: Channel) -> ReceivedAccuracy:
        """Release all texts with secure noise, read them as they stand and decoded, learn and judge."""
        released = release_texts(self.original.texts, mechanism, channel)
        words = self.words.shares(released, ["test", "both"])
        decoded = self._counts.shares(released)
        return ReceivedAccuracy(
            test=words["test"],
            both=words["both"],
            decoded_train=decoded["train"],
            decoded_test=decoded["test"],
            decoded_both=decoded["both"],
            vectors=self.accuracy("mean vectors").shares(released, ["both"])["both"],
            decoded_vectors=self.accuracy("decoded mean vectors").shares(released, ["both"])["both"],
        )

    def original_on_vectors(self) -> float:
        """Return the accuracy of a classifier that reads mean vectors of original text."""
        vectors = self.accuracy("mean vectors")
        return vectors.share(vectors.original())


def channels_of(
    mechanism: ChosenMechanism,
    embedding: Embedding,
    epsilons: Sequence[float],
    effort: DecodingEffort,
    *,
    report: Report | None = None,
) -> Callable[[float], Channel]:
    """Return what gives the channel at one of these ε, made when it is first asked for and not left on the
    disk.

    Where rays serve, of few words, one walk makes all of them; else they are made one by one, and one is held
    in memory.
    """

    @lru_cache(1)
    def all_at_once() -> dict[float, Channel]:
        return open_channels(embedding, mechanism, sorted(set(epsilons)), effort, report=report)

    @lru_cache(1)
    def one(epsilon: float) -> Channel:
        return open_channels(embedding, mechanism, [epsilon], effort, report=report)[epsilon]

    @lru_cache(1)
    def by_rays() -> bool:
        made, inputs = mechanism(embedding, epsilon=min(epsilons)), input_words(embedding, effort)
        return method_of(made) == "rays" and not shares_points(made, inputs)

    return lambda epsilon: all_at_once()[epsilon] if by_rays() else one(epsilon)
