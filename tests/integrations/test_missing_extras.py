from __future__ import annotations

import importlib
import sys

import pytest

from deniable import MissingExtra


@pytest.mark.parametrize(
    ("name", "library"),
    [
        ("sklearn", "sklearn"),
        ("pandas", "pandas"),
        ("polars", "polars"),
        ("datasets", "datasets"),
        ("presidio", "presidio_anonymizer"),
        ("spark", "pyspark"),
    ],
)
def test_a_library_that_is_not_installed_is_asked_for_with_the_pip_command(
    name: str, library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, f"deniable.integrations.{name}", raising=False)
    for loaded in [library, *(module for module in sys.modules if module.startswith(f"{library}."))]:
        monkeypatch.setitem(sys.modules, loaded, None)
    with pytest.raises(MissingExtra, match=rf"pip install 'deniable\[{name}\]'"):
        importlib.import_module(f"deniable.integrations.{name}")
