"""POST /check and POST /files, and what belongs to a job: its state, its output, its card, its receipt."""

from __future__ import annotations

import asyncio
import errno
import shutil
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, Response
from starlette.types import Receive, Scope, Send

from deniable.atomic import beside
from deniable.compression import BYTES_TO_TELL, compression_of
from deniable.embeddings.embedding import Embedding
from deniable.errors import InvalidParameter, RecordError
from deniable.progress import interrupted_by
from deniable.records.formats.layout import format_of, released_name
from deniable.release.card import ENDING as CARD
from deniable.release.release import Release
from deniable.service.checking import look_into
from deniable.service.job_folder import JobFile, JobFolder
from deniable.service.jobs import JobStore
from deniable.service.messages import (
    LOGGED,
    FileQuery,
    Refused,
    UploadQuery,
    refusal_of,
    without_options,
)
from deniable.service.releases import json_reply, next_chunk, read_query
from deniable.service.replies import CheckReply
from deniable.service.rules import Rules

LONGEST_WAIT = 25.0
BYTES_BETWEEN_LOOKS = 4 << 20
MOST_REHEARSED = 16 << 20
"""How large a file may be about which a decision is made."""

_REHEARSED = ("txt", "csv", "tsv", "jsonl", "json")
_SECONDS_BETWEEN_LOOKS = 0.05
_LEAST_BYTES = 1 << 15
_ENDINGS = ".txt, .csv, .tsv, .jsonl, .json, .parquet, .xlsx or .ods; all but the last three perhaps with .gz"


class Files:
    """Serves files."""

    def __init__(self, rules: Rules, store: JobStore) -> None:
        self._rules, self._store, self._limits = rules, store, rules.settings.limits

    async def upload(self, request: Request) -> Response:
        """Take a file, and release it as a job. With ``wait`` the output itself is the reply, if it is there
        in that time."""
        query = read_query(request, UploadQuery)
        if not 0.0 <= query.wait <= LONGEST_WAIT:
            raise Refused(422, f"wait: must be a number of seconds from 0 to {LONGEST_WAIT:g}")
        asked = self._noted(query)
        if format_of(Path(asked.name)) != "text" and not query.column:
            problem = "say which column holds private text; drop and keep say what becomes of the others"
            raise Refused(422, f"column: {problem}")
        prepared = await self._rules.ready(asked.query)
        if query.decision is not None:
            _check_rehearsable(asked, prepared.release)
        async with self._received(request, asked) as job:
            if query.decision is not None:
                _check_received(job.input(asked))
            job = self._store.submit(job, asked)
        return await self._reply(job, query.wait)

    async def check(self, request: Request) -> Response:
        """Look into a file, which is deleted at once."""
        asked = self._noted(read_query(request, FileQuery))
        embedding = (await self._rules.ready(asked.query)).private.mechanism.embedding
        async with self._received(request, asked) as job:
            try:
                return json_reply(await self._looked_into(job.input(asked), asked, embedding))
            finally:
                shutil.rmtree(job.path, ignore_errors=True)

    async def _looked_into(self, path: Path, asked: JobFile, embedding: Embedding) -> CheckReply:
        over = threading.Event()

        def stop() -> None:
            if over.is_set():
                raise Refused(503, "nobody waits for it any more")

        def look() -> CheckReply:
            with interrupted_by(stop):
                return look_into(
                    path, asked.layout(path), embedding, find_encoding=asked.query.encoding is None
                )

        try:
            async with asyncio.timeout(self._limits.seconds):
                return await asyncio.to_thread(look)
        except TimeoutError:
            raise Refused(503, "looking into this file took too long", retry=5) from None
        except RecordError as error:
            said = without_options(str(error)).replace(str(path), asked.name)
            raise Refused(422, LOGGED if str(path.parent) in said else said) from None
        except InvalidParameter as error:
            raise refusal_of(error) from None
        finally:
            over.set()

    @asynccontextmanager
    async def _received(self, request: Request, asked: JobFile) -> AsyncIterator[JobFolder]:
        """Give the folder that holds the body; it goes if the block fails."""
        size = int(request.headers.get("content-length", "0"))
        job = self._store.begin(size)
        try:
            await self.receive(request, job.input(asked), size)
            yield job
        except BaseException as error:
            shutil.rmtree(job.path, ignore_errors=True)
            if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise Refused(503, "there is no room left for this file") from None
            raise

    async def job(self, request: Request) -> Response:
        """Return the state of a job."""
        return json_reply(self._store.describe(self._store.find(request.path_params["id"])))

    async def output(self, request: Request) -> Response:
        """Return the released file."""
        return _output(self._done(request))

    async def card(self, request: Request) -> Response:
        """Return the card, to be handed over with the released file."""
        job = self._done(request)
        return _file(beside(job.output(job.asked), CARD), f"released-{released_name(job.asked.name)}{CARD}")

    async def receipt(self, request: Request) -> Response:
        """Return the receipt, whose counts come from the private text: to be kept."""
        job = self._done(request)
        return _file(job.receipt(job.asked), f"{job.asked.name}.receipt.json")

    async def decision(self, request: Request) -> Response:
        """Return the decision page, whether the verdict was to release or not: it quotes the private text, to
        be kept."""
        job = self._store.find(request.path_params["id"])
        reply = self._store.describe(job)
        if reply.state in ("waiting", "working"):
            raise Refused(409, "the job is not done yet", retry=1)
        if not reply.decision:
            raise Refused(404, "this job has no decision page")
        return _file(job.decision_page, f"{reply.name}.decision.html")

    async def delete(self, request: Request) -> Response:
        """Delete a job with all that belongs to it; one that is worked on stops first, and 202 says that it
        has not yet."""
        job = self._store.find(request.path_params["id"])
        if await asyncio.to_thread(self._store.delete, job):
            return Response(status_code=204)
        return json_reply(self._store.describe(job), status=202)

    def _noted(self, query: FileQuery) -> JobFile:
        """Return what is noted about a file and how to read it."""
        if format_of(Path(query.name)) is None or "." not in query.name or query.name.endswith("\n"):
            raise Refused(422, f"name: its ending must tell the format: {_ENDINGS}, .xz, .bz2 or .zst")
        known = query if isinstance(query, UploadQuery) else UploadQuery(**msgspec.structs.asdict(query))
        asked = JobFile(query=known)
        if known.record_id is not None and not self._rules.keyed:
            raise Refused(422, "record_id: means something only where the service draws from a key")
        try:
            asked.layout(Path(f"input{asked.ending}"))
        except InvalidParameter as error:
            raise refusal_of(error) from None
        return asked

    async def receive(self, request: Request, path: Path, size: int) -> None:
        """Write the body to a file that only its owner can read; it never lies anywhere else.

        Whether there is room is looked at again while it comes: others are received too, and not every length
        is told before.
        """
        body, now, seconds = aiter(request.stream()), asyncio.get_running_loop().time, self._limits.seconds
        received = looked_at = in_time = 0
        due, late = now() + seconds, f"less than {_LEAST_BYTES:,} bytes came in {seconds:g} seconds"
        # Without a buffer, so that when it was last written to tells whether it still comes.
        with path.open("xb", buffering=0) as file:
            path.chmod(0o600)
            while True:
                try:
                    chunk = await next_chunk(body, due=due, late=late)
                except ClientDisconnect:
                    raise Refused(400, "the file ends before its length") from None
                if chunk is None:
                    return
                file.write(chunk)
                received += len(chunk)
                if received - in_time >= _LEAST_BYTES:  # a byte now and then does not hold the place of a job
                    in_time, due = received, now() + seconds
                if received - looked_at >= BYTES_BETWEEN_LOOKS:
                    looked_at = received
                    await asyncio.to_thread(self._store.check_room, size, received)

    async def _reply(self, job: JobFolder, wait: float) -> Response:
        until, headers = time.monotonic() + wait, {"Location": f"/jobs/{job.id}"}
        while (reply := self._store.describe(job)).state in (
            "waiting",
            "working",
        ) and time.monotonic() < until:
            await asyncio.sleep(_SECONDS_BETWEEN_LOOKS)
        if wait and reply.state == "failed":
            raise Refused(422, reply.error or "the file could not be released", headers=headers)
        if wait and reply.state == "done":
            return _output(job, headers)
        return json_reply(reply, status=202, headers=headers)

    def _done(self, request: Request) -> JobFolder:
        job = self._store.find(request.path_params["id"])
        reply = self._store.describe(job)
        if reply.state == "failed":
            raise Refused(422, reply.error or "the file could not be released")
        if reply.state != "done":
            raise Refused(409, "the job is not done yet", retry=1)
        return job


