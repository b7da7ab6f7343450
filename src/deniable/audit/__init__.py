"""Attacks on a release, for the people who make it: what can an adversary still learn?

An audit measures one attack on one mechanism, embedding and ε. That an attack fails proves nothing about
others; the guarantee is proven beside each mechanism. Audits never write released text.

>>> from deniable import Embedding
>>> from deniable.audit import audit_inversion
>>> found = audit_inversion(Embedding.open(), epsilons=[3, 6])  # doctest: +SKIP
>>> found.largest_acceptable_epsilon  # doctest: +SKIP
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from deniable.audit.bound import BoundResult, audit_bound
    from deniable.audit.inversion.audit import audit_inversion
    from deniable.audit.inversion.drawn_words import InversionEffort
    from deniable.audit.inversion.wording import InversionResult
    from deniable.audit.results import read_result

__all__ = [
    "BoundResult",
    "InversionEffort",
    "InversionResult",
    "audit_bound",
    "audit_inversion",
    "read_result",
]

_HOMES = {
    "BoundResult": "bound",
    "InversionEffort": "inversion.drawn_words",
    "InversionResult": "inversion.wording",
    "audit_bound": "bound",
    "audit_inversion": "inversion.audit",
    "read_result": "results",
}


if not TYPE_CHECKING:  # a checker would believe in any name

    def __getattr__(name: str) -> object:
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
