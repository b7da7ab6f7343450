"""Programs for ARM on a machine that is none: made by a cross compiler, run by an emulator.

``make check-slow`` installs both where it may (``g++-aarch64-linux-gnu`` and ``qemu-user`` on Debian).
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

import deniable

COMPILER, EMULATOR = shutil.which("aarch64-linux-gnu-g++"), shutil.which("qemu-aarch64")
PACKAGE = Path(deniable.__file__).parent

needs_the_tools = [
    pytest.mark.slow,
    pytest.mark.skipif(COMPILER is None, reason="no cross compiler: apt-get install g++-aarch64-linux-gnu"),
    pytest.mark.skipif(EMULATOR is None, reason="no emulator: apt-get install qemu-user"),
]

# Those of CMakeLists.txt, and every warning.
_OPTIONS = ("-std=c++17", "-O3", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror")


def compile_object(source: Path, target: Path, *options: str) -> Path:
    """Return one file, compiled for aarch64 with more options than the others."""
    subprocess.run([str(COMPILER), *_OPTIONS, *options, "-c", str(source), "-o", str(target)], check=True)
    return target


def compile_program(sources: Sequence[Path], target: Path, *, headers: Path) -> Path:
    """Return a program for aarch64 that needs no libraries."""
    files = [str(source) for source in sources]
    subprocess.run(
        [str(COMPILER), *_OPTIONS, f"-I{headers}", "-static", "-pthread", *files, "-o", str(target)],
        check=True,
    )
    return target


def run_program(
    program: Path, *arguments: str, given: bytes, processor: str = "max"
) -> subprocess.CompletedProcess[bytes]:
    """Return what a program says on an emulated processor."""
    return subprocess.run(
        [str(EMULATOR), "-cpu", processor, str(program), *arguments],
        input=given,
        capture_output=True,
        check=False,
    )
