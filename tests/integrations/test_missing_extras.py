from __future__ import annotations

import importlib
import re
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from deniable import MissingExtra
from deniable.installation import install_command


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
    with pytest.raises(
        MissingExtra, match=rf"needs an optional library: {re.escape(install_command(name))}$"
    ):
        importlib.import_module(f"deniable.integrations.{name}")


@pytest.mark.parametrize(
    ("purpose", "extra", "library"),
    [
        ("a classifier", "utility", "sklearn"),
        ("this audit", "utility", "sklearn"),
        ("the membership audit", "lab", "sklearn"),
    ],
)
def test_what_needs_scikit_learn_alone_asks_for_it_alone(
    purpose: str, extra: str, library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from deniable.lab.libraries import require
    from deniable.utility.classifiers import Classifier, sklearn

    for loaded in [library, *(module for module in sys.modules if module.startswith(f"{library}."))]:
        monkeypatch.setitem(sys.modules, loaded, None)
    asked: dict[str, Callable[[], object]] = {
        "a classifier": lambda: Classifier("words", strength=1.0),
        "this audit": lambda: sklearn("svm"),
        "the membership audit": lambda: require("the membership audit", "sklearn", "torch"),
    }
    with pytest.raises(MissingExtra, match=rf"{purpose} needs .*{re.escape(install_command(extra))}$"):
        asked[purpose]()


def test_the_extra_of_utility_brings_no_torch() -> None:
    extras = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    assert [library.partition(">")[0] for library in extras["utility"]] == ["scikit-learn"]
    assert {"scikit-learn", "torch"} <= {library.partition(">")[0] for library in extras["lab"]}
