"""The ``deniable`` command in a folder of golden material."""

from __future__ import annotations

import os
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from tests.support.commands import Command
from tests.support.keeping import options_to_keep


class Ended(NamedTuple):
    """How a command ended, and what it wrote."""

    status: int
    out: bytes
    err: str


class Commands:
    """Runs commands in a folder, with the store in its folder ``home``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._kept: dict[tuple[str, ...], list[str]] = {}

    def run(self, *argv: str, cwd: Path | None = None, data: bytes | None = None) -> Ended:
        """Run a command to its end; the golden releases were made before columns had to be named, so that all
        are kept here."""
        where = cwd or self.folder
        command = Command(where, {**os.environ, "DENIABLE_HOME": str(where / "home")})
        columns = [name for option, name in pairwise(argv) if option in ("-c", "--format")]
        like = (*argv[:1], *Path(argv[1]).name.split(".")[:2], *columns)
        kept = self._kept.setdefault(like, [])  # so that few commands are refused first
        while True:
            status, out, err = command.exactly([*argv, *kept], data or b"")
            if not (keep := options_to_keep(err.decode())):
                return Ended(status, out, err.decode())
            kept += keep
