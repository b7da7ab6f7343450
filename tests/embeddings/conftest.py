from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from deniable.embeddings import store
from deniable.embeddings.embedding import Embedding
from deniable.errors import MalformedEmbedding

Added = Callable[..., Embedding]
Refused = Callable[..., MalformedEmbedding]


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("DENIABLE_HOME", str(folder))
    return folder


def left_behind() -> Sequence[str]:
    """Return everything in the store but its lock file: after a refusal there must be nothing."""
    folder = store.store_folder()
    entries = folder.iterdir() if folder.is_dir() else ()
    return sorted(entry.name for entry in entries if entry.name != ".lock")


@pytest.fixture
def added(tmp_path: Path) -> Added:
    """Add content as a file, and open what was added."""

    def add_content(content: bytes, *, name: str = "file", **options: object) -> Embedding:
        (tmp_path / name).write_bytes(content)
        store.add(tmp_path / name, "added", **options)  # type: ignore[arg-type]
        return Embedding.open("added")

    return add_content


@pytest.fixture
def refused(tmp_path: Path) -> Refused:
    """Add content that must be refused; return the error, having checked that nothing was left behind."""

    def check(content: bytes, *, name: str = "file.txt", **options: object) -> MalformedEmbedding:
        path = tmp_path / name
        path.write_bytes(content)
        with pytest.raises(MalformedEmbedding) as caught:
            store.add(path, "refused", **options)  # type: ignore[arg-type]
        assert left_behind() == []
        assert str(path) in str(caught.value)
        return caught.value

    return check
