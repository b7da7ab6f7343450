"""Files released as jobs: each in a folder of its own, continued after a restart, deleted at a stated time.

The work itself is that of ``deniable.records``: cut off at any moment, by SIGTERM or by ``kill -9``, it goes
on where it was. Whatever is wrong with the folder of one job, all others are worked on.
"""

from __future__ import annotations

import dataclasses
import errno
import secrets
import shutil
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Self, cast

import msgspec

from deniable.atomic import write_whole
from deniable.errors import (
    DeniableError,
    InvalidParameter,
    RecordError,
    ResumeError,
    UnknownWord,
    UnusableAuditData,
    printable,
)
from deniable.progress import Progress, interrupted_by
from deniable.records.describing import settings_digest
from deniable.records.formats.opening import open_source
from deniable.records.job import Job
from deniable.release.release import Release
from deniable.service.job_folder import (
    JOB_ID,
    NOTED,
    TIMES_THE_INPUT,
    UPLOAD,
    JobFile,
    JobFolder,
    State,
    StateFile,
    locked,
)
from deniable.service.messages import LOGGED, Refused, log_without_text, refusal_of, without_options
from deniable.service.replies import JobReply
from deniable.service.rules import Rules

SECONDS_BETWEEN_LOOKS = 1.0
SECONDS_BETWEEN_CHECKS = 0.05
SECONDS_BETWEEN_MEASURES = 2.0
SECONDS_TO_LET_GO = 5.0
SECONDS_TO_COME = 60.0
_SECONDS_BETWEEN_NOTES = 0.25
_SECONDS_BETWEEN_TRIES = 0.02
_MOST_ATTEMPTS = 3

_OF_A_DECISION = ("decision.json", "deployment.yaml")
_FULL = (errno.ENOSPC, errno.EDQUOT)
_NO_ROOM = "there is no room left for the release; try again later, or send less in one file"
_NO_JOB = "there is no such job, or it was deleted"
_OF_THE_SENDER = {"columns", "drop", "keep", "keep_sheets", "column", "delimiter", "encoding", "format"}
_OF_THE_FILE = (UnknownWord, RecordError, UnusableAuditData)
_OF_THE_SENDER |= {"record_epsilon", "record_id", "file"}


class CutOff(Exception):
    """The work on a job ends before it is done: its sender had it deleted, or the service ends and goes on
    with it when it is started again."""


