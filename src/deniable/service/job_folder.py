"""One job on the disk.

The folder of a job is named by a random id, which only its sender is told, and is open to its owner only. It
holds ``job.json`` (what was asked for), ``state.json`` (how far it is), the input until the work ends, and
then the output with its card and receipt, and the decision page if one was asked for; ``cancel`` if it is to
be deleted. A folder gets its name when the whole input has arrived: one that ends in ``.upload`` was never
asked to be worked on.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, TypeVar

import msgspec

from deniable.atomic import beside, lock, write_whole
from deniable.compression import ENDINGS as COMPRESSION_ENDINGS
from deniable.records.formats.layout import Layout, Roles, make_layout, released_name
from deniable.service.messages import Refused, UploadQuery, resolve
from deniable.service.replies import JobReply

State = Literal["waiting", "working", "done", "failed"]
Noted = TypeVar("Noted")

JOB_ID = re.compile(r"[A-Za-z0-9_-]{22}")
UPLOAD = ".upload"
NOTED = "job.json"
_CANCEL = "cancel"
_LONGEST_NOTE = 1 << 24
TIMES_THE_INPUT = 3
"""The input, its release, and the copy in which a compressed release gets its final form."""

UNREADABLE = "what was noted about this job cannot be read; send the file again"


class JobFile(msgspec.Struct, frozen=True, kw_only=True):
    """What was asked for. ``settings`` is a digest of all that the release depends on, as it was then: what
    the sender left out was the operator's choice, and only by that choice may the file be released later.
    """

    query: UploadQuery
    settings: str = ""

    @property
    def name(self) -> str:
        """The file's name as its sender has it."""
        return self.query.name

    @property
    def ending(self) -> str:
        """What tells the file's format, and its compression."""
        suffixes = Path(self.name).suffixes[-2:]
        packed = suffixes[-1].lower() in COMPRESSION_ENDINGS
        return "".join(suffixes if packed else suffixes[-1:]).lower()

    def layout(self, path: Path) -> Layout:
        """Return how the records lie in the file."""
        query = self.query
        roles = Roles(
            text=tuple(query.column),
            drop=tuple(query.drop),
            keep=tuple(query.keep),
            keep_sheets=tuple(query.keep_sheet),
        )
        return make_layout(
            path,
            roles=roles,
            delimiter=query.delimiter,
            header=query.header,
            encoding=query.encoding or "utf-8",
            record_id=query.record_id,
        )


class StateFile(msgspec.Struct, frozen=True, kw_only=True):
    """How far a job is. ``seconds`` were worked on it, by all processes that did."""

    state: State = "waiting"
    done: int = 0
    total: int | None = None
    unit: str = "bytes"
    error: str | None = None
    attempts: int = 0
    seconds: float = 0.0
    ended: float | None = None


resolve(JobFile, StateFile, JobReply)


class JobFolder:
    """One job on the disk."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def id(self) -> str:
        """The name that its sender was told."""
        return self.path.name.removesuffix(UPLOAD)

    @property
    def is_upload(self) -> bool:
        """Whether its input has not all arrived."""
        return self.path.name.endswith(UPLOAD)

    @property
    def asked(self) -> JobFile:
        """What was asked for."""
        return _read(self.path / NOTED, JobFile)

    @property
    def state(self) -> StateFile:
        """How far it is. A job whose state cannot be read has failed, when that was written: it must not stay
        for ever."""
        path = self.path / "state.json"
        try:
            return _read(path, StateFile)
        except FileNotFoundError:
            return StateFile()
        except Refused:
            return StateFile(state="failed", error=UNREADABLE, ended=path.lstat().st_mtime)

    @property
    def cancelled(self) -> bool:
        """Whether its sender had it deleted: the process that holds it deletes it, also after a restart."""
        return (self.path / _CANCEL).exists()

    def cancel(self) -> None:
        """Have it deleted by the process that works on it."""
        (self.path / _CANCEL).touch(mode=0o600)

    def note(self, state: StateFile) -> None:
        """Write down how far it is."""
        write_whole(self.path / "state.json", msgspec.json.encode(state).decode())

    def input(self, asked: JobFile) -> Path:
        """Return where the input lies until the work ends."""
        return self.path / f"input{asked.ending}"

    def output(self, asked: JobFile) -> Path:
        """Return where the output lies once it is whole."""
        if asked.query.decision is not None:
            return self.decided / "hand-over" / released_name(f"released{asked.ending}")
        return self.path / released_name(f"output{asked.ending}")

    def receipt(self, asked: JobFile) -> Path:
        """Return where the receipt lies."""
        output = self.output(asked)
        return beside(
            output if asked.query.decision is None else self.decided / "keep" / output.name, ".receipt.json"
        )

    @property
    def decided(self) -> Path:
        """The folder of a release by a decision."""
        return self.path / "output"

    @property
    def decision_page(self) -> Path:
        """Where the decision page lies, also of a job that failed by its verdict. It quotes the private
        text."""
        return self.path / "decision.html"

    def bytes_taken(self) -> int:
        """Return what it takes on the disk, or will take at least while it is worked on."""
        sizes = {path: path.lstat().st_size for path in self.path.rglob("*")}
        inputs = sum(size for path, size in sizes.items() if path.name.startswith("input"))
        return max(sum(sizes.values()), TIMES_THE_INPUT * inputs)

    def drop_private(self) -> None:
        """Delete the input, and of a job that failed what there is of an output; this needs nothing that was
        noted but the state."""
        failed = self.state.state == "failed"
        for path in (*self.path.glob("input*"), *(self.path.glob("output*") if failed else ())):
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)


def _read(path: Path, kind: type[Noted]) -> Noted:
    """Return what a file says. That there is none, or that the system cannot open it just now, is an error of
    its own.
    """
    try:
        with path.open("rb") as file:
            return msgspec.json.decode(file.read(_LONGEST_NOTE), type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, IsADirectoryError, PermissionError):
        raise Refused(422, UNREADABLE) from None


@contextmanager
def locked(job: JobFolder) -> Iterator[bool]:
    """Hold a job against other processes, if it can be held; the lock ends with the process."""
    try:
        descriptor = os.open(job.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except FileNotFoundError:
        yield False
        return
    try:
        yield lock(descriptor, wait=False)
    finally:
        os.close(descriptor)
