"""The ``deniable`` command without the half second that Python and its libraries take to start: forked from a
process that has them.

``forked_command`` lends a folder with a ``deniable`` in it, for the search path of a shell. That one is a few
lines of Python which hand everything over, its standard input and output too, to the process that forks; what
runs there is ``deniable.cli.app.main``.
"""

from __future__ import annotations

import importlib
import json
import os
import select
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NoReturn

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


@contextmanager
def forked_command(folder: Path) -> Iterator[Path]:
    """Lend a folder that holds the command, until the block ends."""
    address, commands = folder / "socket", folder / "bin"
    commands.mkdir()
    command = commands / "deniable"
    command.write_text(_ASKING.format(python=sys.executable, address=str(address)))
    command.chmod(0o755)
    code = "import sys; from tests.support.forked_command import serve; serve(sys.argv[1])"
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}  # no threads where processes are forked
    with subprocess.Popen(
        [sys.executable, "-c", code, str(address)],
        cwd=_ROOT,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as serving:
        assert serving.stdout is not None
        assert serving.stdout.readline() == b"ready\n"
        yield commands
        serving.communicate()  # it ends with its standard input


def serve(address: str) -> None:
    """Load what commands need, and fork one whenever it is asked for."""
    for module in ("pyarrow.parquet", "scipy.stats", "deniable.report.figure", "tests.cli.command_server"):
        importlib.import_module(module)
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
    from tests.cli.command_server import status_of_main

    for place, descriptor in enumerate(files):
        os.dup2(descriptor, place)
        os.close(descriptor)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["deniable", *arguments]
    os._exit(status_of_main())
