"""The embedding that comes with the package: 50,000 words of GloVe 6B, so that everything works with no download."""

from __future__ import annotations

import io
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any

import msgspec
import numpy as np

from deniable.embeddings.content import Content

DEFAULT = "default"


class DefaultSource(msgspec.Struct, frozen=True, kw_only=True):
    """The public file that the default was made from."""

    file: str
    sha256: str
    url: str
    licence: str
    cite: str


class Provenance(msgspec.Struct, frozen=True, kw_only=True):
    """What ``provenance.json`` states about the default: source, size, fingerprint, what was left out and why."""

    name: str
    title: str
    source: DefaultSource
    words: int
    dimension: int
    left_out: dict[str, int]
    cased: bool
    shadowed: list[int]
    fingerprint: str
    by_hand_sha256: dict[str, str]
    files_sha256: dict[str, str]


def read_default() -> Content:
    """Return the embedded default.

    Nothing is checked here: a test of the package recomputes what ``provenance.json`` states about the content.
    """
    folder = _folder()
    facts = default_provenance()
    return Content(
        name=DEFAULT,
        words=(folder / "words.txt").read_text(encoding="utf-8").split("\n")[:-1],
        vectors=_array(folder / "vectors.npy").astype(np.float32),
        unknown=_array(folder / "unknown.npy").astype(np.float32),
        unknown_origin="mean",
        fingerprint=facts.fingerprint,
        cased=facts.cased,
        shadowed=np.array(facts.shadowed, dtype=np.int64),
    )


def default_provenance() -> Provenance:
    """Return what is known about the default without opening it."""
    return msgspec.json.decode((_folder() / "provenance.json").read_bytes(), type=Provenance)


def _folder() -> Traversable:
    return resources.files("deniable.embeddings") / "data"


def _array(file: Traversable) -> np.ndarray[Any, Any]:
    # Read as bytes: the package may be inside a zip, where there is no path to map.
    return np.asarray(np.load(io.BytesIO(file.read_bytes()), allow_pickle=False))
