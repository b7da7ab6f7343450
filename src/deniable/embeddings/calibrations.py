"""Where the calibrations of an embedding are kept."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs

from deniable.embeddings.embedding import Embedding


def calibrations_folder(embedding: Embedding) -> Path:
    """Return the folder that holds all calibrations of an embedding."""
    if embedding.folder is not None:
        return embedding.folder / "calibrations"
    home = os.environ.get("DENIABLE_HOME")
    root = Path(home) if home else platformdirs.user_cache_path("deniable")
    return root / "calibrations" / embedding.fingerprint
