"""The spaces that are tried: the embedding as it is, reduced, and shaped with several numbers of axes and
strengths."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypedDict

from deniable.embeddings.derived import check_mappable, map_embedding
from deniable.embeddings.embedding import Embedding
from deniable.purposes.directions import learn_directions
from deniable.purposes.principal import covariance, reduce
from deniable.purposes.public_texts import PublicTexts
from deniable.purposes.shaping import map_of_directions


class SpaceFacts(TypedDict):
    """What findings say of a space."""

    name: str
    dimension: int | None
    strength: float | None


@dataclass(frozen=True, kw_only=True)
class Space:
    """A space to try; ``dimension`` counts its principal axes and is None for the embedding as it is,
    ``strength`` if it is not shaped."""

    embedding: Embedding = field(repr=False)
    dimension: int | None = None
    strength: float | None = None

    @property
    def name(self) -> str:
        """What it is, in a few words."""
        if self.dimension is None:
            return "as it is"
        if self.strength is None:
            return f"reduced to {self.dimension} axes"
        return f"{self.dimension} axes and the purpose, strength {self.strength:g}"

    def facts(self) -> SpaceFacts:
        """Return which space it is, for findings."""
        return {"name": self.name, "dimension": self.dimension, "strength": self.strength}


def make_spaces(
    embedding: Embedding, public: PublicTexts, dimensions: Sequence[int], strengths: Sequence[float]
) -> list[Space]:
    """Return the spaces to try: the embedding as it is, and shaped by the texts with each number of axes and
    each strength.

    :raises InvalidParameter: if there are not that many axes, or words are protected.
    :raises TaskDataError: if nothing can be learnt from the texts.
    :raises MissingExtra: if scikit-learn is not installed.
    """
    check_mappable(embedding)
    learnt, spread, spaces = (
        learn_directions(embedding, public),
        covariance(embedding),
        [Space(embedding=embedding)],
    )
    for dimension in dimensions:
        for strength in strengths:
            linear_map = map_of_directions(
                embedding, [public], [learnt], dimension=dimension, strength=strength, spread=spread
            )
            spaces.append(
                Space(embedding=map_embedding(embedding, linear_map), dimension=dimension, strength=strength)
            )
    return spaces


def reduced_beside(shaped: Space, embedding: Embedding) -> Space:
    """Return the embedding reduced to as many axes as a shaped space has beside its purpose: what the purpose
    adds is seen against it."""
    dimension = shaped.dimension or embedding.dimension
    return Space(embedding=reduce(embedding, dimension), dimension=dimension)
