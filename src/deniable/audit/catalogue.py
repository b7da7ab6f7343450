"""The kinds of audits, by name: what a result is, and how it is shown.

``deniable.lab`` adds its own audits when it is imported. An entry names an ``Audit`` as ``module:attribute``,
so that nothing is loaded before it is needed: a machine that only trains the models of a membership audit has
NumPy and PyTorch, and nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from deniable.errors import RecordError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from deniable.audit.report.table import Table
    from deniable.audit.results import AuditResult

_LONGEST = 64 << 20

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
        return msgspec.convert(data, type=audit_named(kind).result)
    except (ValueError, OverflowError) as error:  # also text that is half a character
        raise RecordError(path, f"is not a whole result of the {kind} audit: {error}") from None
