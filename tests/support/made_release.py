"""A release of labelled texts, as its receiver has it: released texts and their card, nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest

from deniable import Embedding, InsecureSeededRandomness, Multivariate, Privatizer
from deniable.embeddings import store
from deniable.release.card import Card

EPSILON = 4.0
DIRECTIONS = 100
WORDS = [f"word{i}" for i in range(300)]


@dataclass(frozen=True)
class MadeRelease:
    """Released texts with what they are about, and the card. ``originals`` are what nobody has but the
    test."""

    card: Card
    texts: list[str | None]
    labels: list[int]
    originals: list[str]


def make_release(name: str, *, records: int = 200, words: int = 25, epsilon: float = EPSILON) -> MadeRelease:
    """Release texts of two kinds, which use some words more than others, through the mechanism with an
    installed embedding."""
    embedding = Embedding.open(name)
    rng = np.random.default_rng(5)
    shares = 1.0 / np.arange(1, len(embedding) + 1)
    kinds = [np.where(np.arange(len(embedding)) % 2 == kind, 2.0, 1.0) * shares for kind in (0, 1)]
    labels = (np.arange(records) % 2).tolist()
    originals = [
        " ".join(rng.choice(embedding.words, words, p=kinds[kind] / kinds[kind].sum())) for kind in labels
    ]
    private = Privatizer(
        Multivariate(embedding, epsilon=epsilon), randomness=InsecureSeededRandomness(insecure_seed=1)
    )
    return MadeRelease(private.card, list(private.many(originals)), labels, originals)


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MadeRelease]:
    """A release, and a store that holds its embedding, for all tests of a module."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DENIABLE_HOME", str(tmp_path_factory.mktemp("home")))
        store.save(
            Embedding(WORDS, np.random.default_rng(1).normal(size=(len(WORDS), 6)), name="made"), "made"
        )
        yield make_release("made")
