"""The files of a stored embedding: a description, the words, and arrays that are memory-mapped when
opened."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import msgspec
import numpy as np

from deniable.arrays import Ids, Vectors
from deniable.atomic import open_plain_file, read_plain_file, sync_file
from deniable.embeddings.content import (
    STAND_IN,
    UNPRINTABLE,
    content_fingerprint,
    files_state,
    is_cased,
    mean_vector,
    shadowed_rows,
    unprintable_words,
)
from deniable.embeddings.linear_map import MAP, LinearMap
from deniable.embeddings.npy import open_array
from deniable.embeddings.subwords import TABLE, Subwords
from deniable.errors import MalformedEmbedding, printable
from deniable.parameters import first_unusable
from deniable.words.languages import describe_cutting

FORMAT_VERSION = 2
"""Version 2 has protected words; without any, version 1 is written, which older releases read correctly."""
META, WORDS, VECTORS = "meta.json", "words.txt", "vectors.npy"
UNKNOWN, SHADOWED, PROTECTION = "unknown.npy", "shadowed.npy", "protection.npy"

_LONGEST_META = 1 << 20
_BYTES_AT_ONCE, _LONGEST_ON_AVERAGE, _SLACK = 1 << 20, 256, 1 << 17
"""Words are read in parts, each of which must hold enough words: a file of zeros is refused after the first
part."""
_WORDS_SHOWN, _LONGEST_SHOWN = 20, 50
_DAMAGED = "the stored copy is damaged; remove the embedding and add it again"


class _Version(msgspec.Struct, frozen=True):
    format_version: int


class Meta(msgspec.Struct, frozen=True, kw_only=True):
    """What ``meta.json`` says of a stored embedding.

    ``unknown`` tells where the vector of ⊥ comes from (``Embedding.unknown_origin``). ``repeated`` counts the
    repeated words that were left out when the file was added, ``unprintable`` those that hold spaces or
    control characters; ``unprintable_words`` are the first of them, escaped.
    ``mapped`` says that its vectors are a linear map of others, and that files of ``linear_map`` tell which;
    ``map_digest`` is the digest of that map. ``cutting`` notes what ``describe_cutting`` said of the words.
    """

    format_version: int
    name: str
    words: Annotated[int, msgspec.Meta(ge=1)]
    dimension: Annotated[int, msgspec.Meta(ge=1, le=1 << 20)]
    fingerprint: Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{32}\Z")]
    cased: bool
    shadowed: Annotated[int, msgspec.Meta(ge=0)]
    unknown: str
    created: str
    repeated: int = 0
    source: str | None = None
    source_sha256: str | None = None
    source_format: str | None = None
    licence: str | None = None
    subwords: bool = False
    protected: int = 0
    mapped: bool = False
    map_digest: str | None = None
    unprintable: int = 0
    unprintable_words: tuple[str, ...] = ()
    cutting: tuple[str, ...] = ()


def write_content(
    folder: Path,
    words: list[str],
    unknown: Vectors | None,
    *,
    name: str,
    origin: str | None = None,
    protection: Ids | None = None,
    linear_map: LinearMap | None = None,
    unprintable: Sequence[str] = (),
    **noted: Any,
) -> Meta:
    """Complete a folder that holds ``vectors.npy`` and any subwords already, and return its description.

    Everything that opening should not have to compute is computed here. Without ``unknown``, ⊥ is the mean
    vector. ``noted`` is what else its description notes: ``repeated``, ``licence``, and where it comes from.
    """
    vectors = _load(folder / VECTORS, "<f4", (len(words), None), mapped=True)
    vector = mean_vector(vectors) if unknown is None else np.ascontiguousarray(unknown, dtype=np.float32)
    parts = Subwords.open(folder) if (folder / TABLE).exists() else None
    shadowed, cased = shadowed_rows(vectors), is_cased(words)
    meta = Meta(
        format_version=1 if protection is None else FORMAT_VERSION,
        name=name,
        words=len(words),
        dimension=int(vectors.shape[1]),
        fingerprint=content_fingerprint(words, vectors, vector, parts, protection),
        cased=cased,
        shadowed=len(shadowed),
        unknown=origin or ("mean" if unknown is None else "own"),
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        **noted,
        subwords=parts is not None,
        protected=0 if protection is None else int((protection != np.arange(len(words) + 1)).sum()),
        mapped=linear_map is not None,
        map_digest=None if linear_map is None else linear_map.digest,
        unprintable=len(unprintable),
        unprintable_words=tuple(printable(word[:_LONGEST_SHOWN]) for word in unprintable[:_WORDS_SHOWN]),
        cutting=describe_cutting(words, {word: place for place, word in enumerate(words)}, cased=cased),
    )
    (folder / WORDS).write_bytes(("\n".join(words) + "\n").encode("utf-8"))
    np.save(folder / UNKNOWN, vector.astype("<f4"), allow_pickle=False)
    np.save(folder / SHADOWED, shadowed.astype("<i8"), allow_pickle=False)
    if protection is not None:
        np.save(folder / PROTECTION, protection.astype("<i8"), allow_pickle=False)
    if linear_map is not None:
        linear_map.save(folder)
    (folder / META).write_bytes(msgspec.json.format(msgspec.json.encode(meta)))
    for file in folder.iterdir():
        if file.is_file():
            sync_file(file)
    return meta


def read_meta(folder: Path) -> Meta:
    """Return the description of a stored embedding.

    :raises MalformedEmbedding: if it is missing, unreadable or of a later version.
    """

    def damaged(_: Path, problem: str) -> MalformedEmbedding:
        return MalformedEmbedding(folder, f"{META} {problem}: {_DAMAGED}")

    if not (folder / META).exists():
        problem = f"there is no {META}: this is not a stored embedding, or {_DAMAGED}"
        raise MalformedEmbedding(folder, problem)
    content = read_plain_file(folder / META, longest=_LONGEST_META, what="description", error=damaged)
    try:
        version = msgspec.json.decode(content, type=_Version).format_version
        if version > FORMAT_VERSION:
            problem = f"stored in format {version}, newer than this deniable reads ({FORMAT_VERSION})"
            raise MalformedEmbedding(folder, f"{problem}; upgrade deniable")
        meta = msgspec.json.decode(content, type=Meta)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise damaged(folder, f"cannot be read ({error})") from error
    if meta.shadowed >= meta.words:
        raise damaged(folder, "states a number that cannot be")
    if not meta.mapped and (meta.map_digest is not None or (folder / MAP).exists()):
        raise damaged(folder, "says that its vectors were not mapped, and there is a map")
    # Names and notes are shown to people: what somebody else wrote there must not act on their terminal.
    shown: dict[str, Any] = {}
    for name, value in msgspec.structs.asdict(meta).items():
        if isinstance(value, str | tuple):
            shown[name] = printable(value) if isinstance(value, str) else tuple(map(printable, value))
    return msgspec.structs.replace(meta, **shown)


def read_folder(folder: Path) -> dict[str, Any]:
    """Return the embedding stored in a folder, as ``Embedding.from_checked`` takes it. Vectors stay on disk
    until they are used.

    :raises MalformedEmbedding: if the files do not agree with the description.
    """
    state = files_state(folder)  # first: what changes while it is read must not count as what was read
    meta = read_meta(folder)
    vectors = _load(folder / VECTORS, "<f4", (meta.words, meta.dimension), mapped=True)
    words = _read_words(folder / WORDS, meta.words)
    unknown = _load(folder / UNKNOWN, "<f4", (meta.dimension,))
    shadowed = _load(folder / SHADOWED, "<i8", (meta.shadowed,))
    if first_unusable(unknown[np.newaxis]) is not None:
        raise MalformedEmbedding(folder / UNKNOWN, f"must hold finite numbers: {_DAMAGED}")
    if shadowed.size and (shadowed[0] < 0 or shadowed[-1] >= meta.words or (np.diff(shadowed) <= 0).any()):
        problem = f"must hold ids of its {meta.words:,} words in order: {_DAMAGED}"
        raise MalformedEmbedding(folder / SHADOWED, problem)
    protection = None
    if meta.format_version > 1:
        protection = _load(folder / PROTECTION, "<i8", (meta.words + 1,))
        if ((protection < 0) | (protection > meta.words)).any():
            raise MalformedEmbedding(folder / PROTECTION, f"holds an id that no word has: {_DAMAGED}")
    as_stored = {place: words[place] for place in unprintable_words(words)}
    for place, word in as_stored.items():
        words[place] = UNPRINTABLE.sub(STAND_IN, word)
    return {
        "name": folder.name,
        "words": words,
        "vectors": vectors,
        "unknown": unknown,
        "unknown_origin": meta.unknown,
        "fingerprint": meta.fingerprint,
        "cased": meta.cased,
        "shadowed": shadowed,
        "subwords": Subwords.open(folder) if meta.subwords else None,
        "protection": protection,
        "linear_map": LinearMap.read(folder, meta.dimension, meta.map_digest) if meta.mapped else None,
        "folder": folder,
        "as_stored": as_stored,
        "state": state,
    }


def _read_words(path: Path, expected: int) -> list[str]:
    try:
        with open_plain_file(path) as file:
            content, found = bytearray(), 0
            while found <= expected and (block := file.read(_BYTES_AT_ONCE)):
                content += block
                found += block.count(b"\n")
                if block.count(b"\n") * _LONGEST_ON_AVERAGE < len(block) - _SLACK:
                    problem = f"holds words longer than those of any embedding: {_DAMAGED}"
                    raise MalformedEmbedding(path, problem)
            words = content.decode("utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise MalformedEmbedding(path, f"cannot be read ({error}): {_DAMAGED}") from error
    more = " or more" if found > expected else ""
    if words.pop() != "" or len(words) != expected:
        raise MalformedEmbedding(path, f"must hold {expected:,} words, not {len(words):,}{more}: {_DAMAGED}")
    if "" in words:
        raise MalformedEmbedding(path, f"word {words.index('') + 1:,} is empty: {_DAMAGED}")
    return words


def _load(path: Path, dtype: str, shape: tuple[int | None, ...], *, mapped: bool = False) -> Any:
    try:
        return open_array(path, dtype, shape, mapped=mapped)
    except (OSError, ValueError) as error:
        raise MalformedEmbedding(path, f"cannot be read ({error}): {_DAMAGED}") from error
