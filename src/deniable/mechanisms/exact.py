"""Mechanisms that can sum their own distribution: what a word becomes is known exactly, without any draw."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np

from deniable.arrays import Floats, Ids


class ExactSums(ABC):
    """Knows the probability of every output. Several ε at once share what does not depend on ε, such as distances."""

    sums_its_own_draws: bool = True
    """Whether the sums are those of what is drawn: a class that draws in a way of its own must sum in a way of its own."""

    def __init_subclass__(cls, **options: Any) -> None:
        """Trust no sums that a class inherited while it draws in another way."""
        super().__init_subclass__(**options)
        if {"perturb", "draw"} & vars(cls).keys():
            cls.sums_its_own_draws = "distributions" in vars(cls)

    @property
    @abstractmethod
    def epsilon(self) -> float:
        """The mechanism's own ε."""

    @abstractmethod
    def distributions(self, ids: Ids, epsilons: Floats) -> Iterator[tuple[Ids, Floats]]:
        """Yield for each input id the words that can be released and their exact probabilities, a row for each ε."""

    def probabilities(self, ids: Ids) -> Iterator[tuple[Ids, Floats]]:
        """Yield for each input id the words that can be released and their exact probabilities at the mechanism's ε."""
        for outputs, chances in self.distributions(ids, np.array([self.epsilon])):
            yield outputs, chances[0]
