"""``deniable release`` on a terminal asks for risk, roles and changes, and does what it is told."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from tests.decision.test_flow import write

_LONGEST = 600.0
"""Seconds, for a machine that is busy; nothing is judged by them."""


def talk(command: Sequence[str], dialogue: Sequence[tuple[str, str]]) -> tuple[int, str]:
    """Run a command on a pseudo-terminal, answer each prompt when it is there, and return the exit status and
    the screen after the last answer."""
    ours, theirs = pty.openpty()
    ending = time.monotonic() + _LONGEST
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs) as running:
        os.close(theirs)
        screen = ""

        def read() -> bool:
            nonlocal screen
            if not select.select([ours], [], [], max(0.0, ending - time.monotonic()))[0]:
                running.kill()
                raise AssertionError(f"still running: {screen}")
            try:
                part = os.read(ours, 1 << 16)
            except OSError:  # the other side is closed
                part = b""
            screen += part.decode(errors="replace")
            return bool(part)

        for prompt, answer in dialogue:
            while prompt not in screen:
                assert read(), f"ended before {prompt!r}: {screen}"
            screen = screen.split(prompt, 1)[1]
            os.write(ours, f"{answer}\n".encode())
        while read():
            pass
        os.close(ours)
        return running.wait(), screen


def test_a_terminal_is_asked_for_the_risk_the_roles_and_whether_changes_are_accepted(tmp_path: Path) -> None:
    source, output = write(tmp_path / "in.csv"), tmp_path / "out"
    code = "from deniable.cli.app import main; main()"
    command = [sys.executable, "-c", code, "release", str(source), "--text", "comment", "-o", str(output)]
    status, screen = talk(
        [*command, "--quiet"],
        [
            ("may a reader name", "0.1"),
            ("patient_name looks like", "perhaps"),
            ("Answer with one of", "d"),
            ("Release all the same?", "n"),
        ],
    )
    found = json.loads((output / "keep" / "decision.json").read_text())
    assert found["limit"] == 0.1
    assert found["columns"]["drop"] == ["patient_name"]
    assert found["verdict"]["answer"] == "release with changes"
    assert (status, found["released"]) == (3, False)
    assert "Nothing was released" in screen
    assert not (output / "hand-over").exists()
