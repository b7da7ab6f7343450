"""The kinds of audits, by name: what a result is, and how it is shown.

``deniable.lab`` adds its own audits when it is imported. An entry names an ``Audit`` as ``module:attribute``,
so that nothing is loaded before it is needed: a machine that only trains the models of a membership audit has
NumPy and PyTorch, and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from deniable.audit.report.table import Table
    from deniable.audit.results import AuditResult

AUDITS = {
    "bound": "deniable.audit.report.bound:BOUND",
    "inversion": "deniable.audit.report.inversion:INVERSION",
}
"""Where each audit is described."""


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """A figure of a result, its caption, and what it shows for readers who cannot see it."""

    figure: Figure
    caption: str
    alt: str


@dataclass(frozen=True, kw_only=True)
class Audit:
    """One kind of audit. ``heading`` is a question without its mark; ``tried`` says how the attack works."""

    result: type[AuditResult]
    heading: str
    tried: str
    sentence: Callable[[Any], str]
    tables: Callable[[Any], list[Table]]
    epsilons: Callable[[Any], tuple[float, ...]]
    figure: Callable[[Any], Drawn | None]


def audit_named(name: str) -> Audit:
    """Return an audit by its name.

    :raises KeyError: if there is none of that name.
    """
    module, _, attribute = AUDITS[name].partition(":")
    return cast(Audit, getattr(import_module(module), attribute))


def finding(result: AuditResult) -> str:
    """Return what was found, in a sentence or two."""
    return audit_named(result.audit).sentence(result)


def tables(result: AuditResult) -> list[Table]:
    """Return what was measured."""
    return audit_named(result.audit).tables(result)
