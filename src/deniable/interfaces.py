"""The three seams of deniable: what a mechanism, a neighbour search and a source of randomness look like.

Text, records, services, audits and experiments are written against these, so any implementation fits
anywhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from deniable.arrays import Floats, Ids, Vectors

if TYPE_CHECKING:
    from deniable.embeddings.embedding import Embedding


class Randomness(Protocol):
    """Where noise comes from. A mechanism asks for one row of noise per token and never keeps any of it."""

    def normals(self, tokens: int, dimension: int) -> Floats:
        """Return a (tokens, dimension) array of independent standard normal numbers."""
        ...

    def gammas(self, tokens: int, shape: float) -> Floats:
        """Return (tokens,) independent Gamma(shape, 1) numbers."""
        ...

    def uniforms(self, tokens: int, count: int) -> Floats:
        """Return a (tokens, count) array of independent numbers, uniform on [0, 1)."""
        ...

    def for_tokens(self, part: slice) -> Randomness:
        """Return the source for these tokens of the batch that a mechanism was given.

        A mechanism that works through its batch in parts asks for each part's source, and draws all noise of
        the part from that. A source whose noise depends on the token (keyed releases) needs to know which
        ones are meant; the others return themselves.
        """
        ...

    def describe(self) -> Mapping[str, Any]:
        """Say what kind of source this is, for the receipt."""
        ...


class Neighbours(Protocol):
    """Exact nearest words of points in the embedding space. Sees only the point, never the word it came
    from."""

    def nearest(self, queries: Vectors) -> Ids:
        """Return the id of the nearest word of every row of ``queries``; ties go to the lowest id."""
        ...

    def nearest_k(self, queries: Vectors, k: int) -> tuple[Ids, Floats]:
        """Return the ids of the ``k`` nearest words of every row, nearest first, and their distances."""
        ...


METRIC_PRIVACY = "metric differential privacy (d_χ-privacy)"
LOCAL_PRIVACY = "local differential privacy"
RATE_PER_DISTANCE = (
    "This ε is a rate per unit of distance between word vectors. It is not the ε of local differential "
    "privacy and does not compare across embeddings."
)
NOTHING_EXPOSED = "nothing beyond what is listed as public"


@dataclass(frozen=True, kw_only=True)
class Guarantee:
    """What a mechanism really promises, as data and in words.

    ``exposed`` says what an adversary may learn without any bound; ``caveat`` says what this ε must not be
    mistaken for. ``parameters`` hold everything but ε and the embedding that the output distribution depends
    on. ``keeps_words`` is True if known words may come out as they went in outside any bound: an unknown word
    must not go in as one of them.
    """

    notion: str
    metric: str
    epsilon: float
    statement: str
    parameters: Mapping[str, float | str] = field(default_factory=dict)
    exposed: str = NOTHING_EXPOSED
    caveat: str = RATE_PER_DISTANCE
    keeps_words: bool = False


@runtime_checkable
class Mechanism(Protocol):
    """Draws, for each word id, the id of the word that is released in its place."""

    @property
    def embedding(self) -> Embedding:
        """The public embedding whose words go in and come out."""
        ...

    @property
    def epsilon(self) -> float:
        """The privacy parameter per word; per unit of distance too, where the guarantee names a distance."""
        ...

    @property
    def guarantee(self) -> Guarantee:
        """What is promised for one word."""
        ...

    def log_bound(self, first: int, second: int) -> float:
        """Return the promise for two word ids: what ln(Pr[M(first) = y]/Pr[M(second) = y]) never exceeds, for
        any y.

        The same in both directions, 0 for words that are perfectly indistinguishable, infinite where nothing
        is promised. Protected words count as the words that stand in for them.
        """
        ...

    def perturb(self, ids: Ids, randomness: Randomness, *, epsilon: Floats | None = None) -> Ids:
        """Return one released id per input id.

        ``ids`` may hold the unknown word ⊥ (``embedding.unknown_id``); the result never does. ``epsilon``
        gives every token its own privacy parameter in place of the mechanism's. Ids of protected words are
        taken as those of the words that stand in for them. All randomness of a part of the batch comes from
        ``randomness.for_tokens(part)``, asked once, by a number of calls that does not depend on the tokens:
        so a token's noise never depends on its neighbours.
        """
        ...
