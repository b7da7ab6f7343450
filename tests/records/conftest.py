from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from deniable import Embedding, Multivariate, Privatizer

WORDS = [f"word{i}" for i in range(200)] + ["the", "quick", "brown", "fox", "caf\u00e9"]


@pytest.fixture(scope="session")
def embedding() -> Embedding:
    vectors = np.random.default_rng(1).normal(size=(len(WORDS), 6))
    return Embedding(WORDS, vectors, name="tiny")


@pytest.fixture
def private(embedding: Embedding) -> Privatizer:
    """At this ε the noise is too small to change a word: order and completeness can be read off the
    output."""
    return Privatizer(Multivariate(embedding, epsilon=1e6))


@pytest.fixture
def noisy(embedding: Embedding) -> Privatizer:
    return Privatizer(Multivariate(embedding, epsilon=0.5))


@pytest.fixture
def leftovers(tmp_path: Path) -> Callable[[Path], list[str]]:
    """The files beside an output that should be gone when it is finished."""

    def names(target: Path) -> list[str]:
        return sorted(
            path.name
            for path in target.parent.glob(target.name + ".*")
            if not path.name.endswith((".receipt.json", ".card.json"))
        )

    return names