def _check_rehearsable(asked: JobFile, release: Release) -> None:
    """Check that a decision can be made about a file: attackers read all of it at once."""
    if asked.ending.lstrip(".") not in _REHEARSED:
        raise Refused(422, f"decision: is made here for {', '.join(_REHEARSED)}; use `deniable release`")
    if (release.record_epsilon, release.unknown, release.consistent) != (None, "perturb", False):
        problem = "a budget per text, a consistent key and other policies for unknown words than perturb"
        raise Refused(422, f"decision: {problem} cannot be rehearsed")


def _check_received(path: Path) -> None:
    """Check that a file about which a decision is made is no larger than it may be, also not when it is
    read: compressed data may bear any name."""
    if path.stat().st_size > MOST_REHEARSED:
        raise Refused(413, f"decision: is made here for files of at most {MOST_REHEARSED:,} bytes")
    with path.open("rb") as file:
        if compression_of(file.read(BYTES_TO_TELL)) is not None:
            raise Refused(422, "decision: is not made here for compressed files; use `deniable release`")


def _output(job: JobFolder, headers: dict[str, str] | None = None) -> Response:
    return _file(job.output(job.asked), f"released-{released_name(job.asked.name)}", headers)


def _file(path: Path, name: str, headers: dict[str, str] | None = None) -> Response:
    kind = "application/json" if name.endswith((CARD, ".receipt.json")) else "application/octet-stream"
    kind = "text/html" if path.name == "decision.html" else kind
    return _FileThatMayGo(path, filename=name, media_type=kind, headers=headers)


class _FileThatMayGo(FileResponse):
    """A file that may be deleted before it is opened: then it is as if it had never been there."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        except (RuntimeError, FileNotFoundError):
            if Path(self.path).is_file():
                raise
            raise Refused(404, "there is no such job, or it was deleted") from None
