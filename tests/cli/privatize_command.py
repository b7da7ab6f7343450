"""The command as its users start it, in a process of its own, with a tiny embedding of its own."""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from deniable import Embedding
from deniable.embeddings import store

WORDS = [f"word{i}" for i in range(100)] + ["the", "quick", "brown", "fox"]


def without_warning(stderr: bytes) -> bytes:
    """Return what was said besides the warning that this ε changes hardly any word, which is what the tests
    want."""
    return b"".join(
        line for line in stderr.splitlines(keepends=True) if not line.startswith(b"deniable: warning: a")
    )


@cache
def command_server() -> subprocess.Popen[str]:
    """Start the process that forks commands (see ``command_server.py``); it ends with this one."""
    script, environment = (
        Path(__file__).with_name("command_server.py"),
        {**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )
    server = subprocess.Popen(
        [sys.executable, str(script)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    )
    atexit.register(server.communicate)
    return server


@dataclass(frozen=True)
class Command:
    """``deniable privatize`` in a folder, at an ε that changes no word unless another is asked for."""

    folder: Path
    environment: dict[str, str]

    def arguments(self, *given: str | Path) -> list[str]:
        epsilon = [] if any("epsilon" in str(argument) for argument in given) else ["--epsilon", "1e6"]
        return ["privatize", "--embedding", "tiny", *epsilon, *map(str, given)]

    def argv(self, *arguments: str | Path, prelude: str = "pass") -> list[str]:
        # Shells start what runs in the background with SIGINT ignored, and children inherit that: the tests
        # of Ctrl-C would fail there.
        heard = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
        return [
            sys.executable,
            "-c",
            f"{heard}\n{prelude}\nfrom deniable.cli.app import main; main()",
            *self.arguments(*arguments),
        ]

    def start(self, *arguments: str | Path, prelude: str = "pass", **options: Any) -> subprocess.Popen[bytes]:
        """Start Python and the command; ``prelude`` is run before it."""
        pipes: dict[str, Any] = {
            "stdin": subprocess.PIPE,
            "stdout": subprocess.PIPE,
            "stderr": subprocess.PIPE,
        } | options
        argv = self.argv(*arguments, prelude=prelude)
        process: subprocess.Popen[bytes] = subprocess.Popen(
            argv, cwd=self.folder, env=self.environment, **pipes
        )
        return process

    def run(self, *arguments: str | Path, data: bytes = b"") -> tuple[int, bytes, str]:
        """Return the exit status, the output, and what was said besides the warning about ε."""
        status, out, err = self.deniable(*self.arguments(*arguments), data=data)
        return status, out, without_warning(err).decode()

    def deniable(self, *arguments: str, data: bytes = b"") -> tuple[int, bytes, bytes]:
        """Return the exit status, the output and the errors of any command."""
        server = command_server()
        assert server.stdin is not None
        assert server.stdout is not None
        with tempfile.TemporaryDirectory() as folder:
            files = [Path(folder, name) for name in ("in", "out", "err")]
            files[0].write_bytes(data)
            request = {
                "argv": arguments,
                "cwd": str(self.folder),
                "env": self.environment,
                "files": [str(file) for file in files],
            }
            server.stdin.write(json.dumps(request) + "\n")
            server.stdin.flush()
            status = int(server.stdout.readline())
            return status, files[1].read_bytes(), files[2].read_bytes()


def make_command(home: Path, folder: Path) -> Command:
    before = os.environ.get("DENIABLE_HOME")
    os.environ["DENIABLE_HOME"] = str(home)
    try:
        if not (home / "embeddings" / "tiny").exists():
            store.save(
                Embedding(WORDS, np.random.default_rng(1).normal(size=(len(WORDS), 6)), name="tiny"), "tiny"
            )
    finally:
        if before is None:
            del os.environ["DENIABLE_HOME"]
        else:
            os.environ["DENIABLE_HOME"] = before
    return Command(folder, {**os.environ, "DENIABLE_HOME": str(home), "OPENBLAS_NUM_THREADS": "1"})


def deniable(*arguments: str, data: str = "", folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run any command with pipes of its own, forked from a process that has everything imported."""
    status, out, err = Command(folder or Path.cwd(), dict(os.environ)).deniable(
        *arguments, data=data.encode()
    )
    return subprocess.CompletedProcess(arguments, status, out.decode(), err.decode())
