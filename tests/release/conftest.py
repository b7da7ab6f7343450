from __future__ import annotations

import numpy as np
import pytest

from deniable import Embedding
from tests.support.made_store import home, name

__all__ = ["cased_embedding", "embedding", "home", "name"]

WORDS = [
    "the",
    "fox",
    "do",
    "n't",
    "'s",
    "john",
    "u.s.",
    "o'clock",
    "e-mail",
    "café",
    "7",
    "well",
    "known",
    "i",
    "it",
]


@pytest.fixture(scope="session")
def embedding() -> Embedding:
    """A few words, far apart: at a huge ε every known word comes back as itself."""
    return Embedding(WORDS, np.random.default_rng(0).standard_normal((len(WORDS), 6)), name="few")


@pytest.fixture(scope="session")
def cased_embedding() -> Embedding:
    return Embedding(
        ["Apple", "apple", "pie", "US"], np.random.default_rng(0).standard_normal((4, 3)), name="cased"
    )
