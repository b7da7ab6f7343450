from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from deniable.embeddings.store import store_folder
from deniable.errors import MalformedEmbedding


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("DENIABLE_HOME", str(folder))
    return folder


def left_behind() -> Sequence[str]:
    """Return everything in the store but its lock file: after a refusal there must be nothing."""
    folder = store_folder()
    return (
        sorted(entry.name for entry in folder.iterdir() if entry.name != ".lock") if folder.is_dir() else []
    )


@pytest.fixture
def refused(tmp_path: Path) -> Callable[..., MalformedEmbedding]:
    """Add content that must be refused; return the error, having checked that nothing was left behind."""
    from deniable.embeddings.store import add

    def check(content: bytes, *, name: str = "file.txt", **options: object) -> MalformedEmbedding:
        path = tmp_path / name
        path.write_bytes(content)
        with pytest.raises(MalformedEmbedding) as caught:
            add(path, "refused", **options)  # type: ignore[arg-type]
        assert left_behind() == []
        assert str(path) in str(caught.value)
        return caught.value

    return check
