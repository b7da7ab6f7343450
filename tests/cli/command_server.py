"""A process that has everything imported and forks the ``deniable`` command on request: to start Python takes
longer than the command.

Reads requests, one JSON object a line: {"argv": [...], "cwd": path, "env": {...}, "files": [standard input,
output, error]}. The content of the first file comes to the command through a pipe. Answers each with the exit
status, or minus the signal.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Any

import typer

import deniable.cli.app
import deniable.records.formats.parquet_partial
from deniable.cli.app import main

# Typer makes the parser of all commands anew for each call.
deniable.cli.app.app = typer.main.get_command(deniable.cli.app.app)  # type: ignore[assignment]


def warm_up() -> None:
    """Run the command in this very process, so that no child has to import what it needs."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "in.txt")
        source.write_text("the\n")
        sys.argv = ["deniable", "privatize", str(source), "-e1", "-o", f"{folder}/out.txt", "--quiet"]
        with contextlib.suppress(SystemExit):
            main()


def run(request: dict[str, Any]) -> int:
    given, *written = request["files"]
    reading, writing = os.pipe()
    feeder = os.fork()
    if feeder == 0:
        os.close(reading)
        with open(writing, "wb") as pipe:  # noqa: PTH123
            pipe.write(Path(given).read_bytes())
        os._exit(0)
    os.close(writing)
    child = os.fork()
    if child == 0:
        os.dup2(reading, 0)
        for descriptor, path in enumerate(written, 1):
            os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), descriptor)
        os.chdir(request["cwd"])
        os.environ.clear()
        os.environ.update(request["env"])
        sys.argv = ["deniable", *request["argv"]]
        os._exit(status_of_main())
    os.close(reading)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    os.waitpid(feeder, 0)
    return status


def status_of_main() -> int:
    """Return the status that Python would exit with, with everything written out."""
    try:
        main()
        status = 0
    except SystemExit as end:
        status = int(end.code or 0)
    except BaseException:
        traceback.print_exc()
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    return status


if __name__ == "__main__":
    warm_up()
    answers = os.fdopen(os.dup(1), "w")
    for line in sys.stdin:
        print(run(json.loads(line)), file=answers, flush=True)
