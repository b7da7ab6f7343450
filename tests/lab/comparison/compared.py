"""Small made data with known answers."""

from __future__ import annotations

import numpy as np

from deniable.arrays import Floats, Ids
from deniable.embeddings.embedding import Embedding
from deniable.lab.comparison.probe import Probe, make_probe
from deniable.measures.texts import Texts

SHARES = np.array([0.4, 0.2, 0.2, 0.1, 0.1])


def ring(words: int = 40) -> Embedding:
    """Words on a circle, so that all are alike to a mechanism."""
    angles = 2 * np.pi * np.arange(words) / words
    return Embedding(
        [f"w{i}" for i in range(words)], 10 * np.stack([np.cos(angles), np.sin(angles)], axis=1), name="ring"
    )


def text_of(shares: Floats, times: int = 1000) -> Ids:
    """A text that holds word i in this share."""
    return np.repeat(np.arange(len(shares)), np.round(shares * times).astype(int))


def probe_of(embedding: Embedding, shares: Floats = SHARES) -> Probe:
    return make_probe(embedding, text_of(shares), words=4000, seed=0)


def task(embedding: Embedding, texts: int = 60, seed: int = 0) -> Texts:
    """Two labels whose words lie on opposite sides of the circle."""
    generator = np.random.default_rng(seed)
    labels = [str(i % 2) for i in range(texts)]
    ids = np.concatenate([generator.integers(0, 5, 6) + 20 * int(label) for label in labels])
    return Texts(
        ids=ids,
        offsets=np.arange(0, 6 * texts + 1, 6),
        spelled=[f"w{i}" for i in ids.tolist()],
        labels=labels,
    )
