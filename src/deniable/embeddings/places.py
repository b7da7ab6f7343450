"""Where embeddings are found: those that come with the package and installed ones by their names, others by
their folders.

The default is 50,000 words of GloVe 6B, so that everything works with no download. Beside it there are spaces
of the same words that were made for a purpose (``PURPOSES``). Installed embeddings live
in the user's data folder, or under the folder that the environment variable DENIABLE_HOME names.
"""

from __future__ import annotations

import io
import os
import re
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import platformdirs

from deniable.embeddings.linear_map import AXES, MAP, LinearMap, MapFile
from deniable.embeddings.stored import read_folder, read_meta
from deniable.errors import EmbeddingExists, EmbeddingNotFound, InvalidParameter, MalformedEmbedding

DEFAULT = "default"

PURPOSES = {"general": DEFAULT, "sentiment": "for-sentiment", "topic": "for-topic"}
"""The built-in space of each purpose; the default serves every purpose a little."""

BUILT_IN = tuple(dict.fromkeys(PURPOSES.values()))
"""The names of the embeddings that come with the package, the default first."""

_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}")


class Provenance(msgspec.Struct, frozen=True, kw_only=True):
    """What ``provenance.json`` states about a built-in embedding: the public file that it was made from,
    size, fingerprint, what was left out and why."""

    name: str
    title: str
    source: dict[str, str]
    words: int
    dimension: int
    cased: bool
    shadowed: list[int]
    fingerprint: str
    files_sha256: dict[str, str]
    left_out: dict[str, int] = {}
    by_hand_sha256: dict[str, str] = {}
    learnt_from: dict[str, str] = {}


def read_content(name_or_path: str | Path = DEFAULT) -> dict[str, Any]:
    """Return a built-in, installed or stored embedding as ``Embedding.from_checked`` takes it; see
    ``Embedding.open``."""
    if name_or_path in BUILT_IN:
        return _read_built_in(str(name_or_path))
    if isinstance(name_or_path, str) and "/" not in name_or_path and os.sep not in name_or_path:
        return read_folder(installed_folder(name_or_path))
    path = Path(name_or_path)
    if path.is_file():
        problem = "is a file; add it to the store first: deniable embeddings add FILE --name NAME"
        raise InvalidParameter("embedding", str(name_or_path), problem)
    if not path.is_dir():
        raise EmbeddingNotFound(str(name_or_path), known_names())
    return read_folder(path.resolve())


def store_folder() -> Path:
    """Return the folder that holds the installed embeddings, whether it exists or not."""
    return (_home() or platformdirs.user_data_path("deniable")) / "embeddings"


def cache_folder() -> Path:
    """Return the folder for what is computed for embeddings outside the store."""
    return _home() or platformdirs.user_cache_path("deniable")


def _home() -> Path | None:
    home = os.environ.get("DENIABLE_HOME")
    return Path(home) if home else None


def known_names() -> list[str]:
    """Return all names that an embedding can be opened by: the built-in ones first, then those in the
    store."""
    folder = store_folder()
    entries = folder.iterdir() if folder.is_dir() else ()
    names = sorted(entry.name for entry in entries if entry.is_dir() and _NAME.fullmatch(entry.name))
    return [*BUILT_IN, *(name for name in names if name.lower() not in BUILT_IN)]


def find_by_fingerprint(fingerprint: str, *, first: str = DEFAULT) -> str | None:
    """Return the name that the embedding of this content has here, ``first`` if it is that one; None if none
    is."""
    for name in sorted(known_names(), key=lambda name: name != first):
        try:
            noted = provenance_of(name) if name in BUILT_IN else read_meta(installed_folder(name))
        except (MalformedEmbedding, EmbeddingNotFound):  # damaged, or removed just now
            continue
        if noted.fingerprint == fingerprint:
            return name
    return None


def installed_folder(name: str) -> Path:
    """Return the folder of an installed embedding, which must be there."""
    folder = store_folder() / validated_name(name)
    if not folder.is_dir():
        raise EmbeddingNotFound(name, known_names())
    return folder


def free_place(name: str) -> Path:
    """Return the folder that an embedding of this name will have.

    :raises EmbeddingExists: if the name is taken.
    :raises InvalidParameter: if the name is not allowed.
    """
    folder = store_folder() / validated_name(name)
    if folder.exists():
        raise EmbeddingExists(name)
    return folder


def validated_name(name: str) -> str:
    """Return ``name`` if an embedding may be stored under it."""
    if not _NAME.fullmatch(name):
        problem = "must be 1 to 100 letters (a-z, A-Z), digits and . _ - and not start with a dot"
        raise InvalidParameter("name", name, problem)
    if name.lower() in BUILT_IN:
        problem = "is an embedding that comes with the package; choose another name"
        raise InvalidParameter("name", name, problem)
    return name


def space_of(purpose: str, embedding: str | Path = DEFAULT) -> str:
    """Return the name of the built-in space of a purpose; ``embedding`` is what else was asked for."""
    if purpose not in PURPOSES:
        problem = f"must be one of {', '.join(PURPOSES)}; make others with `deniable embeddings shape`"
        raise InvalidParameter("purpose", purpose, problem)
    if embedding not in (DEFAULT, PURPOSES[purpose]):
        problem = f"has a space of its own, not {str(embedding)!r}: give one of purpose and embedding"
        raise InvalidParameter("purpose", purpose, problem)
    return PURPOSES[purpose]


def _read_built_in(name: str) -> dict[str, Any]:
    # Nothing is checked here: a test of the package recomputes what ``provenance.json`` states.
    folder, facts = built_in_folder(name), provenance_of(name)
    words = (built_in_folder(DEFAULT) / "words.txt").read_text(encoding="utf-8")
    return {
        "name": name,
        "words": words.split("\n")[:-1],
        "vectors": _array(folder / "vectors.npy").astype(np.float32),
        "unknown": _array(folder / "unknown.npy").astype(np.float32),
        "unknown_origin": "mean" if name == DEFAULT else "mean, mapped",
        "fingerprint": facts.fingerprint,
        "cased": facts.cased,
        "shadowed": np.array(facts.shadowed, dtype=np.int64),
        "linear_map": None if name == DEFAULT else built_in_map(name),
    }


def built_in_map(name: str) -> LinearMap:
    """Return how the vectors of a built-in space of a purpose were made."""
    folder = built_in_folder(name)
    found = msgspec.json.decode((folder / MAP).read_bytes(), type=MapFile)
    return LinearMap(axes=_array(folder / AXES), scales=np.array(found.scales), origin=found.origin)


def provenance_of(name: str = DEFAULT) -> Provenance:
    """Return what is known about a built-in embedding without opening it."""
    return msgspec.json.decode((built_in_folder(name) / "provenance.json").read_bytes(), type=Provenance)


def built_in_folder(name: str) -> Traversable:
    """Return the folder of the package that holds a built-in embedding."""
    folder = resources.files("deniable.embeddings") / "data"
    return folder if name == DEFAULT else folder / name.removeprefix("for-")


def _array(file: Traversable) -> np.ndarray[Any, Any]:
    # Read as bytes: the package may be inside a zip, where there is no path to map.
    return np.asarray(np.load(io.BytesIO(file.read_bytes()), allow_pickle=False))
