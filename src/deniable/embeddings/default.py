"""The embedding that comes with the package: 50,000 words of GloVe 6B, so that everything works with no download."""

from __future__ import annotations

import io
import json
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any

import numpy as np

from deniable.embeddings.embedding import Embedding

DEFAULT_NAME = "default"


def open_default() -> Embedding:
    """Return the embedded default.

    Nothing is checked here: a test of the package recomputes what ``provenance.json`` states about the content.
    """
    folder = _folder()
    facts = default_info()
    words = (folder / "words.txt").read_text(encoding="utf-8").split("\n")[:-1]
    return Embedding.from_checked(
        words,
        _array(folder / "vectors.npy").astype(np.float32),
        _array(folder / "unknown.npy").astype(np.float32),
        name=DEFAULT_NAME,
        unknown_origin="mean",
        fingerprint=facts["fingerprint"],
        cased=facts["cased"],
        shadowed=np.array(facts["shadowed"], dtype=np.int64),
    )


def default_info() -> dict[str, Any]:
    """Return what is known about the default without opening it: source, licence, size, fingerprint, what was left out."""
    facts: dict[str, Any] = json.loads((_folder() / "provenance.json").read_text(encoding="utf-8"))
    return facts


def _folder() -> Traversable:
    return resources.files("deniable.embeddings") / "data"


def _array(file: Traversable) -> np.ndarray[Any, Any]:
    # Read as bytes: the package may be inside a zip, where there is no path to map.
    return np.asarray(np.load(io.BytesIO(file.read_bytes()), allow_pickle=False))
