"""An optional library is installed from where deniable came from: no package index has it, and anybody could
register the name."""

from __future__ import annotations

import importlib.metadata
import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from deniable import MissingExtra
from deniable.installation import install_command

ROOT = Path(__file__).resolve().parent.parent
SHOWN = (
    "src/**/*.py",
    "src/**/*.js",
    "src/**/*.html",
    "docs/**/*.md",
    "examples/**/*.py",
    "examples/**/*.ipynb",
    "deploy/*",
    "*.md",
)
_FROM_AN_INDEX = re.compile(r"(?<![.\w/])deniable\[[a-z]|pip install +(?:-\S+ +)*[\"'`]?deniable\b")


def installed_from(monkeypatch: pytest.MonkeyPatch, origin: dict[str, Any] | None) -> None:
    said = None if origin is None else json.dumps(origin)
    monkeypatch.setattr(
        importlib.metadata, "distribution", lambda _: SimpleNamespace(read_text=lambda _: said)
    )


def test_a_checkout_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "my checkout"
    place.mkdir()
    installed_from(monkeypatch, {"url": place.as_uri(), "dir_info": {"editable": True}})
    assert install_command("utility") == f"pip install -e '{place}[utility]'"
    installed_from(monkeypatch, {"url": place.as_uri(), "dir_info": {}})
    assert install_command("utility") == f"pip install '{place}[utility]'"
    assert str(MissingExtra("a classifier", "utility")).endswith(f": pip install '{place}[utility]'")


def test_a_wheel_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wheel = tmp_path / "deniable-0.1.0-py3-none-any.whl"
    wheel.touch()
    installed_from(monkeypatch, {"url": wheel.as_uri(), "archive_info": {}})
    assert install_command("serve") == f"pip install '{wheel}[serve]'"


@pytest.mark.parametrize(
    "origin",
    [None, {}, {"url": "file:///nowhere/at/all", "dir_info": {}}, {"url": "https://example.org/d.whl"}],
)
def test_where_the_source_is_not_known_the_command_says_both_ways(
    origin: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed_from(monkeypatch, origin)
    assert (
        install_command("gpu")
        == "pip install '.[gpu]' in a checkout of deniable, or 'WHEEL[gpu]' with the path of its wheel"
    )


def test_no_message_and_no_page_installs_deniable_from_an_index() -> None:
    files = [
        file
        for pattern in SHOWN
        for file in ROOT.glob(pattern)
        if file.is_file() and file.name not in ("CHANGELOG.md", "cli.md")
    ]
    assert len(files) > 300
    found = {
        str(file.relative_to(ROOT)): _FROM_AN_INDEX.findall(file.read_text(encoding="utf-8"))
        for file in files
    }
    assert {file: said for file, said in found.items() if said} == {}


@pytest.mark.parametrize(
    "said",
    ["pip install 'deniable[utility]'", "pip install deniable", "pip install -U deniable", "(deniable[gpu])"],
)
def test_an_install_from_an_index_is_found(said: str) -> None:
    assert _FROM_AN_INDEX.search(said)
