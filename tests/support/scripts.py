"""The scripts of the repository as modules, for tests of what they compute."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

_SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"


def load_script(name: str) -> ModuleType:
    """Return a script as a module, run anew."""
    spec = importlib.util.spec_from_file_location(name, _SCRIPTS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # where dataclasses look for their module
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(sys, "path", [str(_SCRIPTS), *sys.path])  # scripts import one another
        spec.loader.exec_module(module)
    return module
