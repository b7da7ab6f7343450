"""What is built from is named exactly: actions by commit, images by digest, build requirements and the
library that cuts text by range."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_name_actions_by_commit_and_images_by_digest(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    used = re.findall(r"uses: (\S+)", text)
    assert used
    assert [name for name in used if not re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", name)] == []
    assert [
        name
        for name in re.findall(r"container: (\S+)", text)
        if not re.fullmatch(r"[\w:.-]+@sha256:[0-9a-f]{64}", name)
    ] == []


def test_the_image_is_made_from_one_named_by_digest() -> None:
    images = re.findall(
        r"^FROM (\S+)", (ROOT / "deploy" / "Containerfile").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert images
    assert [name for name in images if not re.fullmatch(r"[\w:.-]+@sha256:[0-9a-f]{64}", name)] == []


def test_what_builds_the_package_and_what_cuts_text_is_bounded_above() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wanted = [*project["build-system"]["requires"], *project["project"]["dependencies"]]
    assert [each for each in wanted if "," not in each or "<" not in each] == []
