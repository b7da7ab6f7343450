"""The embeddings installed on this machine, each a folder of its own under one name.

They live in the user's data folder, or under the folder that the environment variable DENIABLE_HOME names.
"""

from __future__ import annotations

import hashlib
import os
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import numpy as np
import platformdirs

from deniable.embeddings.embedding import Embedding, content_fingerprint, is_cased, shadowed_rows
from deniable.embeddings.growing_array import GrowingArray
from deniable.embeddings.staging import remove_folder, staged
from deniable.embeddings.stored import VECTORS, Meta, open_folder, read_meta, write_content
from deniable.errors import EmbeddingExists, EmbeddingNotFound, InvalidParameter, MalformedEmbedding
from deniable.parameters import validated_count

if TYPE_CHECKING:
    from deniable.embeddings.readers import Progress, UnpackLimit

DEFAULT = "default"
DUPLICATES = ("refuse", "first")

_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}")
_ROWS_AT_ONCE = 8192


class StoredInfo(msgspec.Struct, frozen=True, kw_only=True):
    """An installed embedding: its name, folder and bytes on disk, and its description, or the problem it has."""

    name: str
    folder: str
    size: int
    meta: Meta | None = None
    problem: str | None = None


def store_folder() -> Path:
    """Return the folder that holds the installed embeddings, whether it exists or not."""
    home = os.environ.get("DENIABLE_HOME")
    return (Path(home) if home else platformdirs.user_data_path("deniable")) / "embeddings"


def open_embedding(name_or_path: str | Path = DEFAULT) -> Embedding:
    """Return the default embedding, an installed one by its name, or the one stored in a folder given by its path.

    A string with a slash in it is a path. Opening reads the words; vectors stay on disk until they are used.

    :raises EmbeddingNotFound: if there is no such name or folder.
    :raises InvalidParameter: if it is a file, which has to be added first, or no valid name.
    :raises MalformedEmbedding: if the stored copy is damaged.
    """
    if name_or_path == DEFAULT:
        from deniable.embeddings.default import open_default

        return open_default()
    if isinstance(name_or_path, str) and not _is_path(name_or_path):
        return open_folder(_existing(name_or_path))
    path = Path(name_or_path)
    if path.is_file():
        problem = "is a file; add it to the store first: deniable embeddings add FILE --name NAME"
        raise InvalidParameter("embedding", str(name_or_path), problem)
    if not path.is_dir():
        raise EmbeddingNotFound(str(name_or_path), _names())
    return open_folder(path.resolve())


def installed() -> list[StoredInfo]:
    """Return the embeddings in the store by name, damaged ones included; the default, being no folder there, is not."""
    return [info(name) for name in _names() if name != DEFAULT]


def info(name: str) -> StoredInfo:
    """Return what is known about an installed embedding without opening it.

    :raises EmbeddingNotFound: if nothing is installed under that name.
    """
    folder = _existing(name)
    size = sum(file.stat().st_size for file in folder.iterdir() if file.is_file())
    try:
        return StoredInfo(name=name, folder=str(folder), size=size, meta=read_meta(folder))
    except MalformedEmbedding as error:
        return StoredInfo(name=name, folder=str(folder), size=size, problem=error.problem)


def add(
    path: str | Path,
    name: str,
    *,
    format: str | None = None,  # noqa: A002 - the word users know
    first: int | None = None,
    duplicates: str = "refuse",
    licence: str | None = None,
    limit: UnpackLimit | None = None,
    progress: Progress | None = None,
) -> StoredInfo:
    """Read an embedding file in any known format, check it and install it under a name. A failure leaves nothing behind.

    ``first`` takes that many words from the start of the file (most files have the frequent words first), and then the
    rest is not looked at. ``duplicates="first"`` keeps the first of repeated words and counts the others.

    :raises EmbeddingExists: if the name is taken.
    :raises InvalidParameter: if a parameter is not allowed or there is no such file.
    :raises MalformedEmbedding: if the file is not a usable embedding.
    :raises MissingExtra: if the format needs a library that is not installed.
    """
    # The readers load Arrow, which opening an embedding does not need.
    from deniable.embeddings.intake import take_in
    from deniable.embeddings.readers import reading

    path, target = Path(path), free_place(name)
    first = None if first is None else validated_count(first, "first")
    if duplicates not in DUPLICATES:
        raise InvalidParameter("duplicates", duplicates, f"must be one of {', '.join(DUPLICATES)}")
    drop_repeats = duplicates == "first"
    with staged(target) as folder:
        with reading(path, format=format, first=first, drop_repeats=drop_repeats, limit=limit, progress=progress, work=folder) as raw:
            taken = take_in(raw, folder / VECTORS, source=path, first=first, drop_repeats=drop_repeats)
            if raw.write_subwords is not None:
                raw.write_subwords(folder)
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        write_content(
            folder,
            taken.words,
            taken.unknown,
            name=name,
            created=_now(),
            repeated=taken.repeated,
            source=path.name,
            source_sha256=digest,
            source_format=raw.format,
            licence=licence,
            subwords=raw.write_subwords is not None,
        )
    return info(name)


