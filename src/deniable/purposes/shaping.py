"""Shapes a space for a declared purpose: words that differ for it are far apart, words that do not lie close
together and hide one another.

The directions of the purpose are scaled to a ``strength`` times the spread of the first principal axis of
what is left, and stand beside the first principal axes of it. The guarantee holds in the metric of the shaped
vectors, like in that of any others. What was learnt from becomes public with them: so only public text may
shape a space.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from deniable.arrays import Floats
from deniable.embeddings.derived import check_mappable, map_embedding
from deniable.embeddings.embedding import Embedding
from deniable.embeddings.linear_map import MOST_PURPOSES, STRONGEST, WEAKEST, LinearMap, MapOrigin, PublicData
from deniable.errors import InvalidParameter, TaskDataError
from deniable.parameters import validated_count
from deniable.progress import Report
from deniable.purposes.directions import PurposeDirections, join_directions, learn_directions
from deniable.purposes.principal import covariance, principal_axes
from deniable.purposes.public_texts import PublicTexts

STRENGTH = 4.0
"""How far a purpose spreads words by default; see docs/research/purpose.md, "Dimension and
strength"."""

PUBLIC_ONLY = (
    "the labelled texts must be public: the vectors are handed over, and the directions learnt from the "
    "texts can be computed from them. "
    "Shaping by the text that is to be protected breaks the guarantee"
)


def shape(
    embedding: Embedding,
    public: Sequence[PublicTexts],
    *,
    dimension: int = 16,
    strength: float = STRENGTH,
    name: str | None = None,
    report: Report | None = None,
) -> Embedding:
    """Return the embedding shaped by public labelled texts: ``dimension`` principal axes beside the
    directions of the purposes. With 0 axes nothing but the purposes survives.

    Each of ``public`` is a purpose. ``report`` receives how many of their texts were cut.

    :raises InvalidParameter: if a number is not allowed, there is no purpose, there are not that many axes,
        or words are protected.
    :raises TaskDataError: if nothing can be learnt from the texts.
    :raises MissingExtra: if scikit-learn is not installed.
    """
    check_mappable(embedding)
    dimension = validated_count(dimension, "dimension", at_least=0)
    strength = validated_strength(strength)
    if not public:
        raise InvalidParameter("public", "nothing", "give public labelled texts for at least one purpose")
    if len(public) > MOST_PURPOSES:
        problem = f"a space is made for at most {MOST_PURPOSES} purposes"
        raise InvalidParameter("public", f"{len(public)} files", problem)
    if len({(texts.sha256, texts.column) for texts in public}) < len(public):
        problem = "the same labels of the same texts are given twice; a purpose is named once"
        raise InvalidParameter("public", [texts.source for texts in public], problem)
    total, before, learnt = sum(len(texts.texts) for texts in public), 0, []
    for texts in public:
        part = None if report is None else _shifted(report, before, total)
        learnt.append(learn_directions(embedding, texts, report=part))
        before += len(texts.texts)
    linear_map = map_of_directions(embedding, public, learnt, dimension=dimension, strength=strength)
    return map_embedding(embedding, linear_map, name=name)


def map_of_directions(
    embedding: Embedding,
    public: Sequence[PublicTexts],
    learnt: Sequence[PurposeDirections],
    *,
    dimension: int,
    strength: float,
    spread: Floats | None = None,
) -> LinearMap:
    """Return the map for directions that were learnt already; ``spread`` is the covariance of the words, for
    who makes many maps.

    :raises InvalidParameter: if there are not that many axes beside them.
    :raises TaskDataError: if all words are alike along one of them.
    """
    spread = covariance(embedding) if spread is None else spread
    directions = join_directions([each.axes for each in learnt])
    along = np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", directions, spread, directions), 0.0))
    if (along <= 1e-6 * math.sqrt(max(float(np.trace(spread)), 0.0))).any():
        problem = "all words of the embedding are alike along a direction of the purpose"
        raise TaskDataError(public[0].source, f"{problem}; use an embedding with more words")
    axes = principal_axes(spread, max(dimension, 1), besides=directions)
    first = math.sqrt(float(axes[0] @ spread @ axes[0]))
    axes = axes[:dimension]
    scales = np.concatenate([np.ones(dimension), strength * first / along])
    origin = MapOrigin(
        kind="shaped",
        source=embedding.name,
        source_fingerprint=embedding.fingerprint,
        dimension=dimension,
        strength=strength,
        directions=len(directions),
        public=tuple(_noted(texts, found) for texts, found in zip(public, learnt, strict=True)),
    )
    return LinearMap.of(np.concatenate([axes, directions]), scales, origin)


def validated_strength(value: float) -> float:
    """Return the strength if it is a number between a hundredth and a thousand.

    :raises InvalidParameter: otherwise.
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not WEAKEST <= value <= STRONGEST:
        problem = f"must be a number between {WEAKEST:g} and {STRONGEST:g}, such as {STRENGTH:g}"
        raise InvalidParameter("strength", value, problem)
    return float(value)


def _noted(texts: PublicTexts, found: PurposeDirections) -> PublicData:
    return PublicData(
        name=texts.source,
        column=texts.column,
        sha256=texts.sha256,
        texts=found.texts,
        left_out=texts.left_out + len(texts.texts) - found.texts,
        labels=texts.kind,
        classes=found.classes,
        directions=len(found.axes),
        drawn_from=texts.drawn_from,
        seed=texts.seed,
    )


def _shifted(report: Report, before: int, total: int) -> Report:
    return lambda done, _: report(before + done, total)
