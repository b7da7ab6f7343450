"""``--device``: what is not there is refused before anything is read."""

from __future__ import annotations

import pytest

from deniable.errors import DeniableError
from deniable.neighbours.selection import device_in_use
from tests.support.commands import invoke

COMMANDS = [
    "privatize -e 6",
    "watch . --out x -e 6",
    "serve",
    "tune x",
    "calibrate -e 6",
    "decode x -o y",
    "frequencies x",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_device_that_is_not_there_is_refused(command: str) -> None:
    error = invoke(command, "--device meteorite").exception
    assert isinstance(error, DeniableError)
    assert ("meteorite" in str(error), error.exit_code, device_in_use()) == (True, 2, None)


@pytest.mark.parametrize("command", ["privatize x -o y -e 6", "watch . --out x -e 6"])
def test_workers_do_not_share_a_device(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen: list[str] = []
    monkeypatch.setattr("deniable.neighbours.set_device", chosen.append)
    monkeypatch.setattr("deniable.gpu.devices.usable_device", lambda name: name)
    result = invoke(command, "--device cuda --workers 2")
    assert (result.exit_code, "--workers" in result.output, chosen) == (2, True, ["cuda"])