def save(embedding: Embedding, name: str, *, source: str | None = None, licence: str | None = None) -> StoredInfo:
    """Install an embedding that is in memory under a name; ``source`` says where it comes from, in words.

    :raises EmbeddingExists: if the name is taken.
    :raises InvalidParameter: if the name is not allowed.
    """
    target = free_place(name)
    with staged(target) as folder:
        with GrowingArray(folder / VECTORS) as array:
            for start in range(0, len(embedding), _ROWS_AT_ONCE):
                array.append(embedding.vectors[start : start + _ROWS_AT_ONCE])
            array.finish()
        if embedding.subwords is not None:
            embedding.subwords.save(folder)
        write_content(
            folder,
            list(embedding.words),
            embedding.unknown,
            origin=embedding.unknown_origin,
            name=name,
            created=_now(),
            source=source,
            licence=licence,
            subwords=embedding.subwords is not None,
            protection=embedding.protection,
        )
    return info(name)


def remove(name: str) -> None:
    """Remove an installed embedding, damaged or not.

    :raises EmbeddingNotFound: if nothing is installed under that name.
    :raises InvalidParameter: if it is the default, which comes with the package.
    """
    if name.lower() == DEFAULT:
        raise InvalidParameter("name", name, "comes with the package and cannot be removed")
    remove_folder(_existing(name))


def verify(name: str) -> str:
    """Return the fingerprint of a stored embedding, computed anew from its files.

    :raises MalformedEmbedding: if it is not the fingerprint that was noted when the embedding was stored, or what else
        was noted then (words that share a vector, whether case is told) is not true of the content.
    """
    embedding = open_embedding(name)
    computed = content_fingerprint(embedding.words, embedding.vectors, embedding.unknown, embedding.subwords, embedding.protection)
    if computed != embedding.fingerprint:
        problem = f"its content has the fingerprint {computed}, not {embedding.fingerprint}: it was changed; remove it and add it again"
        raise MalformedEmbedding(embedding.folder or name, problem)
    if is_cased(embedding.words) != embedding.cased or not np.array_equal(shadowed_rows(embedding.vectors), embedding.shadowed):
        problem = "what was noted about its content (shadowed words, case) is not true: it was changed; remove it and add it again"
        raise MalformedEmbedding(embedding.folder or name, problem)
    return computed


def validated_name(name: str) -> str:
    """Return ``name`` if an embedding may be stored under it.

    :raises InvalidParameter: otherwise.
    """
    if not _NAME.fullmatch(name):
        problem = "must be 1 to 100 letters (a-z, A-Z), digits and . _ - and not start with a dot"
        raise InvalidParameter("name", name, problem)
    if name.lower() == DEFAULT:
        raise InvalidParameter("name", name, "is the embedding that comes with the package; choose another name")
    return name


def free_place(name: str) -> Path:
    """Return the folder that an embedding of this name will have.

    :raises EmbeddingExists: if the name is taken.
    :raises InvalidParameter: if the name is not allowed.
    """
    folder = store_folder() / validated_name(name)
    if folder.exists():
        raise EmbeddingExists(name)
    return folder


def _is_path(text: str) -> bool:
    return "/" in text or os.sep in text


def _names() -> list[str]:
    folder = store_folder()
    found = sorted(entry.name for entry in folder.iterdir() if entry.is_dir() and _NAME.fullmatch(entry.name)) if folder.is_dir() else []
    return [DEFAULT, *(name for name in found if name.lower() != DEFAULT)]


def _existing(name: str) -> Path:
    folder = store_folder() / validated_name(name)
    if not folder.is_dir():
        raise EmbeddingNotFound(name, _names())
    return folder


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
