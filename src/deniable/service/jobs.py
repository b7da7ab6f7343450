"""Files released as jobs: each in a folder of its own, continued after a restart, deleted at a stated time.

The work itself is that of ``deniable.records``: cut off at any moment, by SIGTERM or by ``kill -9``, it goes
on where it was. Whatever is wrong with the folder of one job, all others are worked on.
"""

from __future__ import annotations

import errno
import secrets
import shutil
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import msgspec

from deniable.atomic import write_whole
from deniable.errors import DeniableError, InvalidParameter, RecordError, ResumeError, UnknownWord, printable
from deniable.progress import Progress, interrupted_by
from deniable.records.formats.opening import open_source
from deniable.records.jobs.job import run_job, settings_digest
from deniable.service.faults import log_without_text
from deniable.service.job_folder import (
    JOB_ID,
    TIMES_THE_INPUT,
    UNREADABLE,
    UPLOAD,
    JobFile,
    JobFolder,
    State,
    StateFile,
    UnreadableNote,
    locked,
)
from deniable.service.messages import JobReply, Refused, refusal_of, without_options
from deniable.service.rules import Rules
from deniable.service.settings import Limits

_FULL = (errno.ENOSPC, errno.EDQUOT)
_NO_ROOM = "there is no room left for the release; try again later, or send less in one file"
_LOGGED = "something went wrong here; the operator finds the place in the log"
_OF_THE_SENDER = frozenset(
    {
        "column",
        "columns",
        "drop",
        "keep",
        "keep_sheets",
        "delimiter",
        "encoding",
        "format",
        "record_epsilon",
        "record_id",
    }
)
_MOST_ATTEMPTS = 3
_SECONDS_BETWEEN_LOOKS = 1.0
_SECONDS_BETWEEN_NOTES = 0.25
_SECONDS_BETWEEN_CHECKS = 0.05
_SECONDS_BETWEEN_MEASURES = 2.0
_SECONDS_TO_LET_GO = 5.0
_SECONDS_TO_COME = 60.0
_SECONDS_BETWEEN_TRIES = 0.02


class _Stopped(Exception):
    """The service ends; the job goes on when it is started again."""


class _Cancelled(Exception):
    """The sender had the job deleted."""


