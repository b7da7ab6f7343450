from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from deniable.neighbours import selection

DOCTOR = "import sys; {prelude}; import typer; from deniable.cli.doctor import doctor; typer.run(doctor)"


def run(*arguments: str, prelude: str = "pass", **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", DOCTOR.format(prelude=prelude), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | environment)


def test_it_names_the_search_in_use_the_threads_and_the_libraries() -> None:
    found = json.loads(run("--json", DENIABLE_THREADS="3").stdout)
    assert ("int8 scan" in found["search"]) == (not selection.why_not_native())
    assert (found["threads"], found["threads_decided_by"]) == (3, "DENIABLE_THREADS")
    assert found["libraries"]["numpy"][0].isdigit()
    assert found["exact"] is True


def test_it_says_why_a_faster_path_is_not_in_use() -> None:
    pytest.importorskip("deniable.neighbours._native", reason="installed without the native module")
    paths = json.loads(run("--json").stdout)["paths"]
    assert paths["portable"] == "usable"
    assert all(why.startswith("usable") or "lacks" in why or "not compiled" in why for why in paths.values())


def test_without_the_native_module_it_says_so() -> None:
    hidden = "sys.modules['deniable.neighbours._native'] = None"
    shown = run(prelude=hidden).stdout
    assert "the package was installed without a C++ compiler" in shown
    assert "search:              blocked float32 matrix products (numpy)\n" in shown
