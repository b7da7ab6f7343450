"""A public linear map of an embedding: φ'(w) = A·φ(w), for every word, for ⊥ and for the parts of words.

The guarantee holds in the metric of whatever public vectors are used, so on φ' it holds with d'(w, w') =
‖A(φ(w) − φ(w'))‖. A is a free public choice, and it decides what survives the noise. It must not depend on
the text that is to be protected: vectors are handed over, and A can be computed from those before and after.

The rows of A are orthonormal but for one stated scale each. There is no constant: it would change no
distance. The map is applied in float64, one coordinate after the other, in operations that round alike on
every machine; so the same map makes the same embedding, with the same fingerprint, everywhere. Matrix
products of a BLAS would not.

Beside the vectors of a stored embedding, ``map.json`` says from what it was mapped and how, and ``map.npy``
has the axes. The vectors do not depend on these files: they are for people, and for anybody who checks that
the vectors are what they say. The digest of the map covers all that is stated, and stands in ``meta.json``,
in receipts and on cards too: another origin has another digest.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import numpy as np
from msgspec import Meta

from deniable.arrays import Floats, Vectors
from deniable.atomic import read_plain_file
from deniable.embeddings.npy import open_array
from deniable.errors import InvalidParameter, MalformedEmbedding, printable

MAP, AXES = "map.json", "map.npy"

STEP = 2.0**-20
"""Coordinates of axes are multiples of this: what two machines compute a little differently becomes the same
map. Float32 holds them."""

MOST_PURPOSES, MOST_CLASSES = 20, 500
"""What is noted of public texts has to stay readable; more labels than this are hardly classes, but names,
dates or numbers."""

WEAKEST, STRONGEST = 0.01, 1000.0
"""The smallest and the largest strength of a purpose; with a smaller one nothing of it would survive."""

LONGEST_NAME, LONGEST_LABEL = 200, 100
"""Longer names and labels are cut: they stand on cards."""

_ROWS_AT_ONCE = 8_192
_CLASSES_SHOWN = 10
_FORMAT = 1
_LONGEST_FILE = _MOST_NUMBERS = 1 << 24
_NOT_ORTHONORMAL = 1e-4

LabelKind = Literal["classes", "numbers"]

# What may stand in a file that somebody else wrote: checked when it is read.
_Count = Annotated[int, Meta(ge=0, lt=1 << 53)]
_Positive = Annotated[int, Meta(ge=1, lt=1 << 53)]
_Fingerprint = Annotated[str, Meta(pattern=r"^[0-9a-f]{32}\Z")]


@dataclass(frozen=True, kw_only=True)
class PublicData:
    """Public labelled texts that a space was shaped by, and how many directions they gave.

    ``column`` names the labels, where they came from a file. ``sha256`` is the digest of the file, or of the
    labels and texts where there was none. ``texts`` were learnt from, and ``left_out`` had no label or no
    known word. ``classes`` are the labels, where they are no numbers. Where the texts are a part of those
    with a label, they were drawn from ``drawn_from`` texts with the public ``seed``. Names and labels are
    cut, and what does not show is written out.
    """

    name: str
    column: str | None = None
    sha256: Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z")]
    texts: _Count
    left_out: _Count
    labels: LabelKind
    classes: Annotated[tuple[str, ...], Meta(max_length=MOST_CLASSES)] = ()
    directions: _Positive
    drawn_from: _Count | None = None
    seed: _Count | None = None

    def __post_init__(self) -> None:
        """Make names and labels fit to be shown, no matter who wrote them."""
        object.__setattr__(self, "name", _shown(self.name, LONGEST_NAME))
        if self.column is not None:
            object.__setattr__(self, "column", _shown(self.column, LONGEST_LABEL))
        object.__setattr__(self, "classes", tuple(_shown(label, LONGEST_LABEL) for label in self.classes))

    @property
    def purpose(self) -> str:
        """What the labels are, in words."""
        named = "" if self.column is None else f" “{self.column}”"
        if self.labels == "numbers":
            return f"the number{named} that labels {self.name}"
        more = ["…"] if len(self.classes) > _CLASSES_SHOWN else []
        shown = ", ".join([*self.classes[:_CLASSES_SHOWN], *more])
        return f"the label{named} of {self.name} ({len(self.classes)} classes: {shown})"

    def in_words(self) -> str:
        """Return what survives by design, and which public texts it was learnt from."""
        left_out = f", {self.left_out:,} left out" if self.left_out else ""
        drawn = ""
        if self.drawn_from is not None:
            drawn = f" (drawn from {self.drawn_from:,} with the seed {self.seed})"
        return (
            f"survives by design: {self.purpose}, learnt from {self.texts:,} public "
            f"texts{drawn}{left_out}, sha256 {self.sha256}"
        )


@dataclass(frozen=True, kw_only=True)
class MapOrigin:
    """How a map was made: from which embedding, and of what.

    ``dimension`` counts its principal axes. ``public``, ``strength`` and ``directions`` are those of a shaped
    space: the directions of all its purposes together, without those that repeat others.
    """

    kind: Literal["reduced", "shaped"]
    source: str
    source_fingerprint: _Fingerprint
    dimension: _Count
    strength: Annotated[float, Meta(gt=0.0, le=STRONGEST)] | None = None
    directions: _Count = 0
    public: Annotated[tuple[PublicData, ...], Meta(max_length=MOST_PURPOSES)] = ()

    def __post_init__(self) -> None:
        """Make the name of the source fit to be shown."""
        object.__setattr__(self, "source", _shown(self.source, LONGEST_NAME))

    def in_words(self) -> list[str]:
        """Return what was done in sentences: what the space was made from, and what survives the noise by
        design."""
        axes = f"its {self.dimension} principal axes"
        if self.kind == "reduced":
            return [f"{self.source} ({self.source_fingerprint}) reduced to {axes}"]
        beside = (
            f"{self.directions} direction{'s' if self.directions != 1 else ''} of a declared purpose, "
            f"of strength {self.strength:g}"
        )
        made = f"{self.source} ({self.source_fingerprint}) shaped: {axes} beside {beside}"
        if not self.dimension:
            made = f"{self.source} ({self.source_fingerprint}) shaped: {beside}, and nothing else survives"
        return [made, *(each.in_words() for each in self.public)]


@dataclass(frozen=True, kw_only=True, eq=False)
class LinearMap:
    """A public map: orthonormal ``axes``, one a row, each with a scale, and how they were found."""

    axes: Vectors
    scales: Floats
    origin: MapOrigin

    @classmethod
    def of(cls, axes: Floats, scales: Floats, origin: MapOrigin) -> LinearMap:
        """Return the map of these axes and scales, rounded to what is stored: see ``STEP``; scales have six
        digits."""
        rounded = np.array([float(f"{scale:.6g}") for scale in scales])
        return cls(axes=(np.round(axes / STEP) * STEP).astype(np.float32), scales=rounded, origin=origin)

    @property
    def matrix(self) -> Floats:
        """A as a whole: one row a coordinate of the mapped space."""
        product: Floats = self.scales[:, None] * self.axes.astype(np.float64)
        return product

    @cached_property
    def digest(self) -> str:
        """A digest of axes, scales and origin, the same on every machine: cards and receipts name the map by
        it."""
        digest = hashlib.blake2b(digest_size=16, person=b"deniable-map-1")
        digest.update(f"{self.axes.shape[0]} {self.axes.shape[1]}\n".encode())
        digest.update(np.ascontiguousarray(self.axes, dtype="<f4").data)
        digest.update(np.ascontiguousarray(self.scales, dtype="<f8").data)
        digest.update(msgspec.json.encode(_noted(self.origin), order="sorted"))
        return digest.hexdigest()

    def apply(self, vectors: Vectors) -> Vectors:
        """Return A·v for every row v.

        :raises InvalidParameter: if the rows have another dimension than the map is for.
        """
        if vectors.ndim != 2 or vectors.shape[1] != self.axes.shape[1]:
            problem = f"must be a table of vectors of {self.axes.shape[1]} coordinates"
            raise InvalidParameter("vectors", vectors.shape, problem)
        matrix, mapped = self.matrix, np.empty((len(vectors), len(self.axes)), dtype=np.float32)
        for start in range(0, len(vectors), _ROWS_AT_ONCE):
            columns = np.ascontiguousarray(vectors[start : start + _ROWS_AT_ONCE].T, dtype=np.float64)
            sums = np.zeros((len(matrix), columns.shape[1]))
            product = np.empty_like(sums)
            for place, column in enumerate(columns):
                sums += np.multiply.outer(matrix[:, place], column, out=product)
            mapped[start : start + _ROWS_AT_ONCE] = sums.T
        return mapped

    def save(self, folder: Path) -> None:
        """Write the map into the folder of an embedding that is being stored."""
        scales = tuple(self.scales.tolist())
        written = MapFile(format_version=_FORMAT, origin=self.origin, scales=scales, digest=self.digest)
        (folder / MAP).write_bytes(msgspec.json.format(msgspec.json.encode(written)))
        np.save(folder / AXES, np.ascontiguousarray(self.axes, dtype="<f4"), allow_pickle=False)

    @classmethod
    def read(cls, folder: Path, dimension: int, digest: str | None) -> LinearMap:
        """Return how the embedding in a folder was mapped; ``digest`` is what its description says of the
        map.

        :raises MalformedEmbedding: if a file is missing, cannot be read, says something that cannot be, or
            was changed.
        """

        def damaged(path: Path, problem: str) -> MalformedEmbedding:
            advice = "the stored copy is damaged; remove the embedding and make it again"
            return MalformedEmbedding(path, f"{problem}: {advice}")

        content = read_plain_file(folder / MAP, longest=_LONGEST_FILE, what="map", error=damaged)
        try:
            stated = msgspec.json.decode(content, type=MapFile)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise damaged(folder / MAP, f"cannot be read ({error})") from error
        if stated.format_version != _FORMAT:
            problem = f"is in format {stated.format_version}, which this deniable does not read ({_FORMAT})"
            raise MalformedEmbedding(folder / MAP, f"{problem}; upgrade deniable")
        if (wrong := _problem(stated, dimension)) is not None:
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
        linear_map = cls(axes=axes, scales=np.array(stated.scales), origin=stated.origin)
        for file, said in ((MAP, stated.digest), ("meta.json", digest)):
            if linear_map.digest != said:
                problem = f"the map has the digest {linear_map.digest}, and {file} says {said}"
                raise damaged(folder / file, problem)
        return linear_map


class MapFile(msgspec.Struct, frozen=True, kw_only=True):
    """What ``map.json`` says: how the map was made, the scale of each axis, and the digest of axes, scales
    and origin."""

    format_version: int
    origin: MapOrigin
    scales: tuple[Annotated[float, Meta(gt=0.0)], ...]
    digest: str


def _noted(origin: MapOrigin) -> dict[str, Any]:
    """Return what is known of a map; maps that were made before columns were noted keep their digest."""
    noted: dict[str, Any] = msgspec.to_builtins(origin)
    noted["public"] = [
        {name: value for name, value in each.items() if name != "column" or value is not None}
        for each in noted["public"]
    ]
    return noted


def _shown(name: str, longest: int) -> str:
    """Return a name that does not act on a terminal or fill a card."""
    return printable(name[:longest])[:longest]


def _problem(stated: MapFile, dimension: int) -> str | None:
    origin = stated.origin
    if len(stated.scales) != dimension or not all(map(math.isfinite, stated.scales)):
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
    largest = np.abs(axes).max(initial=0.0)
    if not axes.shape[1] or not largest <= 1.0 + _NOT_ORTHONORMAL:  # NaN is no smaller than anything
        return False
    wide = axes.astype(np.float64)
    return bool(np.abs(wide @ wide.T - np.eye(len(wide))).max() < _NOT_ORTHONORMAL)
