"""A process that has everything imported and forks the ``deniable`` command again and again, killing it on request.

Reads requests, one JSON object a line: {"argv": [...], "journal": path, "after": seconds or null, "length": bytes or null,
"victim": "job" or "worker"}. The child, or one of its worker processes, is killed after the seconds, or when the journal has
that length. Answers each with {"status": exit status or minus the signal, "seconds": run time, "length": the longest the journal was
seen to be}.

Checkpoints are made far more often than in real life and releasing is slowed down, so that a short job has many moments at
which it can be cut off, however fast the machine is.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer

import deniable.cli.app
import deniable.records.formats.parquet_files.partial
import deniable.records.formats.reader
import deniable.records.jobs.releasing
from deniable.cli.app import main
from deniable.text.privatizer import Privatizer

release_many = Privatizer.many


def release_slowly(private: Privatizer, texts: Sequence[str | None], **named: Any) -> list[str | None]:
    """Release a batch after a pause."""
    time.sleep(0.005)
    return release_many(private, texts, **named)


Privatizer.many = release_slowly  # type: ignore[method-assign, assignment]
# Typer makes the parser of all commands anew for each call, which takes longer than these small jobs.
deniable.cli.app.app = typer.main.get_command(deniable.cli.app.app)  # type: ignore[assignment]
deniable.records.jobs.releasing.SECONDS_BETWEEN_CHECKPOINTS = 0.01
deniable.records.formats.reader._RECORDS_AT_ONCE = 30


def warm_up() -> None:
    """Run the command once in this very process, so that no child spends its short life on imports."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "in.csv")
        source.write_text("text\nthe\n")
        with contextlib.suppress(SystemExit):
            sys.argv = ["deniable", "privatize", str(source), "-c", "text", "-e1", "-o", f"{folder}/out.csv", "--embedding", "tiny", "-q"]
            main()


def children_of(process: int) -> list[int]:
    with contextlib.suppress(OSError):
        return [int(child) for child in Path(f"/proc/{process}/task/{process}/children").read_text().split()]
    return []


def run(argv: list[str], journal: str, after: float | None, length: int | None, victim: str) -> dict[str, float]:
    longest = 0
    started = time.monotonic()
    child = os.fork()
    if child == 0:
        try:
            sys.argv = ["deniable", *argv]
            main()
        except SystemExit as end:
            os._exit(int(end.code or 0))
        finally:
            os._exit(99)
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return {"status": os.waitstatus_to_exitcode(status), "seconds": time.monotonic() - started, "length": longest}
        with contextlib.suppress(FileNotFoundError):
            longest = max(longest, os.stat(journal).st_size)  # noqa: PTH116
        if (after is not None and time.monotonic() - started >= after) or (length is not None and longest >= length):
            victims = [child] if victim == "job" else children_of(child)[:1]
            for process in victims:
                os.kill(process, signal.SIGKILL)
                after = length = None
        time.sleep(0.001)


if __name__ == "__main__":
    warm_up()
    for line in sys.stdin:
        print(json.dumps(run(**json.loads(line))), flush=True)
