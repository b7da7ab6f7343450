"""The files that tell how a stored embedding was mapped: ``map.json`` says from what and by what, ``map.npy``
has the axes.

The vectors do not depend on them: they are for people, and for anybody who checks that the vectors are what
they say. The digest of the map covers all that is stated, and stands in ``meta.json``, in receipts and on
cards too: another origin has another digest.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import msgspec
import numpy as np

from deniable.arrays import Vectors
from deniable.atomic import read_plain_file
from deniable.embeddings.linear_map import LinearMap, MapOrigin
from deniable.embeddings.npy import open_array
from deniable.errors import MalformedEmbedding

MAP, AXES = "map.json", "map.npy"
FORMAT = 1

_LONGEST = 1 << 24
_MOST_NUMBERS = 1 << 24
_NOT_ORTHONORMAL = 1e-4
_DAMAGED = "the stored copy is damaged; remove the embedding and make it again"


class MapFile(msgspec.Struct, frozen=True, kw_only=True):
    """What ``map.json`` says: how the map was made, the scale of each axis, and the digest of axes, scales
    and origin."""

    format_version: int
    origin: MapOrigin
    scales: tuple[Annotated[float, msgspec.Meta(gt=0.0)], ...]
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

    def damaged(path: Path, problem: str) -> MalformedEmbedding:
        return MalformedEmbedding(path, f"{problem}: {_DAMAGED}")

    content = read_plain_file(folder / MAP, longest=_LONGEST, what="map", error=damaged)
    try:
        found = msgspec.json.decode(content, type=MapFile)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise damaged(folder / MAP, f"cannot be read ({error})") from error
    if found.format_version != FORMAT:
        problem = f"is in format {found.format_version}, which this deniable does not read ({FORMAT})"
        raise MalformedEmbedding(folder / MAP, f"{problem}; upgrade deniable")
    if (wrong := _problem(found, dimension)) is not None:
        raise damaged(folder / MAP, wrong)
    try:
        there = open_array(folder / AXES, "<f4", (dimension, None), mapped=True)
        if there.size > _MOST_NUMBERS:
            raise ValueError(f"it has {there.shape[1]:,} columns")
        axes: Vectors = np.array(there)
    except (OSError, ValueError) as error:
        raise damaged(folder / AXES, f"cannot be read ({error})") from error
    if not _are_orthonormal(axes):
        raise damaged(folder / AXES, "holds axes that are not orthonormal")
    linear_map = LinearMap(axes=axes, scales=np.array(found.scales), origin=found.origin)
    for file, stated in ((MAP, found.digest), ("meta.json", digest)):
        if linear_map.digest != stated:
            raise damaged(
                folder / file, f"the map has the digest {linear_map.digest}, and {file} says {stated}"
            )
    return linear_map


def _problem(found: MapFile, dimension: int) -> str | None:
    origin = found.origin
    if len(found.scales) != dimension or not all(map(math.isfinite, found.scales)):
        return f"must state {dimension} finite scales greater than 0"
    if origin.kind == "reduced" and origin.dimension < 1:  # a shaped space may be its purpose alone
        return "states a number that cannot be"
    for each in origin.public:
        drawn = each.drawn_from
        if (drawn is None) != (each.seed is None) or (drawn is not None and each.texts > drawn):
            return "states a number that cannot be"
    shaped = origin.kind == "shaped"
    if shaped != bool(origin.public) or shaped != (origin.strength is not None):
        return "states a purpose without a strength, or a strength without a purpose"
    alone = [each.directions for each in origin.public]
    learnt = max(alone, default=0) <= origin.directions <= sum(alone)
    if origin.dimension + origin.directions != dimension or not learnt:
        return f"states axes and directions that do not make up its {dimension} dimensions"
    return None


def _are_orthonormal(axes: Vectors) -> bool:
    if (
        not axes.shape[1]
        or not np.isfinite(axes).all()
        or np.abs(axes).max(initial=0.0) > 1.0 + _NOT_ORTHONORMAL
    ):
        return False
    wide = axes.astype(np.float64)
    return bool(np.abs(wide @ wide.T - np.eye(len(wide))).max() < _NOT_ORTHONORMAL)
