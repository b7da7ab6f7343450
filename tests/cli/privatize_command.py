"""The command as its users start it, with a tiny embedding of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from deniable import Embedding
from deniable.embeddings import store

WORDS = [f"word{i}" for i in range(100)] + ["the", "quick", "brown", "fox"]


def without_warning(stderr: bytes) -> bytes:
    """Return what was said besides the warning that this ε changes hardly any word, which is what the tests want."""
    return b"".join(line for line in stderr.splitlines(keepends=True) if not line.startswith("deniable: warning: at ε".encode()))


@dataclass(frozen=True)
class Command:
    """``deniable privatize`` in a folder, at an ε that changes no word unless another is asked for."""

    folder: Path
    environment: dict[str, str]

    def argv(self, *arguments: str | Path) -> list[str]:
        epsilon = [] if any("epsilon" in str(argument) for argument in arguments) else ["--epsilon", "1e6"]
        main = [sys.executable, "-c", "from deniable.cli import main; main()", "privatize", "--embedding", "tiny"]
        return [*main, *epsilon, *map(str, arguments)]

    def start(self, *arguments: str | Path, **options: Any) -> subprocess.Popen[bytes]:
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
        process: subprocess.Popen[bytes] = subprocess.Popen(self.argv(*arguments), cwd=self.folder, env=self.environment, **pipes)
        return process

    def run(self, *arguments: str | Path, data: bytes = b"") -> tuple[int, bytes, str]:
        done = subprocess.run(self.argv(*arguments), input=data, cwd=self.folder, env=self.environment, capture_output=True)
        return done.returncode, done.stdout, without_warning(done.stderr).decode()


def make_command(home: Path, folder: Path) -> Command:
    before = os.environ.get("DENIABLE_HOME")
    os.environ["DENIABLE_HOME"] = str(home)
    try:
        if not (home / "embeddings" / "tiny").exists():
            store.save(Embedding(WORDS, np.random.default_rng(1).normal(size=(len(WORDS), 6)), name="tiny"), "tiny")
    finally:
        if before is None:
            del os.environ["DENIABLE_HOME"]
        else:
            os.environ["DENIABLE_HOME"] = before
    return Command(folder, {**os.environ, "DENIABLE_HOME": str(home), "OPENBLAS_NUM_THREADS": "1"})
