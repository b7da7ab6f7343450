"""Golden releases of texts inside objects and lists, by their path."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.golden.by_command import release_file
from tests.golden.command import Commands
from tests.golden.materials import FROZEN

COLUMNS = ["-c", "visit.note", "-c", "visits[].note", "-c", "notes[]"]


def of_nested(commands: Commands, work: Path) -> Iterator[tuple[str, Any, Any]]:
    """Yield the releases of records with nested texts: by number, by id, and by user."""
    namings = {"by number": [], "by id": ["--record-id", "id"], "consistent": ["--consistent-by", "user"]}
    for ending in (".jsonl", ".json", ".parquet"):
        for naming, options in namings.items():
            settings = [*COLUMNS, *options, "-e", "3", "--embedding", "plain"]
            source = str(FROZEN / "inputs" / f"nested{ending}")
            yield release_file(commands, work, f"nested {ending}, {naming}", source, ending, settings)
