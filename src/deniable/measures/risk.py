"""Risk levels: an ε by what a reader can name, and not by its number.

A level is the share of the words of English text that a reader of single released words names at most (``bayes_bound``), at the counts
that come with the package. They are public, so that ε says nothing of the private text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from deniable.decoding.priors import in_english
from deniable.embeddings.embedding import Embedding
from deniable.errors import InvalidParameter
from deniable.measures.bayes_bound import Words, largest_epsilon
from deniable.measures.estimate import Estimate
from deniable.mechanisms.catalogue import ChosenMechanism

LEVELS = {"low": 0.08, "medium": 0.17, "high": 0.33}
"""The shares that the names of levels stand for; blind guessing names 5.6 %."""

IN_ENGLISH = "words as frequent as in English books (Google Books 2010 to 2019)"


@dataclass(frozen=True, kw_only=True)
class Risk:
    """The ε that a level gives, and the Bayes bound there."""

    at_most: float
    epsilon: float
    bound: Estimate

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        return {"named_at_most": self.at_most, "epsilon": self.epsilon, "bayes_bound": self.bound.to_dict()}


def epsilon_of_risk(made: ChosenMechanism, embedding: Embedding, level: str | float) -> Risk:
    """Return the largest ε at which no reader of single words names more than a share of the words of English text.

    :raises InvalidParameter: if the level is neither a name nor a share, the embedding is not English, or the bound is not known.
    :raises TargetsNotMet: if blind guessing names more.
    """
    at_most = share_of(level)
    epsilon, bound = largest_epsilon(made, embedding, english_words(embedding), at_most)
    return Risk(at_most=at_most, epsilon=epsilon, bound=bound)


def share_of(level: str | float) -> float:
    """Return the share that a level stands for: low, medium, high, or a share itself.

    :raises InvalidParameter: if it is none of these.
    """
    try:
        share = LEVELS[level] if level in LEVELS else float(level)
    except (TypeError, ValueError):
        share = -1.0
    if isinstance(level, bool) or not 0.0 < share < 1.0:
        raise InvalidParameter("risk", level, f"must be {', '.join(LEVELS)}, or a share between 0 and 1 such as 0.08")
    return share


def english_words(embedding: Embedding) -> Words:
    """Return the words of an embedding as frequent as they are in English.

    :raises InvalidParameter: if the embedding knows less than half of the words of English text.
    """
    shares = in_english(embedding)
    if shares is None:
        problem = "does not hold the words of English text, the only language whose counts come with the package: give epsilon"
        raise InvalidParameter("embedding", embedding.name, problem)
    return Words(shares=shares, in_words=IN_ENGLISH)