class JobStore:
    """All jobs of a service, and the thread of this process that works on them."""

    def __init__(self, rules: Rules) -> None:
        """Make the folder of all jobs."""
        self._rules, self._settings, self.limits = rules, rules.settings, rules.settings.limits
        self.root = rules.settings.jobs_folder
        prepare_folder(self.root)
        self._arrived, self.stopping = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._work, name="jobs", daemon=True)

    def start(self) -> None:
        """Begin to work, on what an earlier run left first."""
        self._thread.start()

    def stop(self) -> None:
        """End at the next checkpoint; what was begun is continued by the next start."""
        self.stopping.set()
        self._arrived.set()
        if self._thread.is_alive():
            self._thread.join(timeout=30.0)

    def begin(self, size: int) -> JobFolder:
        """Return a new folder to upload into; a size that is not known is 0."""
        jobs = self._folders(uploads=True)
        if sum(1 for job in jobs if job.is_upload or not _has_ended(job)) >= self.limits.jobs:
            raise Refused(429, "there are too many jobs; wait until one is done", retry=10)
        if len(jobs) >= self.limits.kept_jobs:
            problem = (
                "too many jobs are kept; delete those whose output you have, or wait until they are deleted"
            )
            raise Refused(429, problem, retry=60)
        self.check_room(size)
        job = JobFolder(self.root / (secrets.token_urlsafe(16) + UPLOAD))
        job.path.mkdir(mode=0o700)
        return job

    def check_room(self, size: int, received: int = 0) -> None:
        """Check that there is room for a file of that size or more and its release; a part was received."""
        size = max(size, received)
        whole = TIMES_THE_INPUT * size
        if whole > self.limits.kept_bytes:
            problem = (
                f"the file is too large: {TIMES_THE_INPUT} times its size is more than this service keeps"
            )
            raise Refused(413, f"{problem} of all files")
        to_come = whole - TIMES_THE_INPUT * received
        if self.takes_too_much(to_come) or shutil.disk_usage(self.root).free < whole - received:
            problem = "there is not enough room for this file and its release; try again later"
            raise Refused(503, problem, retry=60)

    def takes_too_much(self, more: int = 0) -> bool:
        """Return whether all jobs take more than they may, if one takes that much more."""
        taken = more
        for job in self._folders(uploads=True):
            with suppress(OSError):  # another process deleted it
                taken += job.bytes_taken()
        return taken > self.limits.kept_bytes

    def submit(self, job: JobFolder, asked: JobFile) -> JobFolder:
        """Give an uploaded job its name, so that it is worked on, with the settings that hold now."""
        private = self._rules.prepare(self._rules.release(asked.query)).private
        digest = settings_digest(private, asked.layout(job.input(asked)))
        asked = msgspec.structs.replace(asked, settings=digest)
        write_whole(job.path / NOTED, msgspec.json.encode(asked).decode())
        named = JobFolder(job.path.with_name(job.id))
        job.path.rename(named.path)
        self._arrived.set()
        return named

    def find(self, job_id: str) -> JobFolder:
        """Return a job."""
        path = self.root / job_id
        if not JOB_ID.fullmatch(job_id) or not path.is_dir():
            raise Refused(404, _NO_JOB)
        return JobFolder(path)

    def describe(self, job: JobFolder) -> JobReply:
        """Return what its sender may know about a job."""
        try:
            state, asked = job.state, job.asked
        except FileNotFoundError:
            raise Refused(404, _NO_JOB) from None
        except Refused as refused:
            return JobReply(id=job.id, state="failed", error=refused.message)
        except OSError:
            raise Refused(503, "the state of this job cannot be read now", retry=5) from None
        kept = 60.0 * self._settings.jobs.keep_minutes
        known = msgspec.structs.asdict(state) | {"id": job.id, "name": asked.name}
        known["decision"] = job.decision_page.is_file()
        known["deleted_at"] = None if state.ended is None else int(state.ended + kept)
        return msgspec.convert(known, JobReply)  # which has what a sender may know, and leaves out the rest

    def delete(self, job: JobFolder) -> bool:
        """Delete a job, and return whether it is gone; one that is worked on is told to stop, and deleted as
        soon as it does.
        """
        until = time.monotonic() + SECONDS_TO_LET_GO
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
                raise Refused(503, "this job cannot be stopped now; try again later", retry=5) from None
            if time.monotonic() > until:
                return False
            time.sleep(_SECONDS_BETWEEN_TRIES)

    def _remove(self, job: JobFolder) -> None:
        """Delete a folder, all of it that can be deleted."""
        shutil.rmtree(job.path, ignore_errors=True)
        try:
            if job.path.exists():
                shutil.rmtree(job.path)
        except OSError as error:
            log_without_text(error)
            problem = "not all of this job could be deleted; the operator finds the place in the log"
            raise Refused(503, problem, retry=5) from None

    def _folders(self, *, uploads: bool = False) -> list[JobFolder]:
        named = (path for path in self.root.iterdir() if JOB_ID.fullmatch(path.name.removesuffix(UPLOAD)))
        return [job for job in map(JobFolder, named) if (uploads or not job.is_upload) and job.path.is_dir()]

    def _work(self) -> None:
        while not self.stopping.is_set():
            try:
                for job in self._folders(uploads=True):
                    self._look_at(job, self.delete_if_over)
                for job in sorted(self._folders(), key=_sent):
                    if not self.stopping.is_set():
                        self._look_at(job, self.attempt)
            except Exception as error:  # the only thread: inputs must be deleted whatever happened
                log_without_text(error)
            self._arrived.wait(SECONDS_BETWEEN_LOOKS)
            self._arrived.clear()

    def _look_at(self, job: JobFolder, do: Callable[[JobFolder], None]) -> None:
        """Do something about one job; what goes wrong with it must not keep the others from being done."""
        try:
            do(job)
        except (FileNotFoundError, Refused, CutOff):
            return  # another process deleted it, or it just got its name; or it was logged why it stays
        except Exception as error:
            log_without_text(error)

    def attempt(self, job: JobFolder) -> None:
        """Work on a job, if it has not ended and nobody else does."""
        if job.state.ended is not None:
            return
        with locked(job) as mine:
            if not mine or (state := job.state).ended is not None or job.cancelled:
                return
            if state.attempts >= _MOST_ATTEMPTS:
                self.end(job, "failed", "the work was cut off several times, and is not tried again")
                return
            job.note(msgspec.structs.replace(state, state="working", attempts=state.attempts + 1))
            try:
                self._run(job)
            except CutOff:
                if not job.cancelled:  # the service was asked to end, and the work did not fail
                    job.note(msgspec.structs.replace(job.state, attempts=state.attempts))
                    raise
                self._remove(job)
            except Exception as error:
                self.end(job, "failed", self._problem(job, error))
            else:
                self.end(job, "done")

    def _run(self, job: JobFolder) -> None:
        asked = job.asked
        release = self._rules.release(asked.query)
        private = release.make(embedding=self._rules.embedding_of(release))
        path = job.input(asked)
        layout = asked.layout(path)
        if settings_digest(private, layout) != asked.settings:
            problem = (
                "the settings of this service have changed since the file was sent, so nothing was released"
            )
            raise Refused(422, f"{problem}; send it again")
        working = Working(self, job)
        progress = cast("type[Progress]", working)
        with interrupted_by(working.check):
            if asked.query.decision is not None:
                _decide(job, asked, release, progress)
                return
            with open_source(path) as source:
                output = job.output(asked)
                Job(
                    private, source, layout, output, resume=True, progress=progress, through_links=False
                ).run()

    def end(self, job: JobFolder, state: State, error: str | None = None) -> None:
        """Note that the work on a job has ended, and delete what is private of it."""
        # How many bytes there were is no longer told: they were those of private text.
        job.note(StateFile(state=state, error=error, attempts=job.state.attempts, ended=time.time()))
        # After the note: a job that is cut off in between is done, and its input goes when it is looked at
        # next.
        job.drop_private()

    def _problem(self, job: JobFolder, error: Exception) -> str:
        """Return why a job failed, for its sender: what is wrong with the file or with what was asked, and
        nothing about this machine. Everything else is logged."""
        if isinstance(error, Refused):
            return error.message
        full = any(isinstance(each, OSError) and each.errno in _FULL for each in (error, error.__cause__))
        said = LOGGED
        if isinstance(error, OSError):
            log_without_text(error)
            return _NO_ROOM if full else "the file could not be read or written"
        if isinstance(error, _OF_THE_FILE) and not isinstance(error, ResumeError):
            said = _NO_ROOM if full else without_options(str(error))
        elif isinstance(error, InvalidParameter) and error.name in _OF_THE_SENDER:
            said = refusal_of(error).message
        if isinstance(error, DeniableError):
            asked = job.asked
            said = said.replace(str(job.input(asked)), asked.name).replace(
                str(job.output(asked)), "the output"
            )
        if said == LOGGED or str(self.root) in said or printable(self.root) in said:
            log_without_text(error)
            return LOGGED
        return said

    def delete_if_over(self, job: JobFolder) -> None:
        """Delete a job when its time is over, or its sender had it deleted."""
        now, keep = time.time(), 60.0 * self._settings.jobs.keep_minutes
        if job.is_upload:  # of a process that was killed: the input of any other is written to, or refused
            last = max(path.stat().st_mtime for path in (job.path, *job.path.iterdir()))
            over = now - last > min(keep, SECONDS_TO_COME + self.limits.seconds)
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


