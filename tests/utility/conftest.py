"""A small embedding of two kinds of words."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from deniable import Embedding
from deniable.embeddings import store
from tests.support.made_texts import KINDS


@pytest.fixture
def two_kinds() -> Embedding:
    """Words good0 … good19 around one point and bad0 … bad19 around another, far away, in 4 dimensions."""
    centres = np.repeat([[3.0, 0, 0, 0], [-3.0, 0, 0, 0]], 20, axis=0)
    return Embedding(
        [*KINDS[0], *KINDS[1]],
        centres + 0.3 * np.random.default_rng(0).standard_normal((40, 4)),
        name="two-kinds",
    )


@pytest.fixture
def installed(two_kinds: Embedding, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Embedding:
    """The same, installed in a store of its own; the working folder is a fresh one."""
    monkeypatch.setenv("DENIABLE_HOME", str(tmp_path / "home"))
    store.save(two_kinds, "two-kinds")
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return Embedding.open("two-kinds")
