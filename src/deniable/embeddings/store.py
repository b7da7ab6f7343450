"""The embeddings installed on this machine, each a folder of its own under one name: adding, saving,
describing, removing."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from deniable.embeddings.content import is_cased, shadowed_rows
from deniable.embeddings.derived import is_mapped_from, restrict
from deniable.embeddings.embedding import Embedding
from deniable.embeddings.linear_map import LinearMap, MapOrigin
from deniable.embeddings.places import (
    BUILT_IN,
    DEFAULT,
    built_in_map,
    find_by_fingerprint,
    free_place,
    installed_folder,
    known_names,
    provenance_of,
    store_folder,
)
from deniable.embeddings.staging import remove_folder, stage_folder, take_in
from deniable.embeddings.stored import VECTORS, read_meta, write_content
from deniable.errors import InvalidParameter, MalformedEmbedding
from deniable.parameters import validated_count
from deniable.progress import Report

__all__ = [
    "DEFAULT",
    "EmbeddingFacts",
    "add",
    "describe",
    "describe_all",
    "free_place",
    "info",
    "install_restricted",
    "installed",
    "remove",
    "save",
    "store_folder",
    "verify",
]

DUPLICATES = ("refuse", "first")

_MAY_BE_UNKNOWN = ("source", "source_sha256", "source_format", "licence")


@dataclass(frozen=True, kw_only=True)
class EmbeddingFacts:
    """What is known about an embedding without opening it; None stands for what is not known.

    A damaged one has a ``problem`` and nothing but its name, size (bytes on disk) and folder. Built-in ones
    have neither size nor folder. Most fields are those of ``meta.json`` (``stored.Meta``). ``linear_map``
    tells how the vectors were made from those of another embedding, with the digest and the scales of the
    map. ``verified`` is True where the fingerprint was just computed again; ``map_verified`` says whether the
    vectors were too, from those of the other embedding, which must be on this machine. Of an embedding that
    was just restricted, ``absent_from_keep`` and ``absent_from_exclude`` count the words named that the first
    embedding does not have.
    """

    name: str
    words: int | None = None
    dimension: int | None = None
    fingerprint: str | None = None
    cased: bool | None = None
    shadowed: int | None = None
    unknown: str | None = None
    created: str | None = None
    repeated: int | None = None
    source: str | None = None
    source_sha256: str | None = None
    source_format: str | None = None
    licence: str | None = None
    subwords: bool | None = None
    protected: int | None = None
    linear_map: MapOrigin | None = None
    map_digest: str | None = None
    map_scales: tuple[float, ...] | None = None
    problem: str | None = None
    size: int | None = None
    folder: str | None = None
    verified: bool | None = None
    map_verified: bool | None = None
    unprintable: int | None = None
    unprintable_words: tuple[str, ...] | None = None
    cutting: tuple[str, ...] | None = None
    absent_from_keep: int | None = None
    absent_from_exclude: int | None = None

    def to_dict(self) -> dict[str, object]:
        """Return the facts for JSON. What an intact embedding in the store could say, and does not, is
        null."""
        always = ("size", "folder", *(_MAY_BE_UNKNOWN if self.created is not None else ()))
        facts = dataclasses.asdict(self).items()
        return {key: value for key, value in facts if value is not None or key in always}


def describe(name: str = DEFAULT, *, verified: bool = False) -> EmbeddingFacts:
    """Return what is known about a built-in or an installed embedding; ``verified`` computes its fingerprint
    again first.

    :raises EmbeddingNotFound: if nothing is installed under that name.
    :raises MalformedEmbedding: if it is to be verified and its content is not what was stored, or not the map
        of its source.
    """
    facts = _built_in_facts(name) if name in BUILT_IN else info(name)
    if not verified:
        return facts
    verify(name)
    mapped = None if facts.linear_map is None else _verify_map(name)
    return dataclasses.replace(facts, verified=True, map_verified=mapped)


def describe_all() -> list[EmbeddingFacts]:
    """Return what is known about every embedding that can be opened by a name, the built-in ones first."""
    return [*map(_built_in_facts, BUILT_IN), *installed()]


def installed() -> list[EmbeddingFacts]:
    """Return the embeddings in the store by name, damaged ones included, built-in ones not."""
    return [info(name) for name in known_names() if name not in BUILT_IN]


def info(name: str) -> EmbeddingFacts:
    """Return what is known about an installed embedding without opening it."""
    folder = installed_folder(name)
    size = sum(file.stat().st_size for file in folder.iterdir() if file.is_file())
    try:
        meta = read_meta(folder)
        mapped = LinearMap.read(folder, meta.dimension, meta.map_digest) if meta.mapped else None
    except MalformedEmbedding as error:
        return EmbeddingFacts(name=name, problem=error.problem, size=size, folder=str(folder))
    noted = msgspec.structs.asdict(meta)
    del noted["format_version"], noted["mapped"]
    for key in ("unprintable", "unprintable_words", "cutting"):
        noted[key] = noted[key] or None
    return EmbeddingFacts(**noted | _facts_of_map(mapped) | {"name": name}, size=size, folder=str(folder))


def _built_in_facts(name: str) -> EmbeddingFacts:
    known = provenance_of(name)
    learnt = "".join(f"; {what}: {terms}" for what, terms in known.learnt_from.items())
    return EmbeddingFacts(
        name=name,
        words=known.words,
        dimension=known.dimension,
        fingerprint=known.fingerprint,
        cased=known.cased,
        shadowed=len(known.shadowed),
        source=known.title,
        source_sha256=known.source["sha256"],
        licence=known.source["licence"] + learnt,
        **_facts_of_map(None if name == DEFAULT else built_in_map(name)),
    )


def _facts_of_map(mapped: LinearMap | None) -> dict[str, Any]:
    if mapped is None:
        return {}
    scales = tuple(mapped.scales.tolist())
    return {"linear_map": mapped.origin, "map_digest": mapped.digest, "map_scales": scales}


def add(
    path: str | Path,
    name: str,
    *,
    format: str | None = None,  # noqa: A002 - the word users know
    first: int | None = None,
    duplicates: str = "refuse",
    licence: str | None = None,
    report: Report | None = None,
) -> EmbeddingFacts:
    """Read an embedding file in any known format, check it and install it under a name. A failure leaves
    nothing behind.

    ``first`` takes that many words from the start of the file (most files have the frequent words first), and
    then the rest is not looked at. ``duplicates="first"`` keeps the first of repeated words. Words that hold
    control characters, separators of lines or marks of direction are left out and counted.

    :raises EmbeddingExists: if the name is taken.
    :raises InvalidParameter: if a parameter is not allowed or there is no such file.
    :raises MalformedEmbedding: if the file is not a usable embedding.
    :raises MissingExtra: if the format needs a library that is not installed.
    """
    # The readers load Arrow, which opening an embedding does not need.
    from deniable.embeddings.readers import open_embedding_file

    path, target = Path(path), free_place(name)
    first = None if first is None else validated_count(first, "first")
    if duplicates not in DUPLICATES:
        raise InvalidParameter("duplicates", duplicates, f"must be one of {', '.join(DUPLICATES)}")
    drop_repeats = duplicates == "first"
    with stage_folder(target) as folder:
        with open_embedding_file(path, format=format, report=report, work=folder) as raw:
            taken = take_in(raw, folder / VECTORS, source=path, first=first, drop_repeats=drop_repeats)
            if raw.subwords is not None:
                raw.subwords.save(folder)
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        write_content(
            folder,
            taken.words,
            taken.unknown,
            name=name,
            repeated=taken.repeated,
            unprintable=taken.unprintable,
            source=path.name,
            source_sha256=digest,
            source_format=raw.format,
            licence=licence,
        )
    return info(name)


def licence_of(fingerprint: str, name: str) -> str | None:
    """Return the note on the licence of an embedding on this machine: what is made of it is under the
    same."""
    known = find_by_fingerprint(fingerprint, first=name)
    return None if known is None else describe(known).licence


def save(
    embedding: Embedding, name: str, *, source: str | None = None, licence: str | None = None
) -> EmbeddingFacts:
    """Install an embedding that is in memory under a name; ``source`` says where it comes from, in words.

    :raises EmbeddingExists: if the name is taken.
    :raises InvalidParameter: if the name is not allowed.
    """
    target = free_place(name)
    with stage_folder(target) as folder:
        np.save(folder / VECTORS, np.ascontiguousarray(embedding.vectors, dtype="<f4"), allow_pickle=False)
        if embedding.subwords is not None:
            embedding.subwords.save(folder)
        write_content(
            folder,
            list(embedding.words),
            embedding.unknown,
            origin=embedding.unknown_origin,
            name=name,
            source=source,
            licence=licence,
            protection=embedding.protection,
            linear_map=embedding.linear_map,
        )
    return info(name)


def install_restricted(
    name: str,
    new_name: str,
    *,
    keep: Iterable[str] | None = None,
    exclude: Iterable[str] | None = None,
    first: int | None = None,
    common_with: str | None = None,
) -> EmbeddingFacts:
    """Install a part of an embedding, as ``restrict`` makes it, under a new name; ``common_with`` is the name
    of another one.

    :raises EmbeddingExists: if the new name is taken.
    """
    free_place(new_name)
    embedding = Embedding.open(name)
    other = None if common_with is None else Embedding.open(common_with)
    keep, exclude = (None if words is None else set(words) for words in (keep, exclude))
    smaller = restrict(embedding, keep=keep, exclude=exclude, first=first, common_with=other)
    source = f"restricted from {name} ({embedding.fingerprint})"
    saved = save(smaller, new_name, source=source, licence=licence_of(embedding.fingerprint, name))
    absent, unlisted = (sum(word not in embedding for word in words or ()) for words in (keep, exclude))
    return dataclasses.replace(saved, absent_from_keep=absent, absent_from_exclude=unlisted)


def remove(name: str) -> None:
    """Remove an installed embedding, damaged or not.

    :raises EmbeddingNotFound: if nothing is installed under that name.
    :raises InvalidParameter: if it comes with the package.
    """
    if name.lower() in BUILT_IN:
        raise InvalidParameter("name", name, "comes with the package and cannot be removed")
    remove_folder(installed_folder(name))


def verify(name: str) -> str:
    """Return the fingerprint of a stored embedding, computed again from its files.

    :raises MalformedEmbedding: if what was noted when the embedding was stored (the fingerprint, words that
        share a vector, whether case is told) is not true of the content.
    """
    embedding = Embedding.open(name)
    place, advice = embedding.folder or name, "it was changed; remove it and add it again"
    computed = embedding.compute_fingerprint()
    if computed != embedding.fingerprint:
        problem = f"its content has the fingerprint {computed}, not {embedding.fingerprint}"
        raise MalformedEmbedding(place, f"{problem}: {advice}")
    shadowed = shadowed_rows(embedding.vectors)
    if is_cased(embedding.words_as_stored) != embedding.cased or not np.array_equal(
        shadowed, embedding.shadowed
    ):
        problem = "what was noted about its content (shadowed words, case) is not true"
        raise MalformedEmbedding(place, f"{problem}: {advice}")
    return computed


def _verify_map(name: str) -> bool:
    """Compute the vectors again from those that the map is of; False if these are not on this machine."""
    embedding = Embedding.open(name)
    if embedding.linear_map is None:
        return False
    origin = embedding.linear_map.origin
    source = find_by_fingerprint(origin.source_fingerprint, first=origin.source)
    if source is None:
        return False
    if not is_mapped_from(embedding, Embedding.open(source)):
        problem = f"its vectors are not those of {source!r} under the map that it states"
        raise MalformedEmbedding(embedding.folder or name, f"{problem}; remove it and make it again")
    return True
