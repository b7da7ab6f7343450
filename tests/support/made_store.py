"""A store of its own for a test, with a tiny embedding in it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from deniable import Embedding
from deniable.embeddings import store

WORDS = [f"word{i}" for i in range(500)] + ["the", "soup", "was", "cold", "best", "bread", "village"]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store with an embedding named after the test's folder, so that no process takes it for another
    test's."""
    monkeypatch.setenv("DENIABLE_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def name(home: Path) -> str:
    name = f"tiny-{home.parent.name}"[:90]
    store.save(Embedding(WORDS, np.random.default_rng(1).normal(size=(len(WORDS), 6)), name=name), name)
    return name
