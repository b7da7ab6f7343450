"""The input of jobs that are stopped half-way."""

from __future__ import annotations

from pathlib import Path


def source_in(folder: Path) -> Path:
    """Return a file of a hundred records; one that is there stays as it is."""
    source = folder / "in.txt"
    if not source.exists():
        source.write_text("".join(f"word{i}\n" for i in range(100)))
    return source
