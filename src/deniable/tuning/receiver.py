"""What somebody makes of a label who has released text only, to learn from and to judge: read as released, and decoded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from deniable.arrays import Ids
from deniable.channel.channel import Channel
from deniable.comparison.received import learn_counts, learn_words
from deniable.comparison.texts import Texts
from deniable.utility.receiver import expected_counts


@dataclass(frozen=True, kw_only=True)
class Told:
    """The shares of texts whose label is told rightly, by the two ways to read a release."""

    as_released: float
    decoded: float

    @property
    def better(self) -> float:
        """The larger of the two."""
        return max(self.as_released, self.decoded)


def tell_labels(draw: Callable[[Ids], Ids], channel: Channel, learn: Texts, judge: Texts) -> Told:
    """Release all texts, learn the labels of one part, and return how often those of the other are told rightly.

    ``draw`` returns what words become; the texts are for learning in memory only.
    """
    parts = [part.with_words(channel.embedding, draw(part.ids)) for part in (learn, judge)]
    # How frequent words are behind the release is learnt from all of it, without a label.
    counts = expected_counts([*parts[0], *parts[1]], channel)
    read = learn_words(parts[0], learn.labels).predict(parts[1])
    decoded = learn_counts(counts[: len(learn.labels)], learn.labels).predict(counts[len(learn.labels) :])
    return Told(as_released=_share_right(read, judge.labels), decoded=_share_right(decoded, judge.labels))


def tell_original(learn: Texts, judge: Texts) -> float:
    """Return how often labels are told rightly by somebody who has the original texts."""
    return _share_right(learn_words(learn.words, learn.labels).predict(judge.words), judge.labels)


def _share_right(found: Sequence[str], labels: list[str]) -> float:
    return float((np.array(found) == np.array(labels)).mean())
