"""Texts that hold mostly one of two kinds of words."""

from __future__ import annotations

import numpy as np

from deniable.lab.tasks.task import Part

GOOD, BAD = [f"good{i}" for i in range(20)], [f"bad{i}" for i in range(20)]


def made_reviews(count: int, seed: int) -> Part:
    """Return texts of 6 words, five sixths of them of the kind that the label says."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, count).tolist()
    texts = []
    for label in labels:
        kinds = [GOOD if label else BAD] * 5 + [BAD if label else GOOD]
        texts.append(" ".join(str(rng.choice(kind)) for kind in kinds))
    return Part(texts=texts, labels=labels)
