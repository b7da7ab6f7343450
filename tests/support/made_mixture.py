"""A task in which released words say little by themselves and much once they are decoded.

There are two words, one for each class, in the middle of many others that never stand in a text. A release
makes of each any word around it: hardly one is met twice, so a classifier of released words has nothing to go
by. All of them decode to the word in the middle.
"""

from __future__ import annotations

import numpy as np

from deniable import Embedding
from deniable.mechanisms.catalogue import ChosenMechanism

MIXING = 1.0
"""An ε at which SanText makes any word of its own cloud of each of the two, and hardly ever one of the other
cloud."""

SANTEXT = ChosenMechanism(name="santext")


def two_clouds(around: int = 150) -> Embedding:
    """Return the words left and right, far apart, each with others around it; these come later, as rarer
    words do."""
    rng = np.random.default_rng(0)
    directions = rng.standard_normal((2, around, 3))
    directions /= np.linalg.norm(directions, axis=2, keepdims=True)
    centres = np.array([[15.0, 0, 0], [-15.0, 0, 0]])
    words = ["left", "right", *(f"{side}{i}" for side in ("l", "r") for i in range(around))]
    return Embedding(
        words,
        np.concatenate(
            [centres, *(centre + cloud for centre, cloud in zip(centres, directions, strict=True))]
        ),
        name="clouds",
    )


def sided_rows(count: int) -> list[tuple[str, str]]:
    """Return labels and texts of one word, which says the label."""
    return [(("no", "left"), ("yes", "right"))[i % 2] for i in range(count)]
