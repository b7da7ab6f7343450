"""What was found for the words of an embedding under a mechanism: the same questions, however the answers are computed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from deniable.arrays import Floats, Ids
from deniable.calibration.confidence import simultaneous_upper
from deniable.channel.method import Method
from deniable.embeddings.embedding import Embedding
from deniable.mechanisms.chosen import ChosenMechanism


@dataclass(frozen=True, kw_only=True)
class Calibration(ABC):
    """What was found for the words ``ids`` (row i of every array is word ``ids[i]``).

    The statistics that need whole distributions are there at ``epsilons`` only, and None if they were not asked for: ``distinct``
    words among ``rays`` draws, the ``support`` S_w, ``entropies`` (H₀, H₁, H₂, H_∞ in bits), and the standard errors of the last
    two. ``rays`` is the number of directions or draws per word.
    """

    embedding: Embedding
    mechanism: ChosenMechanism
    rays: int
    ids: Ids
    epsilons: Floats
    distinct: Ids | None
    support: Ids | None
    entropies: Floats | None
    folder: Path | None
    support_errors: Floats | None = None
    entropy_errors: Floats | None = None

    @property
    @abstractmethod
    def method(self) -> Method:
        """How the numbers were found: by rays, by exact sums, or by simulation."""

    @abstractmethod
    def unchanged(self, epsilon: float) -> tuple[Floats, Floats]:
        """Return N_w of every word at one ε, and the standard errors."""

    def careful(self, epsilon: float) -> Floats:
        """Return what targets are held against: N_w, or how often its stand-in stays, where a word is protected and that is more."""
        return self.unchanged(epsilon)[0]

    @abstractmethod
    def prepare(self, epsilons: list[float]) -> None:
        """Say which values of ε will be asked about: some things cost less for all of them at once."""

    @property
    def protected(self) -> NDArray[np.bool_]:
        """Which of the words are protected, and go in as others."""
        return np.isin(self.ids, self.embedding.protected)

    @abstractmethod
    def average(self, epsilon: float) -> tuple[float, float]:
        """Return the average of N_w over the words at one ε, and its standard error."""

    @abstractmethod
    def reaching(self, share: float) -> float:
        """Return an ε, of three digits, at which N_w is about this share on average over the words."""

    @abstractmethod
    def span(self, values: int) -> list[float]:
        """Return values of ε from where hardly a word stays to where nearly all do; so many, or those that were measured."""

    def distinct_at(self, epsilon: float) -> Ids | None:
        """Return the distinct words of every word at one ε; None if they were not counted there."""
        known = np.flatnonzero(self.epsilons == epsilon)
        return None if self.distinct is None or not len(known) else self.distinct[:, known[0]]

    def upper(self, means: Floats, errors: Floats) -> Floats:
        """Return what no N_w exceeds, for all words at once and with 95 % confidence."""
        return simultaneous_upper(means, errors, self.rays, words=len(means))
