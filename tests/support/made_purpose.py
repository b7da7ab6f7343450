"""A small embedding with a hidden direction, and public texts whose labels hang on it."""

from __future__ import annotations

import numpy as np

from deniable import Embedding
from deniable.arrays import Floats
from deniable.purposes import PublicTexts

WORDS = [f"word{letter}{other}" for letter in "abcdefghijklmnopqrstuvwxy" for other in "abcdefghij"]
DIMENSION = 12


def hidden_direction() -> Floats:
    direction = np.random.default_rng(7).normal(size=DIMENSION)
    return direction / float(np.linalg.norm(direction))


def made_embedding(words: int = 250, *, name: str = "made") -> Embedding:
    """Return words spread most along the first axes and little along the hidden direction, about a mean that
    is not zero."""
    rng = np.random.default_rng(3)
    vectors = rng.normal(size=(words, DIMENSION)) * np.linspace(2.0, 0.5, DIMENSION) + 1.5
    return Embedding(WORDS[:words], vectors, name=name)


def public_texts(texts: int = 200, *, classes: int = 2, kind: str = "classes", seed: int = 1) -> PublicTexts:
    """Return texts of 12 words each, labelled by where their mean stands along the hidden direction: classes,
    or the number itself."""
    rng, embedding = np.random.default_rng(seed), made_embedding()
    chosen = rng.integers(0, len(embedding), size=(texts, 12))
    along = embedding.vectors[chosen].mean(axis=1) @ hidden_direction()
    written = [" ".join(embedding.words[i] for i in row) for row in chosen]
    if kind == "numbers":
        return PublicTexts.of([f"{value:.6f}" for value in along], written, source="made.csv")
    places = np.searchsorted(np.quantile(along, np.arange(1, classes) / classes), along)
    return PublicTexts.of([f"class{place}" for place in places], written, source="made.csv")
