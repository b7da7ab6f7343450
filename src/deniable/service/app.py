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
    ChatRequest,
    Choice,
    ExplainRequest,
    FileQuery,
    GuardrailRequest,
    PrivatizeRequest,
    Refused,
    TextRequest,
    UploadQuery,
)
from deniable.service.metrics import Metrics
from deniable.service.openapi import Content, Endpoint, Handler, describe
from deniable.service.prompts import Prompts
from deniable.service.releases import NDJSON, Releases, json_reply
from deniable.service.replies import (
    AllowedReply,
    CheckReply,
    DecodeReply,
    EmbeddingReply,
    ExplainReply,
    GuardrailReply,
    JobReply,
    MechanismReply,
    PrivatizeReply,
    WordsReply,
)
from deniable.service.rules import Rules
from deniable.service.settings import Settings

_TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}
_FILE = "application/octet-stream"
_PAGES = {"index.html": "/", "docs.html": "/docs"}
_OBJECT = dict[str, Any]
_LITELLM = "/beta/litellm_basic_guardrail_api"  # what it adds to the address that it is given


class Service:
    """All parts of a service, in one process."""

    def __init__(self, settings: Settings, *, rules: Rules | None = None, together: bool = True) -> None:
        """Open the embeddings and prepare everything; ``rules`` are given where they were made before."""
        self.settings, self.metrics = settings, Metrics()
        self.rules = Rules(settings) if rules is None else rules
        self.batcher = Batcher(together=together, shared=self.metrics.shared.inc)
        self.store = JobStore(self.rules)
        self.facts = Facts(self.rules)
        self.releases = Releases(self.rules, self.batcher)
        self.prompts = Prompts(self.rules, self.releases)
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
            await self.prompts.upstream.stop()
            await self.batcher.stop()
            self.store.stop()

    def _endpoints(self) -> list[Endpoint]:
        releases, files, facts = self.releases, Files(self.rules, self.store), self.facts
        guard, chat = self.prompts.guardrail, self.prompts.chat
        file, lines, text = Content(bytes, (_FILE,)), Content(str, (NDJSON,)), Content(str, ("text/plain",))
        answer = Content(_OBJECT, ("application/json", "text/event-stream"))
        sent = Content(bytes, (_FILE,), also=("text/csv",))
        return [
            Endpoint("POST /privatize", releases.privatize, {200: PrivatizeReply}, PrivatizeRequest),
            Endpoint("POST /privatize/stream", releases.stream, {200: lines}, lines, query=Choice),
            Endpoint("POST /check", files.check, {200: CheckReply}, sent, query=FileQuery),
            Endpoint("POST /files", files.upload, {200: file, 202: JobReply}, sent, query=UploadQuery),
            Endpoint("GET /jobs/{id}", files.job, {200: JobReply}),
            Endpoint("DELETE /jobs/{id}", files.delete, {204: None, 202: JobReply}),
            Endpoint("GET /jobs/{id}/output", files.output, {200: file}),
            Endpoint("GET /jobs/{id}/card", files.card, {200: _OBJECT}),
            Endpoint("GET /jobs/{id}/receipt", files.receipt, {200: _OBJECT}),
            Endpoint("GET /jobs/{id}/decision", files.decision, {200: Content(str, ("text/html",))}),
            Endpoint("POST /guardrail", guard, {200: GuardrailReply}, GuardrailRequest),
            Endpoint(f"POST /guardrail{_LITELLM}", guard, {200: GuardrailReply}, GuardrailRequest),
            Endpoint("POST /v1/chat/completions", chat, {200: answer}, ChatRequest),
            Endpoint("GET /explain/{word}", facts.explain_named, {200: ExplainReply}, query=Choice),
            Endpoint("POST /explain", facts.explain, {200: ExplainReply}, ExplainRequest),
            Endpoint("POST /words", facts.words, {200: WordsReply}, TextRequest),
            Endpoint("POST /decode", facts.decode, {200: DecodeReply}, TextRequest),
            Endpoint("GET /allowed", facts.allowed, {200: AllowedReply}),
            Endpoint("GET /embeddings", facts.embeddings, {200: list[EmbeddingReply]}),
            Endpoint("GET /mechanisms", facts.mechanisms, {200: list[MechanismReply]}),
            Endpoint(
                "GET /calibration/{embedding}", facts.calibration, {200: _OBJECT}, query=CalibrationQuery
            ),
            Endpoint("GET /card", facts.card, {200: _OBJECT}, query=Choice),
            Endpoint("GET /health", _healthy, {200: dict[str, str]}, token=False),
            Endpoint("GET /ready", _healthy, {200: dict[str, str]}, token=False),
            Endpoint("GET /metrics", self._show_metrics, {200: text}),
            Endpoint("GET /openapi.json", self._describe, {200: _OBJECT}),
        ]

    async def _show_metrics(self, _: Request) -> Response:
        """Return numbers for Prometheus."""
        return Response(self.metrics.text(), media_type=self.metrics.content_type)

    async def _describe(self, _: Request) -> Response:
        """Return this description."""
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
        if (body := endpoint.received) is not None:
            kind, _, parameters = request.headers.get("content-type", "").partition(";")
            charset = parameters.strip().lower().removeprefix("charset=").strip('"')
            if kind.strip().lower() not in (*body.types, *body.also) or charset not in (
                "",
                "utf-8",
            ):
                raise Refused(415, f"the content type must be {' or '.join(body.types)}")
            if request.headers.get("content-encoding", "identity") != "identity":
                problem = "the body must not be compressed on its way; a compressed file says so in its name"
                raise Refused(415, problem)
        return await endpoint.serve(request)

    return serve


async def _healthy(_: Request) -> Response:
    """Say that the process answers, with its embeddings open."""
    return json_reply({"status": "ok"})


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
