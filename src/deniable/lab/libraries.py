"""Optional libraries, which the extra ``lab`` brings."""

from __future__ import annotations

from importlib import import_module

from deniable.errors import MissingExtra


def require(what: str, *modules: str) -> None:
    """Refuse to begin ``what`` without its modules.

    :raises MissingExtra: if one of them is not installed.
    """
    try:
        for module in modules:
            import_module(module)
    except ImportError:
        raise MissingExtra(what, "lab") from None
