"""The results of all audits: how they begin, are kept and read, what they advise, and how each kind is shown.

``deniable.lab`` adds its own audits when it is imported. An entry of ``AUDITS`` names the type of a result as
``module:attribute``, so that nothing is loaded before it is needed: a machine that only trains the models of
a membership audit has NumPy and PyTorch, and nothing else.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from deniable.embeddings.embedding import Embedding
from deniable.errors import InvalidParameter, RecordError
from deniable.mechanisms.catalogue import ChosenMechanism
from deniable.parameters import validated_epsilon
from deniable.report.wording import Lines
from deniable.version import __version__

NO_BOUND = "No bound below 100 % is known for this attack; the measured share is a lower bound."
"""What stands beside each attack on whole texts: membership, authorship, linking."""

_LONGEST = 64 << 20

AUDITS = {
    "bound": "deniable.audit.bound:BoundResult",
    "inversion": "deniable.audit.inversion.wording:InversionResult",
}
"""Where the result of each audit is defined."""


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


class Table(NamedTuple):
    """A table of a result; the first ``text_columns`` columns hold text, the others numbers."""

    caption: str
    columns: list[str]
    rows: list[list[str]]
    text_columns: int = 1


@dataclass(frozen=True, kw_only=True)
class Curves:
    """A figure of a result, as ``Page.add_curves`` takes it."""

    lines: Lines
    y: str
    caption: str
    x: str = "ε"
    levels: Mapping[str, float] = field(default_factory=dict)
    shares: bool = True


@dataclass(frozen=True, kw_only=True)
class AuditResult(ABC):
    """How every result begins. ``heading`` is a question without its mark; ``tried`` says how the attack
    works; ``no_bound`` is ``NO_BOUND`` where nothing is proved against it."""

    heading: ClassVar[str]
    tried: ClassVar[str]
    no_bound: ClassVar[str] = ""

    audit: str
    version: str
    embedding: EmbeddingSummary
    mechanism: str
    seed: int

    @property
    @abstractmethod
    def sentence(self) -> str:
        """What was found, in a sentence or two."""

    @property
    @abstractmethod
    def tables(self) -> list[Table]:
        """What was measured."""

    @property
    @abstractmethod
    def epsilons(self) -> tuple[float, ...]:
        """The values of ε that were tried, by their size."""

    @property
    def curves(self) -> list[Curves]:
        """The figures."""
        return []

    def to_dict(self) -> dict[str, Any]:
        """Return the result as ``--save`` writes it; what an audit did not look at is left out."""
        data: dict[str, Any] = json.loads(json.dumps(plain(self)))
        return data | ({"bound": self.no_bound} if self.no_bound else {})


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
    """A result with the largest ε tried up to which the adversary's success stays within ``acceptable``."""

    acceptable: float
    largest_acceptable_epsilon: float | None

    def advice(self, what: str, *, who: str = "it") -> str:
        """Return up to which ε an attacker stays at or below what was called acceptable."""
        if (largest := self.largest_acceptable_epsilon) is None:
            return f"At none of the values tried does {who} stay at or below {self.acceptable:g} {what}."
        return (
            f"Up to ε = {largest:g}, of the values tried, {who} stays at or below {self.acceptable:g} {what}."
        )

    def unsure(self, found: Iterable[tuple[float, float, float]], what_helps: str) -> str:
        """Return what would help where only the upper end of the 95 % interval is not acceptable; ``found``
        has each ε, the success there and that upper end."""
        close = [epsilon for epsilon, success, at_most in found if success <= self.acceptable < at_most]
        if max(close, default=0.0) <= (self.largest_acceptable_epsilon or 0.0):
            return ""
        return f" The upper end of the 95 % interval counts: {what_helps}"


def head_of(audit: str, embedding: Embedding, mechanism: ChosenMechanism, seed: int) -> dict[str, Any]:
    """Return how the result of an audit begins."""
    return {
        "audit": audit,
        "version": __version__,
        "embedding": summarise_embedding(embedding),
        "mechanism": mechanism.name,
        "seed": seed,
    }


def largest_acceptable(successes: Iterable[tuple[float, float]], acceptable: float) -> float | None:
    """Return the largest ε up to which the success, or the upper end of its interval, is acceptable; None if
    there is none. An ε that fails ends the search: that a larger one passes would be chance."""
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


def read_result(path: Path) -> AuditResult:
    """Return a result that an audit wrote with ``--save``, or that ``to_dict`` gave.

    :raises RecordError: if the file is not one.
    """
    import msgspec

    from deniable.atomic import read_plain_file

    try:
        data = json.loads(
            read_plain_file(path, longest=_LONGEST, what="result of an audit", error=RecordError)
        )
        kind = data["audit"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise RecordError(
            path, "is not the result of an audit; write one with: deniable audit … --save FILE"
        ) from None
    if not isinstance(kind, str) or kind not in AUDITS:
        problem = (
            f"is the result of an audit that is not known here ({kind!r}); import deniable.lab for "
            "those of the lab"
        )
        raise RecordError(path, problem)
    try:
        module, _, name = AUDITS[kind].partition(":")
        found: AuditResult = msgspec.convert(data, type=getattr(import_module(module), name))
    except (ValueError, OverflowError) as error:  # also text that is half a character
        raise RecordError(path, f"is not a whole result of the {kind} audit: {error}") from None
    return found
