"""What mechanisms are made of.

- ``DrawsByParts``: a batch of tokens is checked and worked through in parts of bounded size. All mechanisms
  share it.
- ``NearestWord``: noise is added to the vector of the word, and a function of the noisy point alone is
  released. Whatever happens after the noise is post-processing: it keeps the bound between the densities of
  the noisy points of two words. The search never sees the word that the point came from.
- ``ExactSums``: a mechanism that can sum its own distribution: what a word becomes is known exactly, without
  any draw.

A mechanism declares how its channel is known, and ``method_of`` is the one place where that is decided:

- ``exact``: the mechanism sums its own distribution (the softmax family, CusText, the line, randomised
  response); nothing is estimated.
- ``rays``: it releases the word nearest to noise that is a length times a direction (multivariate,
  Mahalanobis, Gaussian). One walk along a direction tells the released word for every length, and so for
  every ε.
- ``simulation``: all others (Vickrey, rank smoothing, mechanisms of your own), by draws of the mechanism
  itself.

A class that draws in a way of its own does not inherit the declaration.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, Literal

import numpy as np

from deniable.arrays import Floats, Ids, Vectors
from deniable.embeddings.embedding import Embedding
from deniable.errors import InvalidParameter
from deniable.interfaces import METRIC_PRIVACY, Guarantee, Mechanism, Neighbours, Randomness
from deniable.neighbours import best_neighbours
from deniable.neighbours.selection import (
    NoisyNeighbours,
    device_in_use,
    first_of_each,
    released_words,
)
from deniable.noise.randomness import RadialNoise, SecureRandomness
from deniable.parameters import FURTHEST_POINT, validated_epsilon, validated_epsilons
from deniable.progress import check_interrupt

NUMBERS_AT_ONCE = 1 << 20
_TOKENS_AT_ONCE_ON_A_GPU = 1 << 22
_DRAWING = {"perturb", "draw", "points", "noise"}

Method = Literal["exact", "rays", "points", "simulation"]
"""How the channel of a mechanism is known; ``points`` takes the place of ``rays`` in a channel of many words
(``channel.points``)."""


def _draws_otherwise(cls: type, drawing: Iterable[str], declaration: str) -> bool:
    """Return whether a class draws by a class that stands before the one it takes a declaration from."""

    def first_with(name: str) -> int:
        return next((place for place, each in enumerate(cls.__mro__) if name in vars(each)), len(cls.__mro__))

    return any(first_with(name) < first_with(declaration) for name in drawing)


class DrawsByParts(ABC):
    """A mechanism that implements ``draw`` for one part of a batch, and has all else from here.

    How its channel is known it declares itself: by ``radial_noise``, or by exact sums (``ExactSums``).
    Otherwise it is drawn many times.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        """Let no class that draws in a way of its own inherit what its parents declared of their draws."""
        super().__init_subclass__(**options)
        if _draws_otherwise(cls, _DRAWING, "radial_noise"):
            cls.radial_noise = DrawsByParts.radial_noise  # type: ignore[method-assign]

    def __setattr__(self, name: str, value: object) -> None:
        """Refuse to change an option once it is set: receipts and cards describe the mechanism.

        :raises AttributeError: if the attribute is public and has a value.
        """
        if not name.startswith("_") and (
            name in vars(self) or isinstance(getattr(type(self), name, None), property)
        ):
            raise AttributeError(
                f"cannot change {name}: the options of a mechanism are fixed; make a new "
                f"{type(self).__name__}"
            )
        super().__setattr__(name, value)

    def __init__(self, embedding: Embedding, epsilon: float) -> None:
        """Hold the public embedding and ε.

        :raises InvalidParameter: if ``epsilon`` is not a finite number greater than 0.
        """
        self._epsilon = validated_epsilon(epsilon)
        self._embedding = embedding

    def __repr__(self) -> str:
        options = {"ε": f"{self._epsilon:g}", **self.guarantee.parameters}
        shown = ", ".join(f"{name} = {value}" for name, value in options.items())
        return f"<{type(self).__name__}: {shown}, embedding {self._embedding.name!r}>"

    def __getstate__(self) -> dict[str, Any]:
        """Return the options without what is prepared from them: another process prepares its own."""
        return {
            name: value
            for name, value in vars(self).items()
            if not isinstance(getattr(type(self), name, None), cached_property)
        }

    def remember_nothing(self) -> None:  # noqa: B027 - most have nothing to forget
        """Keep nothing of the words that come in between calls: how long a later call takes would tell."""

    @cached_property
    def outputs(self) -> Ids:
        """The ids of all words that can be released, in order."""
        return released_words(self._embedding)

    @cached_property
    def taken_as(self) -> Ids:
        """What each input id is taken as: the first word with its vector; ⊥ is itself."""
        return np.append(first_of_each(self._embedding), self._embedding.unknown_id)

    @property
    def embedding(self) -> Embedding:
        """The public embedding whose words go in and come out."""
        return self._embedding

    @property
    def epsilon(self) -> float:
        """The privacy parameter per word; per unit of distance too, where the guarantee names a distance."""
        return self._epsilon

    @property
    def radial_noise(self) -> RadialNoise | None:
        """The noise, if the word nearest to it is all that is released, so that rays tell the channel."""
        return None

    @property
    @abstractmethod
    def guarantee(self) -> Guarantee:
        """What is promised for one word."""

    @abstractmethod
    def draw(self, ids: Ids, source: Randomness, epsilon: Floats) -> Ids:
        """Return the released ids of one part of a batch, given as checked ids with one ε each.

        All randomness comes from ``source``, by the same calls whatever the tokens are.
        """

    @abstractmethod
    def log_bound(self, first: int, second: int) -> float:
        """Return what ln(Pr[M(first) = y]/Pr[M(second) = y]) never exceeds; see ``Mechanism.log_bound``."""

    def perturb(self, ids: Ids, randomness: Randomness, *, epsilon: Floats | None = None) -> Ids:
        """Return the id of the word released in place of each word; see ``Mechanism.perturb``.

        :raises InvalidParameter: if ``ids`` are no ids, or ``epsilon`` is not one allowed number per id.
        :raises RandomnessError: if no secure noise can be had; nothing is released then.
        """
        ids = self._entering(ids)
        spent = np.full(len(ids), self._epsilon) if epsilon is None else validated_epsilons(epsilon, len(ids))
        released = np.empty(len(ids), dtype=np.int64)
        at_once = self._tokens_at_once(randomness)
        for start in range(0, len(ids), at_once):
            check_interrupt()
            part = slice(start, min(start + at_once, len(ids)))
            released[part] = self.draw(ids[part], randomness.for_tokens(part), spent[part])
        return released

    def _tokens_at_once(self, source: Randomness) -> int:  # noqa: ARG002
        return max(1, NUMBERS_AT_ONCE // self._embedding.dimension)

    def _entering(self, ids: Ids) -> Ids:
        """Return the ids that go in: checked, and those of protected words replaced."""
        ids = np.asarray(ids)
        if ids.ndim != 1 or ids.dtype.kind not in "iu":
            raise InvalidParameter(
                "ids", f"{ids.dtype} of shape {ids.shape}", "must be a list of whole numbers"
            )
        outside = (ids < 0) | (ids > self._embedding.unknown_id)
        if outside.any():
            # The first of them only: the others may be ids of private words.
            raise InvalidParameter(
                "ids", int(ids[outside.argmax()]), f"must be from 0 to {self._embedding.unknown_id}"
            )
        return self._embedding.stands_in(ids.astype(np.int64, copy=False))

    def _entering_pair(self, first: int, second: int) -> tuple[int, int]:
        entering = self._entering(np.array([first, second], dtype=np.int64))
        return int(entering[0]), int(entering[1])


class NearestWord(DrawsByParts):
    """Adds the noise of a subclass to the vector and releases the nearest word."""

    @abstractmethod
    def noise(self, source: Randomness, epsilon: Floats) -> Floats:
        """Return one noise vector for each ε."""

    @cached_property
    def neighbours(self) -> Neighbours:
        """The exact search behind the mechanism, prepared on first use."""
        return best_neighbours(self._embedding)

    def points(self, ids: Ids, source: Randomness, epsilon: Floats) -> Vectors:
        """Return the noisy points of one part of a batch. They must never leave the mechanism."""
        points = self.noise(source, epsilon)
        points += self._embedding.rows(ids)
        return _representable(points)

    def draw(self, ids: Ids, source: Randomness, epsilon: Floats) -> Ids:
        """Return the nearest word of each noisy point."""
        on_gpu = self.on_gpu(source)
        if on_gpu is not None:
            return on_gpu[0].nearest_to_noisy(ids, on_gpu[1], epsilon)
        return self.neighbours.nearest(self.points(ids, source, epsilon))

    def on_gpu(self, source: object) -> tuple[NoisyNeighbours, RadialNoise] | None:
        """Return the search that draws the noise itself, and which noise, if there is one that may.

        It takes the place of the secure source alone: a key or a seed promises the same words again, which
        only the processor keeps. A class that draws in a way of its own declares no noise, and draws it
        itself.
        """
        noise, search = self.radial_noise, self.neighbours
        draws = noise is not None and type(source) is SecureRandomness and isinstance(search, NoisyNeighbours)
        return (search, noise) if draws else None  # type: ignore[return-value]

    def _tokens_at_once(self, source: Randomness) -> int:
        return super()._tokens_at_once(source) if self.on_gpu(source) is None else _TOKENS_AT_ONCE_ON_A_GPU

    def log_bound(self, first: int, second: int) -> float:
        """Return ε times the distance in the metric of the guarantee."""
        return self._log_bound_between(self._difference(first, second))

    def _difference(self, first: int, second: int) -> Floats:
        rows = self._embedding.rows(np.array(self._entering_pair(first, second))).astype(np.float64)
        difference: Floats = rows[0] - rows[1]
        return difference

    @abstractmethod
    def _log_bound_between(self, difference: Floats) -> float:
        """Return the log of the largest ratio of the densities of two points that differ by this."""


def _representable(points: Floats) -> Vectors:
    """Return the points as float32, pulled back along their ray where float32 arithmetic would overflow."""
    furthest = np.abs(points).max(axis=1)
    far = furthest > FURTHEST_POINT
    if far.any():
        points[far] *= (FURTHEST_POINT / furthest[far])[:, None]
    return points.astype(np.float32)


class ExactSums(ABC):
    """Knows the probability of every output. Several ε at once share what does not depend on ε, such as
    distances."""

    sums_its_own_draws: bool = True
    """Whether the sums are those of what is drawn: a class that draws in a way of its own must sum in a way
    of its own."""

    def __init_subclass__(cls, **options: Any) -> None:
        """Trust no sums that a class inherited while it draws in another way."""
        super().__init_subclass__(**options)
        cls.sums_its_own_draws = not _draws_otherwise(cls, {"perturb", "draw"}, "distributions")

    @property
    @abstractmethod
    def epsilon(self) -> float:
        """The mechanism's own ε."""

    @abstractmethod
    def distributions(self, ids: Ids, epsilons: Floats) -> Iterator[tuple[Ids, Floats]]:
        """Yield for each input id the possible outputs and their probabilities, a row for each ε."""

    def probabilities(self, ids: Ids) -> Iterator[tuple[Ids, Floats]]:
        """Yield for each input id the possible outputs and their probabilities at the mechanism's ε."""
        for outputs, chances in self.distributions(ids, np.array([self.epsilon])):
            yield outputs, chances[0]


def method_of(mechanism: Mechanism) -> Method:
    """Return how the channel of a mechanism is known."""
    if exact_sums(mechanism) is not None:
        return "exact"
    return "simulation" if radial_noise(mechanism) is None else "rays"


def exact_sums(mechanism: Mechanism) -> ExactSums | None:
    """Return the mechanism as one that sums what it draws; None if it does not."""
    return mechanism if isinstance(mechanism, ExactSums) and mechanism.sums_its_own_draws else None


def radial_noise(mechanism: Mechanism) -> RadialNoise | None:
    """Return the noise of a mechanism that releases the word nearest to it alone; None for any other."""
    found = getattr(mechanism, "radial_noise", None)
    return found if isinstance(found, RadialNoise) else None


def draws_on_gpu(mechanism: Mechanism, source: object) -> bool:
    """Return whether the device makes the noise by its own generator, in place of this source."""
    if not isinstance(mechanism, NearestWord):
        return False
    # A mechanism keeps the search it began with, whatever is asked for afterwards; one that has none yet is
    # not given one here.
    has_search = "neighbours" in vars(mechanism) or device_in_use() is not None
    return has_search and mechanism.on_gpu(source) is not None


def metric_privacy(
    epsilon: float,
    *,
    metric: str,
    exponent: str,
    where: str = "",
    notion: str = METRIC_PRIVACY,
    parameters: Mapping[str, float | str] | None = None,
) -> Guarantee:
    """Return the guarantee that the odds of any output differ by at most ``exponent`` between any two words,
    known or unknown.

    ``metric`` is the distance in words, and ``where`` says what stands in the exponent.
    """
    return Guarantee(
        notion=notion,
        metric=metric,
        epsilon=epsilon,
        statement=(
            "For any two words w and w', known or unknown, and any output y: Pr[M(w) = y] ≤ "
            f"exp({exponent})·Pr[M(w') = y]{where}; "
            "for texts with the same number of words the exponents add."
        ),
        parameters=parameters or {},
    )
