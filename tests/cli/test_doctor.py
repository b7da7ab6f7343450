from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from deniable.neighbours import selection

DOCTOR = "import sys; {prelude}; import typer; from deniable.cli.doctor import doctor; typer.run(doctor)"


def run(*arguments: str, prelude: str = "pass", **environment: str) -> str:
    command = [sys.executable, "-c", DOCTOR.format(prelude=prelude), *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, env=os.environ | environment
    ).stdout


def test_it_names_the_search_in_use_and_why_no_faster_one_the_threads_and_the_libraries() -> None:
    found = json.loads(run("--json", DENIABLE_THREADS="3"))
    assert ("int8 scan" in found["search"]) == (not selection.why_not_native())
    assert (found["threads"], found["threads_decided_by"]) == (3, "DENIABLE_THREADS")
    assert found["libraries"]["numpy"][0].isdigit()
    assert found["exact"] is True
    assert found["extras"]["pandas"] == "installed"
    pytest.importorskip("deniable.neighbours._native", reason="installed without the native module")
    assert found["paths"]["portable"] == "usable"
    reasons = ("usable", "lacks", "not compiled")
    assert all(any(why in said for why in reasons) for said in found["paths"].values())


def test_without_the_native_module_it_says_so() -> None:
    shown = run(prelude="sys.modules['deniable.neighbours._native'] = None")
    assert "without a C++ compiler" in shown
    assert "blocked float32 matrix products (numpy)\n" in shown


def test_an_extra_whose_library_is_missing_comes_with_the_command_that_adds_it() -> None:
    missing = (
        "from importlib import metadata; known = metadata.version; "
        "metadata.version = lambda name: known('no-such-library' if name == 'polars' else name)"
    )
    extras = json.loads(run("--json", prelude=missing))["extras"]
    assert (extras["pandas"], "polars" in extras["polars"], "pip install" in extras["polars"]) == (
        "installed",
        True,
        True,
    )