class JobStore:
    """All jobs of a service, and the thread of this process that works on them."""

    def __init__(self, rules: Rules) -> None:
        """Make the folder of all jobs.

        :raises InvalidParameter: if it cannot be used.
        """
        self._rules, self._settings = rules, rules.settings
        self.root = rules.settings.jobs_folder
        prepare_folder(self.root)
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

    def begin(self, size: int) -> JobFolder:
        """Return a new folder to upload into; a size that is not known is 0.

        :raises Refused: if there are too many jobs, or there is no room for what is to come.
        """
        jobs, limits = self._folders(uploads=True), self._settings.limits
        if sum(1 for job in jobs if job.is_upload or not _has_ended(job)) >= limits.jobs:
            raise Refused(
                429, "there are too many jobs; wait until one is done", headers={"Retry-After": "10"}
            )
        if len(jobs) >= limits.kept_jobs:
            problem = (
                "too many jobs are kept; delete those whose output you have, or wait until they are deleted"
            )
            raise Refused(429, problem, headers={"Retry-After": "60"})
        self.check_room(size)
        job = JobFolder(self.root / (secrets.token_urlsafe(16) + UPLOAD))
        job.path.mkdir(mode=0o700)
        return job

    def check_room(self, size: int, received: int = 0) -> None:
        """Do nothing if there is room for a file of that size or more and its release, of which a part was
        received.

        :raises Refused: if there is not.
        """
        size = max(size, received)
        if TIMES_THE_INPUT * size > self._settings.limits.kept_bytes:
            raise Refused(
                413,
                f"the file is too large: {TIMES_THE_INPUT} times its size is more than this service keeps of "
                "all files",
            )
        to_come = TIMES_THE_INPUT * (size - received)
        if (
            self._takes_too_much(to_come)
            or shutil.disk_usage(self.root).free < TIMES_THE_INPUT * size - received
        ):
            raise Refused(
                503,
                "there is not enough room for this file and its release; try again later",
                headers={"Retry-After": "60"},
            )

    def _takes_too_much(self, more: int = 0) -> bool:
        """Return whether all jobs take more than they may, if one takes that much more."""
        taken = more
        for job in self._folders(uploads=True):
            with suppress(OSError):  # another process deleted it
                taken += job.bytes_taken()
        return taken > self._settings.limits.kept_bytes

    def submit(self, job: JobFolder, asked: JobFile) -> JobFolder:
        """Give an uploaded job its name, so that it is worked on, with the settings that hold now.

        :raises Refused: if it is more than the operator allows.
        """
        private = self._rules.prepare(self._rules.release(asked.choice)).private
        asked = msgspec.structs.replace(
            asked, settings=settings_digest(private, asked.layout(job.input(asked)))
        )
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
        if not JOB_ID.fullmatch(job_id) or not path.is_dir():
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
        except UnreadableNote:
            return JobReply(id=job.id, state="failed", error=UNREADABLE)
        except OSError:
            raise Refused(
                503, "the state of this job cannot be read now", headers={"Retry-After": "5"}
            ) from None
        deleted_at = (
            None if state.ended is None else int(state.ended + 60.0 * self._settings.jobs.keep_minutes)
        )
        known = msgspec.structs.asdict(state) | {"id": job.id, "name": asked.name, "deleted_at": deleted_at}
        return msgspec.convert(known, JobReply)  # which has what a sender is told, and leaves out the rest

    def delete(self, job: JobFolder) -> bool:
        """Delete a job, and return whether it is gone; one that is worked on is told to stop, and deleted as
        soon as it does.

        :raises Refused: if that cannot be noted, or something of it cannot be deleted.
        """
        until = time.monotonic() + _SECONDS_TO_LET_GO
        while True:
            with locked(job) as mine:
                if mine:
                    self._remove(job)
                    return True
            try:
                job.cancel()
            except FileNotFoundError:
                return True
            except OSError as error:
                log_without_text(error)
                raise Refused(
                    503, "this job cannot be stopped now; try again later", headers={"Retry-After": "5"}
                ) from None
            if time.monotonic() > until:
                return False
            time.sleep(_SECONDS_BETWEEN_TRIES)

    def _remove(self, job: JobFolder) -> None:
        """Delete a folder, all of it that can be deleted.

        :raises Refused: if something is left.
        """
        shutil.rmtree(job.path, ignore_errors=True)
        if not job.path.exists():
            return
        try:
            shutil.rmtree(job.path)
        except OSError as error:
            log_without_text(error)
            problem = "not all of this job could be deleted; the operator finds the place in the log"
            raise Refused(503, problem, headers={"Retry-After": "5"}) from None

    def _folders(self, *, uploads: bool = False) -> list[JobFolder]:
        named = (path for path in self.root.iterdir() if JOB_ID.fullmatch(path.name.removesuffix(UPLOAD)))
        return [job for job in map(JobFolder, named) if (uploads or not job.is_upload) and job.path.is_dir()]

    def _work(self) -> None:
        while not self._stopping.is_set():
            try:
                for job in self._folders(uploads=True):
                    self._look_at(job, self._delete_if_over)
                for job in sorted(self._folders(), key=_age):
                    if not self._stopping.is_set():
                        self._look_at(job, self._try)
            except _Stopped:
                return
            except Exception as error:
                log_without_text(error)
            self._arrived.wait(_SECONDS_BETWEEN_LOOKS)
            self._arrived.clear()

    def _look_at(self, job: JobFolder, do: Callable[[JobFolder], None]) -> None:
        """Do something about one job; what goes wrong with it must not keep the others from being done."""
        try:
            do(job)
        except _Stopped:
            raise
        except (
            FileNotFoundError,
            Refused,
        ):  # another process deleted it, or it just got its name; or it was logged why it stays
            return
        except Exception as error:
            log_without_text(error)

    def _try(self, job: JobFolder) -> None:
        if job.state.ended is not None:
            return
        with locked(job) as mine:
            if not mine or (state := job.state).ended is not None or job.cancelled:
                return
            if state.attempts >= _MOST_ATTEMPTS:
                self._end(job, "failed", "the work was cut off several times, and is not tried again")
                return
            job.note(msgspec.structs.replace(state, state="working", attempts=state.attempts + 1))
            try:
                self._run(job)
            except _Stopped:
                job.note(
                    msgspec.structs.replace(job.state, attempts=state.attempts)
                )  # it was asked to stop, and did not fail
                raise
            except _Cancelled:
                self._remove(job)
            except Refused as refused:
                self._end(job, "failed", refused.message)
            except UnreadableNote:
                self._end(job, "failed", UNREADABLE)
            except DeniableError as error:
                self._end(job, "failed", self._problem(job, error))
            except OSError as error:
                log_without_text(error)
                self._end(
                    job,
                    "failed",
                    _NO_ROOM if error.errno in _FULL else "the file could not be read or written",
                )
            except Exception as error:
                log_without_text(error)
                self._end(job, "failed", _LOGGED)
            else:
                self._end(job, "done")

    def _run(self, job: JobFolder) -> None:
        asked = job.asked
        release = self._rules.release(asked.choice)
        private = release.make(embedding=self._rules.embeddings[str(release.embedding)])
        path = job.input(asked)
        layout = asked.layout(path)
        if settings_digest(private, layout) != asked.settings:
            raise Refused(
                422,
                "the settings of this service have changed since the file was sent, so nothing was released; "
                "send it again",
            )
        worked = self._worked_on(job)
        with open_source(path) as source, interrupted_by(worked.check):
            run_job(
                private,
                source,
                layout,
                job.output(asked),
                resume=True,
                progress=worked.progress,
                through_links=False,
            )

    def _worked_on(self, job: JobFolder) -> _Working:
        return _Working(
            job, self._settings.limits, stopping=self._stopping, takes_too_much=self._takes_too_much
        )

    def _end(self, job: JobFolder, state: State, error: str | None = None) -> None:
        # How many bytes there were is no longer told: they were those of private text.
        job.note(StateFile(state=state, error=error, attempts=job.state.attempts, ended=time.time()))
        # After the note: a job that is cut off in between is done, and its input goes when it is looked at
        # next.
        job.drop_private()

    def _problem(self, job: JobFolder, error: DeniableError) -> str:
        """Return what the sender is told: what is wrong with the file or with what was asked, and nothing
        about this machine."""
        asked = job.asked
        said = _LOGGED
        if isinstance(error, UnknownWord | RecordError) and not isinstance(error, ResumeError):
            full = isinstance(error.__cause__, OSError) and error.__cause__.errno in _FULL
            said = _NO_ROOM if full else without_options(str(error))
        elif isinstance(error, InvalidParameter) and error.name in _OF_THE_SENDER:
            said = refusal_of(error).message
        said = said.replace(str(job.input(asked)), asked.name).replace(str(job.output(asked)), "the output")
        if said == _LOGGED or str(self.root) in said or printable(self.root) in said:
            log_without_text(error)
            return _LOGGED
        return said

    def _delete_if_over(self, job: JobFolder) -> None:
        now, keep = time.time(), 60.0 * self._settings.jobs.keep_minutes
        if job.is_upload:  # of a process that was killed: the input of any other is written to, or refused
            last = max(path.stat().st_mtime for path in (job.path, *job.path.iterdir()))
            over = now - last > min(keep, _SECONDS_TO_COME + self._settings.limits.seconds)
        else:
            ended = job.state.ended
            over = ended is not None and now - ended > keep
            if ended is not None and not over:
                job.drop_private()
        if over:
            self._remove(job)
        elif job.cancelled:
            with locked(job) as mine:
                if mine:
                    self._remove(job)


