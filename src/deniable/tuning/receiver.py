"""What somebody makes of a label who has released text only, to learn from and to judge.

A release is read in three ways: its words as released, decoded, and as the mean vector of each text. The last
one is weak in a wide space and strong in one that was shaped for the label, so leaving it out would say too
little of what survives.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from deniable.utility.accuracy import Accuracy, LinearLearner, Reading, Version

READINGS: tuple[Reading, ...] = ("as released", "decoded", "mean vectors")
OF_ORIGINAL: tuple[Reading, ...] = ("as released", "mean vectors")
"""Decoding has no sense for original text."""

_STRENGTH = 1.0


def tell_labels(
    version: Version, learnt: int, readings: Iterable[Reading] = READINGS
) -> dict[Reading, float]:
    """Return the share of labels that are told rightly by each way to read a version, after learning from the
    first ``learnt`` texts and judging the others."""
    places, labels = np.arange(len(version.texts)), np.array(version.texts.labels)
    return {
        reading: Accuracy(
            LinearLearner(reading, strength=_STRENGTH), version, labels, places[:learnt], places[learnt:]
        ).shares(version, ["both"])["both"]
        for reading in readings
    }


def best_reading(shares: dict[Reading, float]) -> Reading:
    """Return the reading that tells most labels."""
    return max(shares, key=lambda reading: shares[reading])
