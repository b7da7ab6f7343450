"""What is published: packages that install with and without a compiler, and files for a forge and for conda
that fit the project."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from deniable.version import __version__

ROOT = Path(__file__).parent.parent.parent
CONDA_NAMES = {"matplotlib": "matplotlib-base"}


def read_yaml(path: str) -> dict[str, Any]:
    yaml = pytest.importorskip("yaml")
    found: dict[str, Any] = yaml.safe_load((ROOT / path).read_text(encoding="utf-8"))
    return found


def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_the_forge_runs_what_a_newcomer_runs() -> None:
    steps = read_yaml(".github/workflows/ci.yml")["jobs"]["test"]["steps"]
    assert [step["run"] for step in steps if "run" in step][-1] == ".ci/run"


@pytest.mark.parametrize("path", [".github/workflows/ci.yml", ".github/workflows/wheels.yml"])
def test_a_workflow_may_read_only_and_names_the_version_of_what_it_uses(path: str) -> None:
    workflow = read_yaml(path)
    assert workflow["permissions"] == {"contents": "read"}
    used = [step["uses"] for job in workflow["jobs"].values() for step in job["steps"] if "uses" in step]
    assert used
    assert all(re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40}", each) for each in used)


def test_scripts_that_a_workflow_runs_are_there() -> None:
    jobs = [
        job
        for path in ("ci", "wheels")
        for job in read_yaml(f".github/workflows/{path}.yml")["jobs"].values()
    ]
    commands = " ".join(step.get("run", "") for job in jobs for step in job["steps"])
    named = re.findall(r"(?:scripts|\.ci)/[\w.]+", commands)
    assert set(named) == {".ci/run", "scripts/check_packages.py"}
    assert all((ROOT / each).is_file() for each in named)


def test_wheels_are_built_for_every_python_that_the_package_takes() -> None:
    built = project()["tool"]["cibuildwheel"]
    oldest = int(project()["project"]["requires-python"].removeprefix(">=3."))
    assert built["build"].startswith(f"cp3{str(oldest)[0]}{{{str(oldest)[1]},")
    assert built["linux"]["archs"] == ["x86_64", "aarch64"]


def test_the_conda_recipe_needs_what_the_package_needs() -> None:
    recipe = read_yaml("packaging/conda/recipe.yaml")
    wanted = {f"python {project()['project']['requires-python']}"}
    for each in project()["project"]["dependencies"]:
        name, versions = re.fullmatch(r"([A-Za-z0-9-]+)(.*)", each).groups()  # type: ignore[union-attr]
        wanted.add(f"{CONDA_NAMES.get(name, name.lower())} {versions}")
    assert set(recipe["requirements"]["run"]) == wanted
    built_with = {each.replace(" ", "") for each in recipe["requirements"]["host"]}
    assert set(project()["build-system"]["requires"]) <= built_with
    assert recipe["context"]["version"] == __version__
    assert recipe["build"]["python"]["entry_points"] == [
        f"deniable = {project()['project']['scripts']['deniable']}"
    ]


def test_make_asks_for_the_pytorch_that_the_tests_are_run_with() -> None:
    (pinned,) = [each for each in project()["dependency-groups"]["dev"] if each.startswith("torch")]
    shown = subprocess.run(
        ["make", "--dry-run", "--always-make", "lint"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    assert f'pip install --quiet "{pinned}+cpu"' in shown
    assert "up to 6.4 GB" in shown


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("c++") is None, reason="no C++ compiler")
def test_the_packages_install_with_and_without_a_compiler_and_release_the_same_words() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "check_packages.py")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "release the same" in done.stdout
