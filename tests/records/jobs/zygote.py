"""A process that has everything imported and forks the ``deniable`` command again and again, which kills
itself on request.

Reads requests, one JSON object a line: {"argv": [...], "folder": path, "step": number or null, "victim":
"job" or "worker"}. The command is killed before the step of that number, or loses a worker there. A step is
whatever changes a file in the folder: a write, half a write, a change of length, a wait for the disk, a file
opened to be written, renamed or removed. Answers each with {"status": exit status or minus the signal,
"drawn": how many texts were released by this process, if it was not killed}.

Checkpoints are made after every batch, and batches are small, such that a short job has all the steps that a
long one has.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import signal
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer

import deniable.cli.app
import deniable.records.formats.parquet_partial
import deniable.records.formats.reader
import deniable.records.job
from deniable.cli.app import main
from deniable.noise.key_file import write_new_key
from deniable.release.privatizer import Privatizer

# Typer makes the parser of all commands anew for each call, which takes longer than these small jobs.
deniable.cli.app.app = typer.main.get_command(deniable.cli.app.app)  # type: ignore[assignment]
deniable.records.job.SECONDS_BETWEEN_CHECKPOINTS = 0.0
deniable.records.formats.reader._RECORDS_AT_ONCE = 8

_drawn = 0
_many = Privatizer.many


def many(private: Privatizer, texts: Sequence[str | None], **named: Any) -> list[str | None]:
    """Release a batch and count its texts."""
    global _drawn
    _drawn += len(texts)
    return _many(private, texts, **named)


Privatizer.many = many  # type: ignore[method-assign, assignment]

_CHANGES = {"os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.truncate", "os.link"}
_write, _fsync, _ftruncate = os.write, os.fsync, os.ftruncate


class Steps:
    """Counts the steps of this process in a folder, and kills at one of them."""

    def __init__(self, folder: str, last: int, victim: str) -> None:
        self.folder, self.left, self.victim, self.job = folder, last, victim, os.getpid()
        os.write, os.fsync, os.ftruncate = self.write, self.fsync, self.ftruncate
        sys.addaudithook(self.heard)

    def step(self) -> None:
        if os.getpid() != self.job:
            return
        if not self.left:
            victims = [self.job] if self.victim == "job" else children_of(self.job)[:1]
            for process in victims:
                os.kill(process, signal.SIGKILL)
        self.left -= 1

    def name_of(self, descriptor: int) -> str:
        return str(Path(f"/proc/self/fd/{descriptor}").readlink())

    def heard(self, event: str, given: tuple[Any, ...]) -> None:
        changes = event in _CHANGES or (
            event == "open" and bool(given[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))
        )
        if changes and isinstance(given[0], str | Path) and str(given[0]).startswith(self.folder):
            self.step()

    def write(self, descriptor: int, data: Any) -> int:
        if not (name := self.name_of(descriptor)).startswith(self.folder):
            return _write(descriptor, data)
        self.step()
        if name.endswith(".journal") and not os.fstat(descriptor).st_size:
            return _write(
                descriptor, data
            )  # cut short in its first line, a journal is refused: it may be anybody's file
        half = _write(descriptor, data[: len(data) // 2])
        self.step()
        return half + _write(descriptor, data[half:])

    def fsync(self, fd: Any) -> None:
        self.step()
        _fsync(fd)

    def ftruncate(self, descriptor: int, length: int) -> None:
        self.step()
        _ftruncate(descriptor, length)


def warm_up() -> None:
    """Run the command once in this very process, so that no child spends its short life on imports and on
    tables of Unicode."""
    with tempfile.TemporaryDirectory() as folder:
        source, key = Path(folder, "in.csv"), Path(folder, "key")
        source.write_text("text\nthe\n")
        write_new_key(key)
        given = [
            "-c",
            "text",
            "-e1",
            "-o",
            f"{folder}/out.csv",
            "--embedding",
            "tiny",
            "-q",
            "--key-file",
            str(key),
        ]
        with contextlib.suppress(SystemExit):
            sys.argv = ["deniable", "privatize", str(source), *given]
            main()
    gc.freeze()


def children_of(process: int) -> list[int]:
    with contextlib.suppress(OSError):
        return [int(child) for child in Path(f"/proc/{process}/task/{process}/children").read_text().split()]
    return []


def run(argv: list[str], folder: str, step: int | None, victim: str) -> dict[str, int | None]:
    global _drawn
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        status = _drawn = 0
        try:
            if step is not None:
                Steps(folder, step, victim)
            sys.argv = ["deniable", *argv]
            main()
        except SystemExit as end:
            status = int(end.code or 0)
        finally:
            _write(writing, str(_drawn).encode())
            os._exit(status)
    os.close(writing)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    said = os.read(reading, 100)
    os.close(reading)
    return {"status": status, "drawn": int(said) if said else None}


if __name__ == "__main__":
    warm_up()
    for line in sys.stdin:
        print(json.dumps(run(**json.loads(line))), flush=True)
