"""What a release is worth to whoever receives it: learnt from and judged on released text, as it stands and
decoded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from deniable.arrays import Ids
from deniable.channel.channel import Channel
from deniable.channel.rows import shares_points
from deniable.embeddings.embedding import Embedding
from deniable.interfaces import Mechanism
from deniable.learning.receivers import learn_counts, learn_vectors, learn_words, mean_vectors
from deniable.learning.word_classifier import CountClassifier, WordClassifier
from deniable.measures.texts import Texts
from deniable.mechanisms.base import method_of
from deniable.mechanisms.catalogue import ChosenMechanism
from deniable.noise.randomness import SecureRandomness
from deniable.progress import Report
from deniable.utility.receiver import (
    DecodingEffort,
    expected_counts,
    input_words,
    open_channels,
    whole_counts,
)


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
        self._embedding, self._learn, self._test = embedding, learn, test

    def measure(self, mechanism: Mechanism, channel: Channel) -> ReceivedAccuracy:
        """Release all texts with secure noise, read them as they stand and decoded, learn and judge."""
        learn, test = self._learn, self._test
        randomness = SecureRandomness()
        ids = [mechanism.perturb(part.ids, randomness) for part in (learn, test)]
        released = [
            part.released(found, self._embedding).words
            for part, found in zip((learn, test), ids, strict=True)
        ]
        # The shares of words behind the release are learnt from all of it, without a label.
        expected = expected_counts([*released[0], *released[1]], channel)
        counts = (expected[: len(learn.labels)], expected[len(learn.labels) :])
        noisy, decoded = learn_words(released[0], learn.labels), learn_counts(counts[0], learn.labels)
        return ReceivedAccuracy(
            test=self._share_right(self._clean_words.predict(released[1])),
            both=self._share_right(noisy.predict(released[1])),
            decoded_train=self._share_right(decoded.predict(self._counts(test))),
            decoded_test=self._share_right(self._clean_counts.predict(counts[1])),
            decoded_both=self._share_right(decoded.predict(counts[1])),
            vectors=self._on_vectors(self._counts(learn, ids[0]), self._counts(test, ids[1])),
            decoded_vectors=self._on_vectors(*counts),
        )

    def original_on_vectors(self) -> float:
        """Return the accuracy of a classifier that reads mean vectors of original text."""
        return self._on_vectors(self._counts(self._learn), self._counts(self._test))

    def _on_vectors(self, learn: Any, test: Any) -> float:
        """Return the accuracy of a classifier that reads the mean vector of each text, given as counts of
        words."""
        model = learn_vectors(mean_vectors(learn, self._embedding), self._learn.labels)
        return self._share_right(model.predict(mean_vectors(test, self._embedding)))

    @cached_property
    def _clean_words(self) -> WordClassifier:
        return learn_words(self._learn.words, self._learn.labels)

    @cached_property
    def _clean_counts(self) -> CountClassifier:
        return learn_counts(self._counts(self._learn), self._learn.labels)

    def _counts(self, texts: Texts, ids: Ids | None = None) -> Any:
        """Return counts of the words of the texts, or of these in place of them."""
        return whole_counts(texts.ids if ids is None else ids, texts.offsets, self._embedding)

    def _share_right(self, found: Any) -> float:
        return float((found == np.array(self._test.labels)).mean())


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
        return open_channels(embedding, mechanism, sorted(set(epsilons)), effort, keep=False, report=report)

    @lru_cache(1)
    def one(epsilon: float) -> Channel:
        return open_channels(embedding, mechanism, [epsilon], effort, keep=False, report=report)[epsilon]

    @lru_cache(1)
    def by_rays() -> bool:
        made, inputs = mechanism(embedding, epsilon=min(epsilons)), input_words(embedding, effort)
        return method_of(made) == "rays" and not shares_points(made, inputs)

    return lambda epsilon: all_at_once()[epsilon] if by_rays() else one(epsilon)
