"""A mechanism that was chosen but not made yet: its name in the catalogue and its options, for work at many values of ε."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from deniable.embeddings.embedding import Embedding
from deniable.interfaces import Mechanism
from deniable.mechanisms.catalogue import checked_options, entry_of, make_mechanism, split_options
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


def parse_mechanism(typed: str, *, parameter: str = "mechanism") -> ChosenMechanism:
    """Return a mechanism typed as NAME or NAME:OPTION=VALUE,OPTION=VALUE; its options stay as they were typed.

    >>> parse_mechanism("vickrey:t=0.50,noise=mahalanobis").options
    {'t': '0.50', 'noise': 'mahalanobis'}

    :raises InvalidParameter: if there is no such mechanism or option. ``parameter`` is what errors call the text.
    """
    name, _, rest = typed.partition(":")
    form = "NAME or NAME:OPTION=VALUE, such as rank-smoothing:c=0.1"
    options = split_options(rest.split(",") if rest else (), parameter=parameter, form=form)
    checked_options(entry_of(name), options)
    return ChosenMechanism(name=name, options=options)


def is_papers_mechanism(mechanism: Mechanism) -> bool:
    """Return whether a mechanism is the paper's itself, and not a class derived from it, which may draw otherwise."""
    return type(mechanism) is Multivariate


def identity_of(mechanism: Mechanism) -> dict[str, Any]:
    """Return what mechanisms that draw alike have in common, whatever their ε and embedding: their kind and parameters."""
    kind = type(mechanism)
    return {"mechanism": f"{kind.__module__}.{kind.__qualname__}", "parameters": dict(mechanism.guarantee.parameters)}
