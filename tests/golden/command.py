"""The ``deniable`` command as it is installed, forked from a process that has everything imported: starting
Python takes longer.

Run as a script, reads requests, one JSON object a line: {"argv": [...], "cwd": path, "home": path, "data":
text in Latin-1 or null}. Answers each with {"status": exit status or minus the signal, "out": text in
Latin-1, "err": text}.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import traceback
from importlib.metadata import entry_points
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self


class Ended(NamedTuple):
    """How a command ended, and what it wrote."""

    status: int
    out: bytes
    err: str


class Commands:
    """A process that runs commands in a folder, with the store in its folder ``home``."""

    def __init__(self, folder: Path) -> None:
        environment = {**os.environ, "DENIABLE_HOME": str(folder / "home"), "OPENBLAS_NUM_THREADS": "1"}
        self.folder = folder
        self._process = subprocess.Popen(
            [sys.executable, __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
            cwd=folder,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.communicate()

    def run(self, *argv: str, cwd: Path | None = None, data: bytes | None = None) -> Ended:
        """Run a command to its end; the golden releases were made before columns had to be named, so that all
        are kept here."""
        from tests.support.keeping import options_to_keep  # this file is run as a script too

        ended = self._run(*argv, cwd=cwd, data=data)
        while keep := options_to_keep(ended.err):
            argv = (*argv, *keep)
            ended = self._run(*argv, cwd=cwd, data=data)
        return ended

    def _run(self, *argv: str, cwd: Path | None, data: bytes | None) -> Ended:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        where = cwd or self.folder
        request = {
            "argv": argv,
            "cwd": str(where),
            "home": str(where / "home"),
            "data": None if data is None else data.decode("latin-1"),
        }
        print(json.dumps(request), file=self._process.stdin, flush=True)
        answer = json.loads(self._process.stdout.readline())
        return Ended(answer["status"], answer["out"].encode("latin-1"), answer["err"])


def _main() -> int:
    [script] = entry_points(group="console_scripts", name="deniable")
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


def _run(argv: list[str], cwd: str, home: str, data: str | None) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, name) for name in ("in", "out", "err")]
        paths[0].write_bytes((data or "").encode("latin-1"))
        child = os.fork()
        if child == 0:
            reading, writing = os.pipe()
            feeder = os.fork()
            if feeder == 0:
                os.close(reading)
                with open(writing, "wb") as pipe, contextlib.suppress(BrokenPipeError):  # noqa: PTH123
                    pipe.write(paths[0].read_bytes())
                os._exit(0)
            os.close(writing)
            os.dup2(reading, 0)
            for descriptor, path in enumerate(paths[1:], 1):
                os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), descriptor)
            os.chdir(cwd)
            os.environ["DENIABLE_HOME"] = home
            sys.argv = ["deniable", *argv]
            os._exit(_main())
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        return {
            "status": status,
            "out": paths[1].read_bytes().decode("latin-1"),
            "err": paths[2].read_text(encoding="utf-8"),
        }


def _serve() -> None:
    answers = os.fdopen(os.dup(1), "w")
    with tempfile.TemporaryDirectory() as folder, open(os.devnull, "w") as nowhere:  # noqa: PTH123
        source = Path(folder, "in.csv")
        source.write_text("text\nthe\n")
        sys.argv = [
            "deniable",
            "privatize",
            str(source),
            "-c",
            "text",
            "-e1",
            "-o",
            f"{folder}/out.csv",
            "--quiet",
        ]
        with contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
            _main()  # so that no child has to import what it needs
    for line in sys.stdin:
        print(json.dumps(_run(**json.loads(line))), file=answers, flush=True)


if __name__ == "__main__":
    _serve()
