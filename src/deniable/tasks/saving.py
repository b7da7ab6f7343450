"""Files of an experiment that appear under their name only when they are complete."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np


@contextmanager
def whole_file(path: Path) -> Iterator[IO[bytes]]:
    """Give a file to write into that gets its name at the end. Several processes may write the same one: the last wins."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with draft.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def save_arrays(path: Path, arrays: Mapping[str, Any]) -> None:
    """Write arrays as one .npz file, whole or not at all."""
    with whole_file(path) as file:
        np.savez(file, **arrays)
