"""A small cased embedding, and texts in which case matters: ``Bank`` and ``bank`` are two words far from each
other."""

from __future__ import annotations

import numpy as np

from deniable import Embedding

CASED_WORDS = ["The", "the", "Paris", "paris", "Bank", "bank", "New", "new", "York", "york", "May", "may"]


def made_cased() -> Embedding:
    """Return an embedding of words in both cases, with every two of them far apart."""
    return Embedding(CASED_WORDS, 10.0 * np.eye(len(CASED_WORDS)), name="cased")


def cased_rows(count: int) -> list[tuple[str, str]]:
    """Return labels and texts that differ in case and in nothing else: only who keeps case can tell the two
    classes apart."""
    rng = np.random.default_rng(3)
    rows = []
    for number in range(count):
        words = [str(word) for word in rng.choice(CASED_WORDS[::2], 6)]
        rows.append(("names", " ".join(words)) if number % 2 else ("nouns", " ".join(words).lower()))
    return rows