def _decide(job: JobFolder, asked: JobFile, release: Release, progress: type[Progress]) -> None:
    """Attack rehearsal draws of a file, make the decision page, and release the file if the verdict is so."""
    from deniable.decision.flow import release_file  # attacks are loaded by who asks for them
    from deniable.decision.page import decision_page

    if job.output(asked).exists():  # of an attempt that ended before that was noted; nobody has seen it
        shutil.rmtree(job.decided)
    risk = asked.query.risk
    release = dataclasses.replace(release, risk=risk)  # refused, were the ε of the level another one here
    given = {each.name: getattr(release, each.name) for each in dataclasses.fields(release)}
    decision = release_file(
        job.input(asked),
        job.decided,
        text=asked.query.column,
        drop=asked.query.drop,
        keep=asked.query.keep,
        record_id=asked.query.record_id,
        accept_changes=asked.query.decision == "changes",
        resume=True,
        progress=progress,
        reading={
            "delimiter": asked.query.delimiter,
            "header": asked.query.header,
            "encoding": asked.query.encoding or "utf-8",
        },
        **given | {"epsilon": release.epsilon if risk is None else None, "risk": risk},
    )
    page = decision_page(dataclasses.replace(decision, source=Path(asked.name)))
    write_whole(job.decision_page, page.html() + "\n")
    for written in (decision.page, *(decision.page.with_name(name) for name in _OF_A_DECISION)):
        written.unlink()  # what is private lies here once, and for no longer than it has to
    if not decision.released:
        problem = f"the verdict is: {decision.verdict.answer}; the decision page says why"
        more = "; decision=changes accepts the changes" if decision.verdict.may_release else ""
        raise Refused(422, f"{problem}{more}")


