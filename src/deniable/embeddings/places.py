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

from deniable.embeddings.content import Content
from deniable.embeddings.linear_map import LinearMap
from deniable.embeddings.stored import read_folder, read_meta
from deniable.embeddings.stored_map import AXES, MAP, MapFile
from deniable.errors import EmbeddingExists, EmbeddingNotFound, InvalidParameter, MalformedEmbedding

DEFAULT = "default"

PURPOSES = {"general": DEFAULT, "sentiment": "for-sentiment"}
"""The built-in space of each purpose; the default serves every purpose a little."""

BUILT_IN = tuple(dict.fromkeys(PURPOSES.values()))
"""The names of the embeddings that come with the package, the default first."""

_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}")


class Provenance(msgspec.Struct, frozen=True, kw_only=True):
    """What ``provenance.json`` states about the default: the public file that it was made from, size,
    fingerprint, what was left out and why."""

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


def read_content(name_or_path: str | Path = DEFAULT) -> Content:
    """Return the content of a built-in or an installed embedding by its name, or of a stored one by the path
    of its folder.

    A string with a slash in it is a path. The words are read; vectors stay on disk until they are used.

    :raises EmbeddingNotFound: if there is no such name or folder.
    :raises InvalidParameter: if it is a file, which has to be added first, or no valid name.
    :raises MalformedEmbedding: if the stored copy is damaged.
    """
    if name_or_path in BUILT_IN:
        return read_built_in(str(name_or_path))
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
    home = os.environ.get("DENIABLE_HOME")
    return (Path(home) if home else platformdirs.user_data_path("deniable")) / "embeddings"


def known_names() -> list[str]:
    """Return all names that an embedding can be opened by: the built-in ones first, then those in the
    store."""
    folder = store_folder()
    found = (
        sorted(entry.name for entry in folder.iterdir() if entry.is_dir() and _NAME.fullmatch(entry.name))
        if folder.is_dir()
        else []
    )
    return [*BUILT_IN, *(name for name in found if name.lower() not in BUILT_IN)]


def find_by_fingerprint(fingerprint: str, *, first: str = DEFAULT) -> str | None:
    """Return the name that the embedding of this content has here, ``first`` if it is that one; None if none
    is."""
    for name in sorted(known_names(), key=lambda name: name != first):
        try:
            noted = (
                provenance_of(name).fingerprint
                if name in BUILT_IN
                else read_meta(installed_folder(name)).fingerprint
            )
        except (MalformedEmbedding, EmbeddingNotFound):  # damaged, or removed just now
            continue
        if noted == fingerprint:
            return name
    return None


def installed_folder(name: str) -> Path:
    """Return the folder of an installed embedding.

    :raises EmbeddingNotFound: if nothing is installed under that name.
    :raises InvalidParameter: if the name is not allowed.
    """
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
    """Return ``name`` if an embedding may be stored under it.

    :raises InvalidParameter: otherwise.
    """
    if not _NAME.fullmatch(name):
        problem = "must be 1 to 100 letters (a-z, A-Z), digits and . _ - and not start with a dot"
        raise InvalidParameter("name", name, problem)
    if name.lower() in BUILT_IN:
        raise InvalidParameter(
            "name", name, "is an embedding that comes with the package; choose another name"
        )
    return name


def is_received(folder: Path) -> bool:
    """Return whether the folder of an embedding lies outside the user's store.

    Somebody else may have made such a folder. Nothing is written there, and what it says of itself is
    checked.
    """
    return folder.resolve().parent != store_folder().resolve()


def work_folder(folder: Path | None, fingerprint: str, kind: str) -> Path:
    """Return where to keep what is computed for an embedding: beside one in the user's store, else in the
    user's cache folder."""
    if folder is not None and not is_received(folder):
        return folder / kind
    home = os.environ.get("DENIABLE_HOME")
    return (Path(home) if home else platformdirs.user_cache_path("deniable")) / kind / fingerprint


def space_of(purpose: str, embedding: str | Path = DEFAULT) -> str:
    """Return the name of the built-in space of a purpose; ``embedding`` is what else was asked for.

    :raises InvalidParameter: if there is none, or another embedding was asked for.
    """
    if purpose not in PURPOSES:
        problem = f"must be one of {', '.join(PURPOSES)}; make others with `deniable embeddings shape`"
        raise InvalidParameter("purpose", purpose, problem)
    if embedding not in (DEFAULT, PURPOSES[purpose]):
        problem = f"has a space of its own, not {str(embedding)!r}: give one of purpose and embedding"
        raise InvalidParameter("purpose", purpose, problem)
    return PURPOSES[purpose]


def read_built_in(name: str) -> Content:
    """Return an embedding that comes with the package.

    Nothing is checked here: a test of the package recomputes what ``provenance.json`` states about the
    content.
    """
    folder, facts = built_in_folder(name), provenance_of(name)
    content = Content(
        name=name,
        words=(built_in_folder(DEFAULT) / "words.txt").read_text(encoding="utf-8").split("\n")[:-1],
        vectors=_array(folder / "vectors.npy").astype(np.float32),
        unknown=_array(folder / "unknown.npy").astype(np.float32),
        unknown_origin="mean" if name == DEFAULT else "mean, mapped",
        fingerprint=facts.fingerprint,
        cased=facts.cased,
        shadowed=np.array(facts.shadowed, dtype=np.int64),
        protection=None,
    )
    if name != DEFAULT:
        content["linear_map"] = built_in_map(name)
    return content


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
