"""Files released as jobs: each in a folder of its own, continued after a restart, deleted at a stated time.

The folder of a job is named by a random id, which only its sender is told, and is open to its owner only. It holds ``job.json`` (what was
asked for), ``state.json`` (how far it is), the input until the work ends, and then the output with its card and receipt. A folder
gets its name when the whole input has arrived: one that ends in ``.upload`` was never asked to be worked on. The work itself is
that of ``deniable.records``: cut off at any moment, by SIGTERM or by ``kill -9``, it goes on where it was.
"""

from __future__ import annotations

import errno
import fcntl
import logging
import os
import re
import secrets
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import msgspec

from deniable.atomic import write_whole
from deniable.errors import DeniableError, InvalidParameter
from deniable.progress import Progress
from deniable.records.formats.layout import Layout, make_layout
from deniable.records.formats.opening import open_source
from deniable.records.jobs.job import run_job, settings_digest
from deniable.service.messages import Choice, JobReply, Refused, refusal_of
from deniable.service.rules import Rules

log = logging.getLogger("deniable.service")

State = Literal["waiting", "working", "done", "failed"]

_ID = re.compile(r"[A-Za-z0-9_-]{22}")
_UPLOAD = ".upload"
_MOST_ATTEMPTS = 3
_SECONDS_BETWEEN_LOOKS = 1.0
_SECONDS_BETWEEN_NOTES = 0.25
_SECONDS_TO_LET_GO = 5.0


class JobFile(msgspec.Struct, frozen=True, kw_only=True):
    """What was asked for. ``name`` is the file's name as its sender has it, ``ending`` what tells its format.

    ``settings`` is a digest of all that the release depends on, as it was when the file was sent: what the sender left out was the
    operator's choice at that time, and only by that choice may the file be released later.
    """

    name: str
    ending: str
    choice: Choice
    columns: tuple[str, ...]
    record_id: str | None
    delimiter: str | None
    header: bool
    encoding: str
    created: float
    settings: str = ""

    def layout(self, path: Path) -> Layout:
        """Return how the records lie in the file.

        :raises InvalidParameter: if the format cannot be told, or something does not fit it.
        """
        return make_layout(
            path,
            format=None,
            columns=self.columns,
            delimiter=self.delimiter,
            header=self.header,
            encoding=self.encoding,
            record_id=self.record_id,
        )


class StateFile(msgspec.Struct, frozen=True, kw_only=True):
    """How far a job is."""

    state: State = "waiting"
    done: int = 0
    total: int | None = None
    unit: str = "bytes"
    error: str | None = None
    attempts: int = 0
    ended: float | None = None


class _Stopped(Exception):
    """The service ends; the job goes on when it is started again."""


