"""What the results of all audits have in common: how they begin, how they become JSON, and what they
advise."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, TypedDict

from deniable.embeddings.embedding import Embedding
from deniable.errors import InvalidParameter
from deniable.mechanisms.catalogue import ChosenMechanism
from deniable.parameters import validated_epsilon
from deniable.version import __version__


@dataclass(frozen=True, kw_only=True)
class EmbeddingSummary:
    """Which embedding was looked at: its name, its fingerprint, and how many of its words are protected."""

    name: str
    fingerprint: str
    protected: int


def summarise_embedding(embedding: Embedding) -> EmbeddingSummary:
    """Return how an embedding is named in a result."""
    return EmbeddingSummary(
        name=embedding.name, fingerprint=embedding.fingerprint, protected=len(embedding.protected)
    )


@dataclass(frozen=True, kw_only=True)
class AuditResult:
    """How every result begins: which audit, by which version, of what, from which seed."""

    audit: str
    version: str
    embedding: EmbeddingSummary
    mechanism: str
    seed: int

    def to_dict(self) -> dict[str, Any]:
        """Return the result as the JSON that ``deniable audit … --save`` writes and ``deniable audit report``
        reads.

        What an audit did not look at is left out, so that results of earlier versions read and write alike.
        """
        data: dict[str, Any] = json.loads(json.dumps(plain(self)))
        return data


def plain(value: Any) -> Any:
    """Return a value of a result as JSON has it, without fields that may be absent and are."""
    if is_dataclass(value):
        held = ((each, getattr(value, each.name)) for each in fields(value))
        return {
            each.name: plain(found)
            for each, found in held
            if not (each.default in (None, (), "") and found == each.default)
        }
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items()}
    return [plain(each) for each in value] if isinstance(value, tuple | list) else value


@dataclass(frozen=True, kw_only=True)
class AdvisedResult(AuditResult):
    """A result with advice: the largest ε, of those tried, up to which the adversary's success stays at or
    below ``acceptable``."""

    acceptable: float
    largest_acceptable_epsilon: float | None


class Head(TypedDict):
    """The fields of every result, for the audit that makes one."""

    audit: str
    version: str
    embedding: EmbeddingSummary
    mechanism: str
    seed: int


def head_of(audit: str, embedding: Embedding, mechanism: ChosenMechanism, seed: int) -> Head:
    """Return how the result of an audit begins."""
    return {
        "audit": audit,
        "version": __version__,
        "embedding": summarise_embedding(embedding),
        "mechanism": mechanism.name,
        "seed": seed,
    }


def largest_acceptable(successes: Iterable[tuple[float, float]], acceptable: float) -> float | None:
    """Return the largest ε up to which the adversary's success is acceptable; None if there is none.

    ``successes`` are pairs of an ε and the success there: the upper end of an interval where there is one. An
    ε that fails ends the search: that a larger one passes would be chance.
    """
    advised: float | None = None
    for epsilon, success in sorted(successes):
        if not success <= acceptable:
            break
        advised = epsilon
    return advised


def sorted_epsilons(values: Iterable[float]) -> list[float]:
    """Return the values of ε to look at, smallest first.

    :raises InvalidParameter: if there is none, or one is not a finite number greater than 0.
    """
    found = sorted(validated_epsilon(value) for value in values)
    if not found:
        raise InvalidParameter("epsilons", "none", "give at least one value of ε")
    return found
