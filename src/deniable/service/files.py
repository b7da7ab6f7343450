"""POST /files and what belongs to a job: how far it is, its output, its card, its receipt."""

from __future__ import annotations

import asyncio
import errno
import re
import shutil
import time
from pathlib import Path

from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, Response
from starlette.types import Receive, Scope, Send

from deniable.atomic import beside
from deniable.compression import ENDINGS as COMPRESSION_ENDINGS
from deniable.errors import InvalidParameter
from deniable.records.formats.layout import format_of, released_name
from deniable.release.card_file import ENDING as CARD
from deniable.service.job_folder import JobFile, JobFolder
from deniable.service.jobs import JobStore
from deniable.service.messages import Refused, refusal_of
from deniable.service.releases import choice_from_query, json_reply, next_chunk
from deniable.service.rules import Rules

_NAME = re.compile(r"[\w][\w .()+-]{0,119}")
_OWN = frozenset(
    {"name", "column", "drop", "keep", "keep_sheet", "record_id", "delimiter", "header", "encoding", "wait"}
)
_LONGEST_WAIT = 25.0
_GONE = "there is no such job, or it was deleted"
_SECONDS_BETWEEN_LOOKS = 0.05
_BYTES_BETWEEN_LOOKS = 4 << 20
_LEAST_BYTES = 1 << 15


