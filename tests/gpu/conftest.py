from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from deniable import Embedding
from deniable.neighbours import selection, set_device
from tests.gpu.made_gpu import MadeGpu


@pytest.fixture
def gpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[Embedding, MadeGpu]]:
    """Let a search in NumPy stand for one on a GPU; return those that were made."""
    monkeypatch.setenv("DENIABLE_HOME", str(tmp_path))
    searches: dict[Embedding, MadeGpu] = {}
    monkeypatch.setattr(
        selection,
        "search_on",
        lambda embedding, _: searches.setdefault(embedding, MadeGpu(embedding)),
    )
    set_device("cuda")
    yield searches
    set_device(None)
