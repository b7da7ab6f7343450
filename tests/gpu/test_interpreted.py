"""The kernels for GPUs keep what they promise, run by Triton's interpreter; a machine with a GPU runs the
same checks on the GPU."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("triton")

NAMES = [
    line.partition("def ")[2].partition("(")[0]
    for line in Path(__file__).with_name("checks.py").read_text(encoding="utf-8").splitlines()
    if line.startswith("def ") and line.endswith("(device: str) -> str:")
]
"""Read from the text: importing the checks would load Triton without its interpreter."""


def test_kernels_keep_their_promises() -> None:
    # A process of its own: whether kernels are interpreted is decided when Triton is imported. One test, such
    # that one worker runs it once.
    root = Path(__file__).parents[2]
    environment = {**os.environ, "TRITON_INTERPRET": "1", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "tests.gpu.run_checks", "cpu"]
    ran = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)
    outcomes = [json.loads(line) for line in ran.stdout.splitlines() if line.startswith("{")]
    assert [each["check"] for each in outcomes if not each["passed"]] == [], [
        each["saw"] for each in outcomes if not each["passed"]
    ]
    assert sorted(each["check"] for each in outcomes) == sorted(NAMES), ran.stderr


def test_every_check_is_run() -> None:
    assert len(NAMES) >= 16


def test_nothing_loads_triton_before_a_device_is_asked_for() -> None:
    code = "import sys, deniable.mechanisms.base; sys.exit('triton' in sys.modules or 'torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
