"""Where what is computed from an embedding is kept: its calibrations and its channels."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

import platformdirs

from deniable.embeddings.embedding import Embedding


def computed_folder(embedding: Embedding, kind: Literal["calibrations", "channels"]) -> Path:
    """Return the folder that holds all calibrations or all channels of an embedding."""
    if embedding.folder is not None:
        return embedding.folder / kind
    home = os.environ.get("DENIABLE_HOME")
    root = Path(home) if home else platformdirs.user_cache_path("deniable")
    return root / kind / embedding.fingerprint