class Working:
    """One job while it is worked on: the progress of the work, noted for those who ask, and whether the work
    has to end, also inside a text."""

    def __init__(self, store: JobStore, job: JobFolder) -> None:
        self._store, self._job = store, job
        self._before, self._started = job.state.seconds, time.monotonic()
        self._checked, self._noted, self._measured = 0.0, 0.0, self._started

    def __call__(self, _label: str, *, unit: str, **_: Any) -> Self:
        """Return the progress that the work reports to."""
        self._unit = unit
        return self

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def report(self, done: int, total: int | None = None) -> None:
        """Note how far the work is."""
        now = time.monotonic()
        if self._store.stopping.is_set() or now - self._noted >= _SECONDS_BETWEEN_NOTES:
            self._noted = now
            self._note(done=done, total=total, unit=self._unit)
        self.check()

    def check(self) -> None:
        """Check that the work may go on. It is asked for every text and every few thousand words, and looks
        now and then.
        """
        now, most = time.monotonic(), self._store.limits.job_seconds
        if now - self._checked < SECONDS_BETWEEN_CHECKS:
            return
        self._checked = now
        if self._job.cancelled:
            raise CutOff
        if self._before + now - self._started > most:
            problem = (
                f"the work took longer than the operator allows, {most:g} seconds; send less in one file"
            )
            raise Refused(422, problem)
        if now - self._measured >= SECONDS_BETWEEN_MEASURES:
            self._measured = now
            if self._store.takes_too_much():
                raise Refused(422, _NO_ROOM)
        if self._store.stopping.is_set():
            self._note()
            raise CutOff

    def _note(self, **more: Any) -> None:
        seconds = self._before + time.monotonic() - self._started
        self._job.note(msgspec.structs.replace(self._job.state, seconds=seconds, **more))


def prepare_folder(root: Path) -> None:
    """Make the folder of all jobs, or see that it can be used."""
    try:
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        mode = root.stat().st_mode
        with tempfile.TemporaryDirectory(dir=root):  # a file system may be read-only, whatever the mode says
            pass
    except OSError as error:
        advice = "name a folder that the service may write to, as folder under [jobs]"
        problem = f"cannot be used: {error.strerror}; {advice}"
        raise InvalidParameter("jobs.folder", str(root), problem) from None
    if mode & 0o077:
        raise InvalidParameter("jobs.folder", str(root), "others than its owner have access to it: chmod 700")


def _has_ended(job: JobFolder) -> bool:
    try:
        return job.state.ended is not None
    except OSError:  # it counts until it is known
        return False


def _sent(job: JobFolder) -> float:
    with suppress(OSError):
        return (job.path / NOTED).lstat().st_mtime
    return 0.0
