"""The ``deniable`` command for tests: in a process of its own, forked from one that has everything imported,
since Python and its libraries take longer to start than most commands run.

``forked_command`` lends a folder with a ``deniable`` in it, for the search path of a shell. That one is a few
lines of Python which hand everything over, its standard input and output too, to the process that forks; what
runs there is the command as it is installed.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import importlib
import json
import os
import select
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest
import typer.main
from typer.testing import CliRunner, Result

from deniable import Embedding
from deniable.cli import app as cli
from deniable.embeddings import store

WORDS = [f"word{i}" for i in range(100)] + ["the", "quick", "brown", "fox"]
_ROOT = Path(__file__).parents[2]
_ASKING = """#!{python} -ISs
import json, os, socket, sys
with socket.socket(socket.AF_UNIX) as asked:
    asked.connect({address!r})
    given = json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]).encode()
    socket.send_fds(asked, [len(given).to_bytes(8, "big")], [0, 1, 2])
    asked.sendall(given)
    answer = asked.recv(4)
sys.exit(int.from_bytes(answer, "big") if len(answer) == 4 else 99)
"""


def typed(*arguments: str | Path) -> list[str]:
    """Return arguments as a shell splits them; a path is one of them, whatever is in it."""
    return [
        part for each in arguments for part in (shlex.split(each) if isinstance(each, str) else [str(each)])
    ]


def invoke(*arguments: str | Path, given: str | None = None) -> Result:
    """Run a command in this process; strings are split as a shell splits them."""
    return CliRunner().invoke(cli.app, typed(*arguments), input=given)


def without_warning(stderr: bytes) -> bytes:
    """Return what was said besides the warning that this ε changes hardly any word, which is what the tests
    want."""
    return b"".join(
        line for line in stderr.splitlines(keepends=True) if not line.startswith(b"deniable: warning: a")
    )


@dataclass(frozen=True)
class Command:
    """``deniable privatize`` in a folder, at an ε that changes no word unless another is asked for."""

    folder: Path
    environment: dict[str, str]

    def arguments(self, *given: str | Path) -> list[str]:
        """Return the arguments of the command."""
        epsilon = [] if any("epsilon" in str(argument) for argument in given) else ["--epsilon", "1e6"]
        return ["privatize", "--embedding", "tiny", *epsilon, *typed(*given)]

    def start(self, *arguments: str | Path, prelude: str = "pass", **options: Any) -> subprocess.Popen[bytes]:
        """Start Python and the command; ``prelude`` is run before it."""
        # Shells start what runs in the background with SIGINT ignored, and children inherit that: the tests
        # of Ctrl-C would fail there.
        heard = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
        code = f"{heard}\n{prelude}\nfrom deniable.cli.app import main; main()"
        argv = [sys.executable, "-c", code, *self.arguments(*arguments)]
        pipes: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE) | options
        return subprocess.Popen(argv, cwd=self.folder, env=self.environment, **pipes)

    def run(self, *arguments: str | Path, data: bytes = b"") -> tuple[int, bytes, str]:
        """Return the exit status, the output, and what was said besides the warning about ε."""
        status, out, err = self.exactly(self.arguments(*arguments), data)
        return status, out, without_warning(err).decode()

    def deniable(self, *arguments: str | Path, data: bytes = b"") -> tuple[int, bytes, bytes]:
        """Return the exit status, the output and the errors of any command."""
        return self.exactly(typed(*arguments), data)

    def exactly(self, arguments: list[str], data: bytes) -> tuple[int, bytes, bytes]:
        """Return the same for a list of arguments."""
        done = subprocess.run(
            [_command(), *arguments],
            cwd=self.folder,
            env=self.environment,
            input=data,
            capture_output=True,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr


def make_command(home: Path, folder: Path) -> Command:
    """Return the command in a folder, with a store that holds the embedding ``tiny``."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DENIABLE_HOME", str(home))
        patch.setenv("OPENBLAS_NUM_THREADS", "1")
        if not (home / "embeddings" / "tiny").exists():
            vectors = np.random.default_rng(1).normal(size=(len(WORDS), 6))
            store.save(Embedding(WORDS, vectors, name="tiny"), "tiny")
        return Command(folder, dict(os.environ))


def deniable(
    *arguments: str | Path, data: str = "", folder: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run any command with pipes of its own."""
    status, out, err = Command(folder or Path.cwd(), dict(os.environ)).deniable(
        *arguments, data=data.encode()
    )
    return subprocess.CompletedProcess(arguments, status, out.decode(), err.decode())


@functools.cache
def _command() -> Path:
    """Start the process that forks commands, and return the command; both end with this process."""
    folder, ending = Path(tempfile.mkdtemp(prefix="deniable-")), contextlib.ExitStack()
    ending.callback(shutil.rmtree, folder)
    command = ending.enter_context(forked_command(folder)) / "deniable"
    atexit.register(ending.close)
    return command


@contextmanager
def forked_command(folder: Path) -> Iterator[Path]:
    """Lend a folder that holds the command, until the block ends."""
    address, commands = folder / "socket", folder / "bin"
    commands.mkdir()
    command = commands / "deniable"
    command.write_text(_ASKING.format(python=sys.executable, address=str(address)))
    command.chmod(0o755)
    code = "import sys; from tests.support.commands import serve; serve(sys.argv[1])"
    with subprocess.Popen(
        [sys.executable, "-c", code, str(address)],
        cwd=_ROOT,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},  # no threads where processes are forked
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as serving:
        assert serving.stdout is not None
        assert serving.stdout.readline() == b"ready\n"
        yield commands
        serving.communicate()  # it ends with its standard input


def serve(address: str) -> None:
    """Load what commands need, and fork one whenever it is asked for."""
    for module in ("pyarrow.parquet", "scipy.stats", "deniable.report.figure"):
        importlib.import_module(module)
    # Typer makes the parser of all commands anew for each call.
    cli.app = typer.main.get_command(cli.app)  # type: ignore[assignment]
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "in.txt")
        source.write_text("the\n")
        _status_of("privatize", str(source), "-e1", "-o", f"{folder}/out.txt", "--quiet")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(address)
        listening.listen()
        print("ready", flush=True)
        while sys.stdin not in (ready := select.select([listening, sys.stdin], [], [], 0.2)[0]):
            with suppress(ChildProcessError):
                os.waitpid(-1, os.WNOHANG)
            if not ready:
                continue
            asked, _ = listening.accept()
            if os.fork() == 0:
                listening.close()
                _answer(asked)
            asked.close()


def _answer(asked: socket.socket) -> NoReturn:
    """Run a command in a process of its own, and say how it ended."""
    length, files, _, _ = socket.recv_fds(asked, 8, 3)
    given = b""
    while len(given) < int.from_bytes(length, "big"):
        given += asked.recv(1 << 20)
    if (child := os.fork()) == 0:
        asked.close()
        _run(*json.loads(given), files=files)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    asked.sendall((status if status >= 0 else 128 - status).to_bytes(4, "big"))
    os._exit(0)


def _run(arguments: list[str], folder: str, environment: dict[str, str], *, files: list[int]) -> NoReturn:
    for place, descriptor in enumerate(files):
        os.dup2(descriptor, place)
        os.close(descriptor)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    os._exit(_status_of(*arguments))


def _status_of(*arguments: str) -> int:
    """Return the status that Python would exit with, with everything written out."""
    [script] = entry_points(group="console_scripts", name="deniable")
    sys.argv = ["deniable", *arguments]
    try:
        script.load()()
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    return status
