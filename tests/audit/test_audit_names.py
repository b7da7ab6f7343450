from __future__ import annotations

import subprocess
import sys

import pytest

import deniable.audit
import deniable.lab.comparison


def test_the_public_names_are_listed_in_order_and_all_there() -> None:
    for module in (deniable.audit, deniable.lab.comparison):
        assert list(module.__all__) == sorted(module.__all__)
        assert all(getattr(module, name).__name__ == name for name in module.__all__)


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="audit_everything"):
        _ = deniable.audit.audit_everything  # type: ignore[attr-defined]


def test_importing_the_audits_loads_none_of_them() -> None:
    loaded = (
        "import sys, deniable.audit; print([name for name in sys.modules if "
        "name.startswith('deniable.audit.')])"
    )
    assert (
        subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=True).stdout
        == "[]\n"
    )
