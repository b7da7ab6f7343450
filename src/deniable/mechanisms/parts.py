"""What all mechanisms share: a batch of tokens is checked and worked through in parts of bounded size."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from deniable.arrays import Floats, Ids
from deniable.embeddings.embedding import Embedding
from deniable.errors import InvalidParameter
from deniable.interfaces import Guarantee, Randomness
from deniable.noise import RadialNoise
from deniable.parameters import validated_epsilon, validated_epsilons

_NUMBERS_AT_ONCE = 1 << 20
_DRAWING = {"perturb", "draw", "points", "noise"}


class DrawsByParts(ABC):
    """A mechanism that implements ``draw`` for one part of a batch, and has all else from here.

    How its channel is known it declares itself: by ``radial_noise``, or by exact sums (``ExactSums``). Otherwise it is drawn many times.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        """Let no class that draws in a way of its own inherit what its parents declared of their draws."""
        super().__init_subclass__(**options)
        if _DRAWING & vars(cls).keys() and "radial_noise" not in vars(cls):
            cls.radial_noise = DrawsByParts.radial_noise  # type: ignore[method-assign]

    def __init__(self, embedding: Embedding, *, epsilon: float) -> None:
        """Hold the public embedding and ε.

        :raises InvalidParameter: if ``epsilon`` is not a finite number greater than 0.
        """
        self._epsilon = validated_epsilon(epsilon)
        self._embedding = embedding

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
        """The noise, if the word nearest to it is all that is released: rays then tell what words become. None otherwise."""
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
        at_once = max(1, _NUMBERS_AT_ONCE // self._embedding.dimension)
        for start in range(0, len(ids), at_once):
            part = slice(start, min(start + at_once, len(ids)))
            released[part] = self.draw(ids[part], randomness.for_tokens(part), spent[part])
        return released

    def _entering(self, ids: Ids) -> Ids:
        """Return the ids that go in: checked, and those of protected words replaced (which may be done already)."""
        ids = np.asarray(ids)
        if ids.ndim != 1 or ids.dtype.kind not in "iu":
            raise InvalidParameter("ids", f"{ids.dtype} of shape {ids.shape}", "must be a list of whole numbers")
        outside = (ids < 0) | (ids > self._embedding.unknown_id)
        if outside.any():
            # The first of them only: the others may be ids of private words.
            raise InvalidParameter("ids", int(ids[outside.argmax()]), f"must be from 0 to {self._embedding.unknown_id}")
        return self._embedding.stands_in(ids.astype(np.int64, copy=False))

    def _entering_pair(self, first: int, second: int) -> tuple[int, int]:
        entering = self._entering(np.array([first, second], dtype=np.int64))
        return int(entering[0]), int(entering[1])