class JobFolder:
    """One job on the disk."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def id(self) -> str:
        """The name that its sender was told."""
        return self.path.name.removesuffix(_UPLOAD)

    @property
    def asked(self) -> JobFile:
        """What was asked for."""
        return msgspec.json.decode((self.path / "job.json").read_bytes(), type=JobFile)

    @property
    def state(self) -> StateFile:
        """How far it is."""
        try:
            return msgspec.json.decode((self.path / "state.json").read_bytes(), type=StateFile)
        except FileNotFoundError:
            return StateFile()

    def note(self, state: StateFile) -> None:
        """Write down how far it is."""
        write_whole(self.path / "state.json", msgspec.json.encode(state).decode())

    def input(self, asked: JobFile) -> Path:
        """Return where the input lies until the work ends."""
        return self.path / f"input{asked.ending}"

    def output(self, asked: JobFile) -> Path:
        """Return where the output lies once it is whole."""
        return self.path / f"output{asked.ending}"


class JobStore:
    """All jobs of a service, and the thread of this process that works on them."""

    def __init__(self, rules: Rules) -> None:
        """Make the folder of all jobs.

        :raises InvalidParameter: if it cannot be made, or others than its owner have access to it.
        """
        self._rules, self._settings = rules, rules.settings
        self.root = rules.settings.jobs_folder
        try:
            self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
            mode = self.root.stat().st_mode
        except OSError as error:
            raise InvalidParameter("jobs.folder", str(self.root), f"cannot be used: {error.strerror}") from None
        if mode & 0o077:
            raise InvalidParameter("jobs.folder", str(self.root), "others than its owner have access to it: chmod 700")
        self._arrived, self._stopping = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._work, name="jobs", daemon=True)

    def start(self) -> None:
        """Begin to work, on what an earlier run left first."""
        self._thread.start()

    def stop(self) -> None:
        """End at the next checkpoint; what was begun is continued by the next start."""
        self._stopping.set()
        self._arrived.set()
        self._thread.join(timeout=30.0)

    def begin(self, size: int | None) -> JobFolder:
        """Return a new folder to upload into.

        :raises Refused: if there are too many jobs, or there is no room for what is to come.
        """
        unended = sum(1 for job in self._folders(uploads=True) if job.path.name.endswith(_UPLOAD) or job.state.ended is None)
        if unended >= self._settings.limits.jobs:
            raise Refused(429, "there are too many jobs; wait until one is done", headers={"Retry-After": "10"})
        if size is not None and shutil.disk_usage(self.root).free < 3 * size:
            raise Refused(503, "there is not enough room for this file and its release")
        job = JobFolder(self.root / (secrets.token_urlsafe(16) + _UPLOAD))
        job.path.mkdir(mode=0o700)
        return job

    def submit(self, job: JobFolder, asked: JobFile) -> JobFolder:
        """Give an uploaded job its name, so that it is worked on, with the settings that hold now.

        :raises Refused: if it is more than the operator allows.
        """
        private = self._rules.prepare(self._rules.recipe(asked.choice)).private
        asked = msgspec.structs.replace(asked, settings=settings_digest(private, asked.layout(job.input(asked))))
        write_whole(job.path / "job.json", msgspec.json.encode(asked).decode())
        named = JobFolder(job.path.with_name(job.id))
        job.path.rename(named.path)
        self._arrived.set()
        return named

    def find(self, job_id: str) -> JobFolder:
        """Return a job.

        :raises Refused: if there is none of that id, or none any more.
        """
        path = self.root / job_id
        if not _ID.fullmatch(job_id) or not path.is_dir():
            raise Refused(404, "there is no such job, or it was deleted")
        return JobFolder(path)

    def describe(self, job: JobFolder) -> JobReply:
        """Return what its sender is told about a job.

        :raises Refused: if it was deleted just now.
        """
        try:
            state, asked = job.state, job.asked
        except FileNotFoundError:
            raise Refused(404, "there is no such job, or it was deleted") from None
        return JobReply(
            id=job.id,
            state=state.state,
            done=state.done,
            total=state.total,
            unit=state.unit,
            error=state.error,
            name=asked.name,
            deleted_at=None if state.ended is None else int(state.ended + 60.0 * self._settings.jobs.keep_minutes),
        )

    def delete(self, job: JobFolder) -> None:
        """Delete a job that is not being worked on.

        :raises Refused: if it is.
        """
        until = time.monotonic() + _SECONDS_TO_LET_GO
        while True:
            with _locked(job) as mine:
                if mine:
                    shutil.rmtree(job.path, ignore_errors=True)
                    return
                if job.state.ended is None or time.monotonic() > until:
                    raise Refused(409, "this job is being worked on; delete it when it is done")
            time.sleep(0.01)

    def _folders(self, *, uploads: bool = False) -> list[JobFolder]:
        named = (path for path in self.root.iterdir() if _ID.fullmatch(path.name.removesuffix(_UPLOAD)))
        return [JobFolder(path) for path in named if uploads or not path.name.endswith(_UPLOAD)]

    def _work(self) -> None:
        while not self._stopping.is_set():
            self._arrived.wait(_SECONDS_BETWEEN_LOOKS)
            self._arrived.clear()
            try:
                self._delete_what_is_over()
                for job in sorted(self._folders(), key=_age):
                    if not self._stopping.is_set() and job.state.ended is None:
                        self._try(job)
            except _Stopped:
                return
            except Exception as error:
                log.error("%s in the work on jobs", type(error).__name__)

    def _try(self, job: JobFolder) -> None:
        with _locked(job) as mine:
            if not mine or (state := job.state).ended is not None:
                return
            if state.attempts >= _MOST_ATTEMPTS:
                self._end(job, "failed", "the work was cut off several times, and is not tried again")
                return
            job.note(msgspec.structs.replace(state, state="working", attempts=state.attempts + 1))
            try:
                self._run(job)
            except _Stopped:
                job.note(msgspec.structs.replace(job.state, attempts=state.attempts))  # it was asked to stop, and did not fail
                raise
            except Refused as refused:
                self._end(job, "failed", refused.message)
            except DeniableError as error:
                self._end(job, "failed", self._problem(job, error))
            except OSError as error:
                full = error.errno in (errno.ENOSPC, errno.EDQUOT)
                self._end(job, "failed", "there is no room left for the release" if full else "the file could not be read or written")
            except Exception as error:
                log.error("%s in a job", type(error).__name__)
                self._end(job, "failed", "something went wrong here; the operator finds the place in the log")
            else:
                self._end(job, "done")

    def _run(self, job: JobFolder) -> None:
        asked = job.asked
        recipe = self._rules.recipe(asked.choice)
        private = recipe.make(embedding=self._rules.embeddings[str(recipe.embedding)])
        path = job.input(asked)
        layout = asked.layout(path)
        if settings_digest(private, layout) != asked.settings:
            raise Refused(422, "the settings of this service have changed since the file was sent, so nothing was released; send it again")
        with open_source(path) as source:
            run_job(
                private,
                source,
                layout,
                job.output(asked),
                resume=True,
                progress=_progress_of(job, self._stopping),
                through_links=False,
            )

    def _end(self, job: JobFolder, state: State, error: str | None = None) -> None:
        # How many bytes there were is no longer told: they were those of private text.
        job.note(StateFile(state=state, error=error, attempts=job.state.attempts, ended=time.time()))
        # After the note: a job that is cut off in between is done, and its input goes when it is looked at next.
        self._drop_private(job)

    def _drop_private(self, job: JobFolder) -> None:
        asked = job.asked
        job.input(asked).unlink(missing_ok=True)
        if job.state.state == "failed":
            for path in job.path.glob("output*"):
                path.unlink(missing_ok=True)

    def _problem(self, job: JobFolder, error: DeniableError) -> str:
        said = refusal_of(error).message if isinstance(error, InvalidParameter) else str(error)
        asked = job.asked
        return said.replace(str(job.input(asked)), asked.name).replace(str(job.output(asked)), "the output").replace(str(job.path), "")

    def _delete_what_is_over(self) -> None:
        now, keep = time.time(), 60.0 * self._settings.jobs.keep_minutes
        for job in self._folders(uploads=True):
            try:
                if job.path.name.endswith(_UPLOAD):
                    over = now - max(path.stat().st_mtime for path in (job.path, *job.path.iterdir())) > keep
                else:
                    ended = job.state.ended
                    over = ended is not None and now - ended > keep
                    if ended is not None and not over:
                        self._drop_private(job)
                if over:
                    shutil.rmtree(job.path, ignore_errors=True)
            except FileNotFoundError:  # another process deleted it, or it just got its name
                continue


def _age(job: JobFolder) -> float:
    try:
        return job.asked.created
    except (FileNotFoundError, msgspec.DecodeError):
        return 0.0


@contextmanager
def _locked(job: JobFolder) -> Iterator[bool]:
    """Hold a job against other processes, if it can be held; the lock ends with the process."""
    try:
        descriptor = os.open(job.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except FileNotFoundError:
        yield False
        return
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        yield True
    finally:
        os.close(descriptor)


def _progress_of(job: JobFolder, stopping: threading.Event) -> type[Progress]:
    class Noted(Progress):
        """Progress that is written down for whoever asks, and that ends the work when the service ends."""

        _noted = 0.0

        def __enter__(self) -> Noted:
            return self

        def report(self, done: int, total: int | None = None) -> None:
            if stopping.is_set():
                raise _Stopped
            now = time.monotonic()
            if now - self._noted >= _SECONDS_BETWEEN_NOTES:
                self._noted = now
                job.note(msgspec.structs.replace(job.state, done=done, total=total, unit=self._unit))

    return Noted
