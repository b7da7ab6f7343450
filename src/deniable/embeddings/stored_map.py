"""The files that tell how a stored embedding was mapped: ``map.json`` says from what and by what, ``map.npy``
has the axes.

The vectors do not depend on them: they are for people, and for whoever checks that the vectors are what they
say. The digest of the map covers all that is stated, and stands in ``meta.json``, in receipts and on cards
too: another origin has another digest.
"""

from __future__ import annotations

import math
import re
from pathlib import Path

import msgspec
import numpy as np

from deniable.arrays import Vectors
from deniable.atomic import read_plain_file
from deniable.embeddings.linear_map import (
    MOST_CLASSES,
    MOST_PURPOSES,
    STRONGEST,
    LinearMap,
    MapOrigin,
    PublicData,
)
from deniable.embeddings.npy import open_array
from deniable.errors import MalformedEmbedding

MAP, AXES = "map.json", "map.npy"
FORMAT = 1

_LONGEST = 1 << 24
_MOST_NUMBERS = 1 << 24
_LARGEST = 1 << 53
_SHA256 = re.compile("[0-9a-f]{64}")
_DIGEST = re.compile("[0-9a-f]{32}")
_NOT_ORTHONORMAL = 1e-4
_DAMAGED = "the stored copy is damaged; remove the embedding and make it again"


class MapFile(msgspec.Struct, frozen=True, kw_only=True):
    """What ``map.json`` says: how the map was made, the scale of each axis, and the digest of axes, scales
    and origin."""

    format_version: int
    origin: MapOrigin
    scales: tuple[float, ...]
    digest: str


def write_map(folder: Path, linear_map: LinearMap) -> None:
    """Write a map into the folder of an embedding that is being stored."""
    written = MapFile(
        format_version=FORMAT,
        origin=linear_map.origin,
        scales=tuple(linear_map.scales.tolist()),
        digest=linear_map.digest,
    )
    (folder / MAP).write_bytes(msgspec.json.format(msgspec.json.encode(written)))
    np.save(folder / AXES, np.ascontiguousarray(linear_map.axes, dtype="<f4"), allow_pickle=False)


def read_map(folder: Path, dimension: int, digest: str | None) -> LinearMap:
    """Return how an embedding of this dimension was mapped; ``digest`` is what its description says of the
    map.

    :raises MalformedEmbedding: if a file is missing, cannot be read, says something that cannot be, or was
        changed.
    """
    found = _read_map_file(folder, dimension)
    try:
        there = open_array(folder / AXES, "<f4", (dimension, None), mapped=True)
        if there.size > _MOST_NUMBERS:
            raise ValueError(f"it has {there.shape[1]:,} columns")
        axes: Vectors = np.array(there)
    except (OSError, ValueError) as error:
        raise MalformedEmbedding(folder / AXES, f"cannot be read ({error}): {_DAMAGED}") from error
    if not _are_orthonormal(axes):
        raise MalformedEmbedding(folder / AXES, f"holds axes that are not orthonormal: {_DAMAGED}")
    linear_map = LinearMap(axes=axes, scales=np.array(found.scales), origin=found.origin)
    for file, stated in ((MAP, found.digest), ("meta.json", digest)):
        if linear_map.digest != stated:
            raise MalformedEmbedding(
                folder / file,
                f"the map has the digest {linear_map.digest}, and {file} says {stated}: {_DAMAGED}",
            )
    return linear_map


def _read_map_file(folder: Path, dimension: int) -> MapFile:
    path = folder / MAP

    def damaged(path: Path, problem: str) -> MalformedEmbedding:
        return MalformedEmbedding(path, f"{problem}: {_DAMAGED}")

    content = read_plain_file(path, longest=_LONGEST, what="map", error=damaged)
    try:
        found = msgspec.json.decode(content, type=MapFile)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise MalformedEmbedding(path, f"cannot be read ({error}): {_DAMAGED}") from error
    if found.format_version != FORMAT:
        problem = (
            f"is in format {found.format_version}, which this deniable does not read ({FORMAT}); "
            "upgrade deniable"
        )
        raise MalformedEmbedding(path, problem)
    if (wrong := _problem(found, dimension)) is not None:
        raise MalformedEmbedding(path, f"{wrong}: {_DAMAGED}")
    return found


def _problem(found: MapFile, dimension: int) -> str | None:
    origin = found.origin
    if len(found.scales) != dimension or not all(
        math.isfinite(scale) and scale > 0.0 for scale in found.scales
    ):
        return f"must state {dimension} finite scales greater than 0"
    if _DIGEST.fullmatch(found.digest) is None or _DIGEST.fullmatch(origin.source_fingerprint) is None:
        return "states a digest or a fingerprint that cannot be"
    if any(_SHA256.fullmatch(each.sha256) is None for each in origin.public):
        return "states a digest of public data that cannot be"
    if len(origin.public) > MOST_PURPOSES or any(len(each.classes) > MOST_CLASSES for each in origin.public):
        return f"states more than {MOST_PURPOSES} purposes, or more than {MOST_CLASSES} classes of one"
    fewest = 1 if origin.kind == "reduced" else 0  # a shaped space may be its purpose alone
    if origin.dimension < fewest or origin.directions < 0 or any(map(_has_wrong_number, origin.public)):
        return "states a number that cannot be"
    if (origin.kind == "shaped") != bool(origin.public) or (origin.kind == "shaped") != (
        origin.strength is not None
    ):
        return "states a purpose without a strength, or a strength without a purpose"
    if origin.strength is not None and not 0.0 < origin.strength <= STRONGEST:
        return "states a strength that cannot be"
    alone = [each.directions for each in origin.public]
    if origin.dimension + origin.directions != dimension or not max(
        alone, default=0
    ) <= origin.directions <= sum(alone):
        return f"states axes and directions that do not make up its {dimension} dimensions"
    return None


def _has_wrong_number(data: PublicData) -> bool:
    drawn_from, seed = (0 if number is None else number for number in (data.drawn_from, data.seed))
    if (data.drawn_from is None) != (data.seed is None) or (
        data.drawn_from is not None and data.texts > drawn_from
    ):
        return True
    least = min(
        data.texts, data.left_out, drawn_from, seed, data.directions - 1
    )  # a purpose has one direction or more
    return not 0 <= least <= max(data.texts, data.left_out, drawn_from, seed) < _LARGEST


def _are_orthonormal(axes: Vectors) -> bool:
    if (
        not axes.shape[1]
        or not np.isfinite(axes).all()
        or np.abs(axes).max(initial=0.0) > 1.0 + _NOT_ORTHONORMAL
    ):
        return False
    wide = axes.astype(np.float64)
    return bool(np.abs(wide @ wide.T - np.eye(len(wide))).max() < _NOT_ORTHONORMAL)
