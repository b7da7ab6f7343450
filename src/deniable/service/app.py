"""The application: every endpoint in one table, from which both the routes and the OpenAPI description are
made, and the page."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import resources
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, Router
from starlette.types import ASGIApp

from deniable.service.batching import Batcher
from deniable.service.facts import Facts
from deniable.service.files import Files
from deniable.service.guard import Guard
from deniable.service.jobs import JobStore
from deniable.service.messages import (
    CalibrationQuery,
    Choice,
    ExplainRequest,
    FileQuery,
    PrivatizeRequest,
    Refused,
    TextRequest,
    UploadQuery,
)
from deniable.service.metrics import Metrics
from deniable.service.openapi import Content, Endpoint, Handler, describe
from deniable.service.releases import NDJSON, Releases, json_reply
from deniable.service.replies import (
    AllowedReply,
    CheckReply,
    DecodeReply,
    EmbeddingReply,
    ExplainReply,
    JobReply,
    MechanismReply,
    PrivatizeReply,
    StatusReply,
    WordsReply,
)
from deniable.service.rules import Rules
from deniable.service.settings import Settings

_TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}
_FILE = "application/octet-stream"
_PAGES = {"index.html": "/", "docs.html": "/docs"}
_CARD = dict[str, Any]


class Service:
    """All parts of a service, in one process."""

    def __init__(self, settings: Settings, *, rules: Rules | None = None, together: bool = True) -> None:
        """Open the embeddings and prepare everything; ``rules`` are given where they were made before.

        :raises DeniableError: if an embedding, the key or the folder of jobs cannot be used.
        """
        self.settings, self.metrics = settings, Metrics()
        self.rules = Rules(settings) if rules is None else rules
        self.batcher = Batcher(together=together, shared=self.metrics.shared.inc)
        self.store = JobStore(self.rules)
        self.facts = Facts(self.rules)
        self.endpoints = self._endpoints()

    def app(self) -> ASGIApp:
        """Return the application, guarded."""
        files = _page_files()
        pages = [Route(path, _asset(name), methods=["GET"]) for path, name in files.items()]
        paths: dict[str, dict[str, Handler]] = {}
        for each in self.endpoints:
            paths.setdefault(each.path, {})[each.method] = _typed(each)
        routes = [Route(path, _by_method(ways), methods=list(ways)) for path, ways in paths.items()]
        inner = Router(routes=[*pages, *routes], redirect_slashes=False, lifespan=self._lifespan)
        settings, public = self.settings, frozenset(files)
        return Guard(inner, settings=settings, token=settings.token(), public=public, metrics=self.metrics)

    @asynccontextmanager
    async def _lifespan(self, _app: object) -> AsyncIterator[None]:
        self.batcher.start()
        self.store.start()
        try:
            yield
        finally:
            self.facts.stop()
            await self.batcher.stop()
            self.store.stop()

    def _endpoints(self) -> list[Endpoint]:
        releases, files, facts = Releases(self.rules, self.batcher), Files(self.rules, self.store), self.facts
        file, lines, text = Content(bytes, (_FILE,)), Content(str, (NDJSON,)), Content(str, ("text/plain",))
        received = Content(bytes, (_FILE,), also=("text/csv",))

        def json(kind: Any) -> Content:
            return Content(kind)

        return [
            Endpoint(
                "POST /privatize",
                releases.privatize,
                "Release one text or a list of texts.",
                {200: json(PrivatizeReply)},
                body=json(PrivatizeRequest),
            ),
            Endpoint(
                "POST /privatize/stream",
                releases.stream,
                "Release lines as they come: a StreamLine each, in and out, in order. An error is the last.",
                {200: lines},
                body=lines,
                query=Choice,
            ),
            Endpoint(
                "POST /check",
                files.check,
                "Look into a file before it is released; it is deleted at once.",
                {200: json(CheckReply)},
                body=received,
                query=FileQuery,
            ),
            Endpoint(
                "POST /files",
                files.upload,
                "Release a file. Columns that look private need a role. The reply names a job, or is the "
                "released file if `wait` seconds are enough.",
                {200: file, 202: json(JobReply)},
                body=received,
                query=UploadQuery,
            ),
            Endpoint("GET /jobs/{id}", files.job, "The state of a job.", {200: json(JobReply)}),
            Endpoint(
                "DELETE /jobs/{id}",
                files.delete,
                "Delete a job and all that belongs to it; 202 says that it will be at the next checkpoint.",
                {204: None, 202: json(JobReply)},
            ),
            Endpoint("GET /jobs/{id}/output", files.output, "The released file.", {200: file}),
            Endpoint(
                "GET /jobs/{id}/card", files.card, "Its card, to be handed over with it.", {200: json(_CARD)}
            ),
            Endpoint(
                "GET /jobs/{id}/receipt",
                files.receipt,
                "Its receipt: counts of private text, to be kept.",
                {200: json(_CARD)},
            ),
            Endpoint(
                "GET /explain/{word}",
                facts.explain_named,
                "What a word becomes.",
                {200: json(ExplainReply)},
                query=Choice,
            ),
            Endpoint(
                "POST /explain",
                facts.explain,
                "What a word in no address becomes.",
                {200: json(ExplainReply)},
                body=json(ExplainRequest),
            ),
            Endpoint(
                "POST /words",
                facts.words,
                "How often each word of a text is released unchanged, at any ε.",
                {200: json(WordsReply)},
                body=json(TextRequest),
            ),
            Endpoint(
                "POST /decode",
                facts.decode,
                "Which words could have stood behind the words of a released text.",
                {200: json(DecodeReply)},
                body=json(TextRequest),
            ),
            Endpoint("GET /allowed", facts.allowed, "What the operator allows.", {200: json(AllowedReply)}),
            Endpoint(
                "GET /embeddings", facts.embeddings, "The embeddings.", {200: json(list[EmbeddingReply])}
            ),
            Endpoint(
                "GET /mechanisms",
                facts.mechanisms,
                "The mechanisms and their options.",
                {200: json(list[MechanismReply])},
            ),
            Endpoint(
                "GET /calibration/{embedding}",
                facts.calibration,
                "How often words stay unchanged, by ε, over all words of an embedding.",
                {200: json(_CARD)},
                query=CalibrationQuery,
            ),
            Endpoint(
                "GET /card",
                facts.card,
                "The card of releases with these settings.",
                {200: json(_CARD)},
                query=Choice,
            ),
            Endpoint(
                "GET /health", _healthy, "Whether the process answers.", {200: json(StatusReply)}, token=False
            ),
            Endpoint(
                "GET /ready",
                _healthy,
                "Whether text can be released: the embeddings are open.",
                {200: json(StatusReply)},
                token=False,
            ),
            Endpoint("GET /metrics", self._show_metrics, "Numbers for Prometheus.", {200: text}),
            Endpoint("GET /openapi.json", self._describe, "This description.", {200: json(_CARD)}),
        ]

    async def _show_metrics(self, _: Request) -> Response:
        return Response(self.metrics.text(), media_type=self.metrics.content_type)

    async def _describe(self, _: Request) -> Response:
        return json_reply(describe(self.endpoints, token=self.settings.server.token_file is not None))


def _by_method(ways: dict[str, Handler]) -> Handler:
    async def serve(request: Request) -> Response:
        return await ways[request.method if request.method in ways else "GET"](request)  # HEAD is a GET

    return serve


def _typed(endpoint: Endpoint) -> Handler:
    """Return what serves the endpoint, for a body of the content types that it takes and no other.

    A browser sends the types that forms have to any site that a page names; none of those is taken.
    """

    async def serve(request: Request) -> Response:
        if endpoint.body is not None:
            kind, _, parameters = request.headers.get("content-type", "").partition(";")
            charset = parameters.strip().lower().removeprefix("charset=").strip('"')
            if kind.strip().lower() not in (*endpoint.body.types, *endpoint.body.also) or charset not in (
                "",
                "utf-8",
            ):
                raise Refused(415, f"the content type must be {' or '.join(endpoint.body.types)}")
            if request.headers.get("content-encoding", "identity") != "identity":
                problem = "the body must not be compressed on its way; a compressed file says so in its name"
                raise Refused(415, problem)
        return await endpoint.serve(request)

    return serve


async def _healthy(_: Request) -> Response:
    return json_reply(StatusReply())


def _page_files() -> dict[str, str]:
    """Return the files of the page by their paths; the page itself is at the root."""
    folder = resources.files("deniable.service").joinpath("page")
    names = sorted(file.name for file in folder.iterdir() if "." in file.name)
    return {_PAGES.get(name, f"/page/{name}"): name for name in names}


def _asset(name: str) -> Handler:
    content = resources.files("deniable.service").joinpath("page", name).read_bytes()
    kind = _TYPES[name[name.rindex(".") :]]

    async def serve(_: Request) -> Response:
        return Response(content, media_type=kind)

    return serve
