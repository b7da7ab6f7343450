"""A small embedding in the store, and what commands that calibrate it print."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from typer.testing import CliRunner

from deniable import Embedding
from deniable.cli.app import app
from deniable.embeddings import store


def save_small(words: int, *, alone: tuple[int, ...] = (7,), far: float = 40.0) -> Embedding:
    """Install words near one another under the name small, but for some that lie alone."""
    vectors = np.random.default_rng(0).standard_normal((words, 4))
    for times, place in enumerate(alone, 1):
        vectors[place] = far * times
    store.save(Embedding([f"w{i}" for i in range(words)], vectors), "small")
    return Embedding.open("small")


def calibrated(*arguments: str, effort: int = 100) -> dict[str, Any]:
    """Return what ``deniable calibrate`` prints as JSON."""
    command = f"calibrate --embedding small --effort {effort} --json --quiet".split()
    printed = CliRunner().invoke(app, [*command, *arguments])
    assert printed.exit_code == 0, printed.output
    answer: dict[str, Any] = json.loads(printed.stdout)
    return answer