class Files:
    """Serves files."""

    def __init__(self, rules: Rules, store: JobStore) -> None:
        self._rules, self._store, self._limits = rules, store, rules.settings.limits

    async def upload(self, request: Request) -> Response:
        """Take a file, and release it as a job. With ``wait`` the output itself is the reply, if it is there
        in that time."""
        asked, wait = self._asked(request)
        self._rules.prepare(self._rules.release(asked.choice))
        length = request.headers.get("content-length")
        size = 0 if length is None else int(length)
        job = self._store.begin(size)
        try:
            await self._receive(request, job.input(asked), size)
            job = self._store.submit(job, asked)
        except BaseException as error:
            shutil.rmtree(job.path, ignore_errors=True)
            if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise Refused(503, "there is no room left for this file") from None
            raise
        return await self._reply(job, wait)

    async def job(self, request: Request) -> Response:
        """Tell how far a job is."""
        return json_reply(self._store.describe(self._store.find(request.path_params["id"])))

    async def output(self, request: Request) -> Response:
        """Give the released file."""
        job = self._done(request)
        return _file(job.output(job.asked), f"released-{released_name(job.asked.name)}")

    async def card(self, request: Request) -> Response:
        """Give the card, to be handed over with the released file."""
        job = self._done(request)
        return _file(
            beside(job.output(job.asked), CARD),
            f"released-{released_name(job.asked.name)}{CARD}",
            "application/json",
        )

    async def receipt(self, request: Request) -> Response:
        """Give the receipt, whose counts come from the private text: to be kept."""
        job = self._done(request)
        return _file(
            beside(job.output(job.asked), ".receipt.json"),
            f"{job.asked.name}.receipt.json",
            "application/json",
        )

    async def delete(self, request: Request) -> Response:
        """Delete a job with all that belongs to it; one that is worked on stops first, and 202 says that it
        has not yet."""
        job = self._store.find(request.path_params["id"])
        if await asyncio.to_thread(self._store.delete, job):
            return Response(status_code=204)
        return json_reply(self._store.describe(job), status=202)

    def _asked(self, request: Request) -> tuple[JobFile, float]:
        query = request.query_params
        name = query.get("name", "")
        if not _NAME.fullmatch(name):
            raise Refused(
                422,
                "name: must be the file's name, of letters, digits and . _ - ( ), so that its ending tells "
                "the format",
            )
        if (kind := format_of(Path(name))) is None or "." not in name:
            raise Refused(
                422,
                "name: its ending must tell the format: .txt, .csv, .tsv, .jsonl, .json, .parquet, .xlsx or "
                ".ods; all but the last three "
                "perhaps with .gz, .xz, .bz2 or .zst",
            )
        header = query.get("header", "true")
        if header not in ("true", "false"):
            raise Refused(422, "header: must be true or false")
        try:
            wait = float(query.get("wait", "0"))
        except ValueError:
            wait = -1.0
        if not 0.0 <= wait <= _LONGEST_WAIT:
            raise Refused(422, f"wait: must be a number of seconds from 0 to {_LONGEST_WAIT:g}")
        columns = tuple(query.getlist("column"))
        if kind != "text" and not columns:
            raise Refused(
                422,
                "column: say which column holds private text; drop and keep say what becomes of the others",
            )
        suffixes = Path(name).suffixes
        asked = JobFile(
            name=name,
            ending="".join(
                suffixes[-2:] if suffixes[-1].lower() in COMPRESSION_ENDINGS else suffixes[-1:]
            ).lower(),
            choice=choice_from_query(request, _OWN),
            columns=columns,
            drop=tuple(query.getlist("drop")),
            keep=tuple(query.getlist("keep")),
            keep_sheets=tuple(query.getlist("keep_sheet")),
            record_id=query.get("record_id"),
            delimiter=query.get("delimiter"),
            header=header == "true",
            encoding=query.get("encoding", "utf-8"),
            created=time.time(),
        )
        if asked.record_id is not None and not self._rules.keyed:
            raise Refused(422, "record_id: means something only where the service draws from a key")
        try:
            asked.layout(Path(f"input{asked.ending}"))
        except InvalidParameter as error:
            raise refusal_of(error) from None
        return asked, wait

    async def _receive(self, request: Request, path: Path, size: int) -> None:
        """Write the body to a file that only its owner can read; it never lies anywhere else.

        Whether there is room is looked at again while it comes: others are received too, and not every length
        is told before.
        """
        body, now, seconds = aiter(request.stream()), asyncio.get_running_loop().time, self._limits.seconds
        received = looked_at = in_time = 0
        due = now() + seconds
        with path.open(
            "xb", buffering=0
        ) as file:  # so that when it was last written to tells whether it still comes
            path.chmod(0o600)
            while True:
                try:
                    chunk = await next_chunk(
                        body, due=due, late=f"less than {_LEAST_BYTES:,} bytes came in {seconds:g} seconds"
                    )
                except ClientDisconnect:
                    raise Refused(400, "the file ends before its length") from None
                if chunk is None:
                    return
                file.write(chunk)
                received += len(chunk)
                if received - in_time >= _LEAST_BYTES:  # a byte now and then does not hold the place of a job
                    in_time, due = received, now() + seconds
                if received - looked_at >= _BYTES_BETWEEN_LOOKS:
                    looked_at = received
                    await asyncio.to_thread(self._store.check_room, size, received)

    async def _reply(self, job: JobFolder, wait: float) -> Response:
        until = time.monotonic() + wait
        while (told := self._store.describe(job)).state not in (
            "done",
            "failed",
        ) and time.monotonic() < until:
            await asyncio.sleep(_SECONDS_BETWEEN_LOOKS)
        where = {"Location": f"/jobs/{job.id}"}
        if wait and told.state == "failed":
            raise Refused(422, told.error or "the file could not be released", headers=where)
        if wait and told.state == "done":
            return _file(job.output(job.asked), f"released-{released_name(job.asked.name)}", headers=where)
        return json_reply(told, status=202, headers=where)

    def _done(self, request: Request) -> JobFolder:
        job = self._store.find(request.path_params["id"])
        told = self._store.describe(job)
        if told.state == "failed":
            raise Refused(422, told.error or "the file could not be released")
        if told.state != "done":
            raise Refused(409, "the job is not done yet", headers={"Retry-After": "1"})
        return job


def _file(
    path: Path, name: str, kind: str = "application/octet-stream", headers: dict[str, str] | None = None
) -> Response:
    if not path.is_file():
        raise Refused(404, _GONE)
    return _FileThatMayGo(path, filename=name, media_type=kind, headers=headers)


class _FileThatMayGo(FileResponse):
    """A file that may be deleted before it is opened: then it is as if it had never been there."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        except (RuntimeError, FileNotFoundError):
            if Path(self.path).is_file():
                raise
            raise Refused(404, _GONE) from None
