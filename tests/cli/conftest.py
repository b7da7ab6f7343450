from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.commands import Command, make_command


@pytest.fixture
def command(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path) -> Command:
    """The command in an empty folder."""
    return make_command(tmp_path_factory.getbasetemp() / "home", tmp_path)
