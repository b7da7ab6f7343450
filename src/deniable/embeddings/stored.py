"""The files of a stored embedding: a description, the words, and arrays that are memory-mapped when opened."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from deniable.arrays import Ids, Vectors
from deniable.atomic import sync_file
from deniable.embeddings.content import Content, content_fingerprint, is_cased, mean_vector, shadowed_rows
from deniable.errors import MalformedEmbedding

if TYPE_CHECKING:
    from deniable.embeddings.subwords import Subwords

FORMAT_VERSION = 2
"""Version 2 has protected words; without any, version 1 is written, which older releases read rightly."""
META, WORDS, VECTORS, UNKNOWN, SHADOWED = "meta.json", "words.txt", "vectors.npy", "unknown.npy", "shadowed.npy"
PROTECTION = "protection.npy"

_DAMAGED = "the stored copy is damaged; remove the embedding and add it again"


class Meta(msgspec.Struct, frozen=True, kw_only=True):
    """What ``meta.json`` says of a stored embedding.

    ``unknown`` tells where the vector of ⊥ comes from: "own" (the file had one), "mean" (of all vectors) or "given".
    ``repeated`` counts the repeated words that were left out when the file was added.
    """

    format_version: int
    name: str
    words: int
    dimension: int
    fingerprint: str
    cased: bool
    shadowed: int
    unknown: str
    created: str
    repeated: int = 0
    source: str | None = None
    source_sha256: str | None = None
    source_format: str | None = None
    licence: str | None = None
    subwords: bool = False
    protected: int = 0


def write_content(
    folder: Path,
    words: list[str],
    unknown: Vectors | None,
    *,
    name: str,
    origin: str | None = None,
    subwords: bool = False,
    protection: Ids | None = None,
    repeated: int = 0,
    source: str | None = None,
    source_sha256: str | None = None,
    source_format: str | None = None,
    licence: str | None = None,
) -> Meta:
    """Complete a folder that holds ``vectors.npy`` already, and return its description.

    Everything that opening should not have to compute is computed here. Without ``unknown``, ⊥ is the mean vector.
    """
    vectors = _load(folder / VECTORS, mapped=True)
    vector = mean_vector(vectors) if unknown is None else np.ascontiguousarray(unknown, dtype=np.float32)
    shadowed = shadowed_rows(vectors)
    meta = Meta(
        format_version=1 if protection is None else FORMAT_VERSION,
        name=name,
        words=len(words),
        dimension=int(vectors.shape[1]),
        fingerprint=content_fingerprint(words, vectors, vector, _subwords(folder) if subwords else None, protection),
        cased=is_cased(words),
        shadowed=len(shadowed),
        unknown=origin or ("mean" if unknown is None else "own"),
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        repeated=repeated,
        source=source,
        source_sha256=source_sha256,
        source_format=source_format,
        licence=licence,
        subwords=subwords,
        protected=0 if protection is None else int((protection != np.arange(len(words) + 1)).sum()),
    )
    (folder / WORDS).write_bytes(("\n".join(words) + "\n").encode("utf-8"))
    np.save(folder / UNKNOWN, vector.astype("<f4"), allow_pickle=False)
    np.save(folder / SHADOWED, shadowed.astype("<i8"), allow_pickle=False)
    if protection is not None:
        np.save(folder / PROTECTION, protection.astype("<i8"), allow_pickle=False)
    (folder / META).write_bytes(msgspec.json.format(msgspec.json.encode(meta)))
    for file in folder.iterdir():
        if file.is_file():
            sync_file(file)
    return meta


def read_meta(folder: Path) -> Meta:
    """Return the description of a stored embedding.

    :raises MalformedEmbedding: if it is missing, unreadable or of a later version.
    """
    try:
        meta = msgspec.json.decode((folder / META).read_bytes(), type=Meta)
    except FileNotFoundError as error:
        raise MalformedEmbedding(folder, f"there is no {META}: this is not a stored embedding, or {_DAMAGED}") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise MalformedEmbedding(folder, f"{META} cannot be read ({error}): {_DAMAGED}") from error
    if meta.format_version > FORMAT_VERSION:
        problem = f"stored in format {meta.format_version}, newer than this deniable reads ({FORMAT_VERSION}); upgrade deniable"
        raise MalformedEmbedding(folder, problem)
    return meta


def read_folder(folder: Path) -> Content:
    """Return the embedding stored in a folder. Vectors stay on disk until they are used.

    :raises MalformedEmbedding: if the files do not agree with the description.
    """
    meta = read_meta(folder)
    vectors = _load(folder / VECTORS, mapped=True)
    unknown, shadowed = _load(folder / UNKNOWN), _load(folder / SHADOWED)
    _expect(folder / VECTORS, vectors, "<f4", (meta.words, meta.dimension))
    _expect(folder / UNKNOWN, unknown, "<f4", (meta.dimension,))
    _expect(folder / SHADOWED, shadowed, "<i8", (meta.shadowed,))
    if shadowed.size and (shadowed[0] < 0 or shadowed[-1] >= meta.words or (np.diff(shadowed) <= 0).any()):
        raise MalformedEmbedding(folder / SHADOWED, f"must hold ids of its {meta.words:,} words in order: {_DAMAGED}")
    protection = None
    if meta.format_version > 1:
        protection = _load(folder / PROTECTION)
        _expect(folder / PROTECTION, protection, "<i8", (meta.words + 1,))
        if ((protection < 0) | (protection > meta.words)).any():
            raise MalformedEmbedding(folder / PROTECTION, f"holds an id that no word has: {_DAMAGED}")
    return Content(
        name=folder.name,
        words=_read_words(folder / WORDS, meta.words),
        vectors=vectors,
        unknown=unknown,
        unknown_origin=meta.unknown,
        fingerprint=meta.fingerprint,
        cased=meta.cased,
        shadowed=shadowed,
        subwords=_subwords(folder) if meta.subwords else None,
        protection=protection,
        folder=folder,
    )


def _subwords(folder: Path) -> Subwords:
    # Imported here because few embeddings have any.
    from deniable.embeddings.subwords import open_subwords

    return open_subwords(folder)


def _read_words(path: Path, expected: int) -> list[str]:
    try:
        words = path.read_bytes().decode("utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise MalformedEmbedding(path, f"cannot be read ({error}): {_DAMAGED}") from error
    if words.pop() != "" or len(words) != expected:
        raise MalformedEmbedding(path, f"must hold {expected:,} words, not {len(words):,}: {_DAMAGED}")
    return words


def _load(path: Path, *, mapped: bool = False) -> Any:
    try:
        loaded = np.load(path, mmap_mode="r" if mapped else None, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise MalformedEmbedding(path, f"cannot be read ({error}): {_DAMAGED}") from error
    return np.asarray(loaded)  # a plain array on the mapped memory: slicing a memmap costs more and gains nothing


def _expect(path: Path, array: Any, dtype: str, shape: tuple[int, ...]) -> None:
    if array.dtype != np.dtype(dtype) or array.shape != shape:
        problem = f"must be {np.dtype(dtype)} of shape {shape}, not {array.dtype} of shape {array.shape}: {_DAMAGED}"
        raise MalformedEmbedding(path, problem)
