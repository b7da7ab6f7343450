"""A job over a hundred records, and one that is stopped half-way."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from deniable import Privatizer
from deniable.records import privatize_file
from deniable.records.journal import Partial


def source_in(folder: Path) -> Path:
    source = folder / "in.txt"
    source.write_text("".join(f"word{i}\n" for i in range(100)))
    return source


def stopped_job(
    private: Privatizer, folder: Path, monkeypatch: pytest.MonkeyPatch, *, after: int = 3, **options: Any
) -> tuple[Path, Path]:
    """Start a job and stop it after some checkpoints, as a failure does."""
    source, target = folder / "in.txt", folder / "out.txt"
    if not source.exists():
        source_in(folder)
    left = [after]

    def append(self: Partial, data: bytes, real: Callable[..., None] = Partial.append) -> None:
        if not left[0]:
            raise KeyboardInterrupt
        left[0] -= 1
        real(self, data)

    with monkeypatch.context() as patched:
        patched.setattr(Partial, "append", append)
        with pytest.raises(KeyboardInterrupt):
            privatize_file(private, source, target, **options)
    return source, target
