"""``--device``: what is not there is refused before anything is read."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from deniable.cli.app import app
from deniable.errors import DeniableError
from deniable.neighbours.selection import device_in_use

COMMANDS = [
    ["privatize", "-e", "6"],
    ["watch", ".", "--out", "x", "-e", "6"],
    ["serve"],
    ["tune", "x"],
    ["calibrate", "-e", "6"],
    ["decode", "x", "-o", "y"],
    ["frequencies", "x"],
]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_a_device_that_is_not_there_is_refused(command: list[str]) -> None:
    result = CliRunner().invoke(app, [*command, "--device", "meteorite"])
    assert isinstance(result.exception, DeniableError)
    assert "meteorite" in str(result.exception)
    assert result.exception.exit_code == 2
    assert device_in_use() is None


@pytest.mark.parametrize(
    "command", [["privatize", "x", "-o", "y", "-e", "6"], ["watch", ".", "--out", "x", "-e", "6"]]
)
def test_workers_do_not_share_a_device(command: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    chosen: list[str] = []
    monkeypatch.setattr("deniable.neighbours.set_device", chosen.append)
    monkeypatch.setattr("deniable.gpu.devices.usable_device", lambda name: name)
    result = CliRunner().invoke(app, [*command, "--device", "cuda", "--workers", "2"])
    assert result.exit_code == 2
    assert "a GPU serves one process" in result.output.replace("\n", " ")
    assert chosen == ["cuda"]
