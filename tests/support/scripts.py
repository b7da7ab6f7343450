"""The scripts of the repository as modules, for tests of what they compute."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType


def load_script(name: str) -> ModuleType:
    """Return a script, given without its suffix and with dots between folders."""
    return import_module(f"scripts.{name}")
