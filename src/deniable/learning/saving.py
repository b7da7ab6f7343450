"""Arrays of an experiment, kept in one file each."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from deniable.atomic import whole_file


def save_arrays(path: Path, arrays: Mapping[str, Any]) -> None:
    """Write arrays as one .npz file, whole or not at all, in a folder that is made if need be."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as file:
        np.savez(file, **arrays)