class _Working:
    """One job while it is worked on: how far it is, written down for whoever asks, and whether the work has
    to end, also inside a text."""

    def __init__(
        self, job: JobFolder, limits: Limits, *, stopping: threading.Event, takes_too_much: Callable[[], bool]
    ) -> None:
        self._job, self._limits, self._stopping, self._takes_too_much = job, limits, stopping, takes_too_much
        self._before, self._started = job.state.seconds, time.monotonic()
        self._checked, self._noted, self._measured = 0.0, 0.0, self._started

    @property
    def progress(self) -> type[Progress]:
        """The progress that the work reports to."""
        working = self

        class Noted(Progress):
            """Progress that is written down."""

            def __enter__(self) -> Noted:
                return self

            def report(self, done: int, total: int | None = None) -> None:
                working.note(done, total, self._unit)
                working.check()

        return Noted

    def note(self, done: int, total: int | None, unit: str) -> None:
        """Write down how far the work is."""
        now = time.monotonic()
        if self._stopping.is_set() or now - self._noted >= _SECONDS_BETWEEN_NOTES:
            self._noted = now
            self._job.note(
                msgspec.structs.replace(
                    self._job.state, done=done, total=total, unit=unit, seconds=self._seconds(now)
                )
            )

    def check(self) -> None:
        """Do nothing if the work may go on. It is asked for every text and every few thousand words, and
        looks now and then.

        :raises _Cancelled: if the sender had the job deleted.
        :raises _Stopped: if the service ends.
        :raises Refused: if the work takes more time or room than it may.
        """
        now, limits = time.monotonic(), self._limits
        if now - self._checked < _SECONDS_BETWEEN_CHECKS:
            return
        self._checked = now
        if self._job.cancelled:
            raise _Cancelled
        if self._seconds(now) > limits.job_seconds:
            raise Refused(
                422,
                f"the work took longer than the operator allows, {limits.job_seconds:g} seconds; send less "
                "in one file",
            )
        if now - self._measured >= _SECONDS_BETWEEN_MEASURES:
            self._measured = now
            if self._takes_too_much():
                raise Refused(422, _NO_ROOM)
        if self._stopping.is_set():
            self._job.note(msgspec.structs.replace(self._job.state, seconds=self._seconds(now)))
            raise _Stopped

    def _seconds(self, now: float) -> float:
        return self._before + now - self._started


def prepare_folder(root: Path) -> None:
    """Make the folder of all jobs, or see that it can be used.

    :raises InvalidParameter: if it cannot be made or written to, or others than its owner have access to it.
    """
    try:
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        mode = root.stat().st_mode
        with tempfile.TemporaryDirectory(dir=root):  # a file system may be read-only, whatever the mode says
            pass
    except OSError as error:
        problem = (
            f"cannot be used: {error.strerror}; name a folder that the service may write to, as "
            "folder under [jobs]"
        )
        raise InvalidParameter("jobs.folder", str(root), problem) from None
    if mode & 0o077:
        raise InvalidParameter("jobs.folder", str(root), "others than its owner have access to it: chmod 700")


def _has_ended(job: JobFolder) -> bool:
    try:
        return job.state.ended is not None
    except OSError:  # it counts until it is known
        return False


def _age(job: JobFolder) -> float:
    try:
        return job.asked.created
    except (OSError, UnreadableNote):
        return 0.0
