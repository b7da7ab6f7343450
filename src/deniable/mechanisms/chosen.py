"""A mechanism that was chosen but not made yet: its name in the catalogue and its options, for work at many values of ε."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from deniable.embeddings.embedding import Embedding
from deniable.interfaces import Mechanism
from deniable.mechanisms.catalogue import make_mechanism
from deniable.mechanisms.multivariate import Multivariate

PAPERS = "multivariate"
"""The paper's mechanism, and the one that is meant where none is named."""


@dataclass(frozen=True, kw_only=True)
class ChosenMechanism:
    """Makes the mechanism of that name at any ε; small, and sent to worker processes. Options are values, or texts as typed."""

    name: str = PAPERS
    options: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def __call__(self, embedding: Embedding, *, epsilon: float) -> Mechanism:
        """Return the mechanism over an embedding.

        :raises InvalidParameter: if the name, an option or ε is not allowed.
        """
        return make_mechanism(self.name, embedding, epsilon=epsilon, options=self.options)

    @property
    def is_papers(self) -> bool:
        """Whether it is the paper's mechanism, which has no options."""
        return self.name == PAPERS

    def identity(self, embedding: Embedding) -> dict[str, Any]:
        """Return everything but ε and the embedding that the draws depend on, defaults included."""
        return identity_of(self(embedding, epsilon=1.0))


def is_papers_mechanism(mechanism: Mechanism) -> bool:
    """Return whether a mechanism is the paper's itself, and not a class derived from it, which may draw otherwise."""
    return type(mechanism) is Multivariate


def identity_of(mechanism: Mechanism) -> dict[str, Any]:
    """Return what mechanisms that draw alike have in common, whatever their ε and embedding: their kind and parameters."""
    kind = type(mechanism)
    return {"mechanism": f"{kind.__module__}.{kind.__qualname__}", "parameters": dict(mechanism.guarantee.parameters)}
