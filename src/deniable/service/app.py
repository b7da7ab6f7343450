"""The application: every endpoint in one table, from which both the routes and the OpenAPI description are
made."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib import resources
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, Router
from starlette.types import ASGIApp

from deniable.service.batching import Batcher
from deniable.service.facts import Facts
from deniable.service.files import QUERY, Files
from deniable.service.guard import Guard
from deniable.service.jobs import JobStore
from deniable.service.messages import (
    Choice,
    ErrorReply,
    ExplainRequest,
    JobReply,
    PrivatizeReply,
    PrivatizeRequest,
    Refused,
    StreamLine,
    TextRequest,
)
from deniable.service.metrics import Metrics
from deniable.service.releases import NDJSON, Releases, json_reply
from deniable.service.rules import Rules
from deniable.service.settings import Settings
from deniable.version import __version__

Handler = Callable[[Request], Awaitable[Response]]

_JSON = "application/json"
_TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}
_CHOICE = Choice.__struct_fields__
_UPLOADED = tuple(name for name in QUERY if name not in ("drop", "keep", "keep_sheet"))
_ABOUT = {
    "title": "deniable",
    "version": __version__,
    "description": "Plausible deniability for text. Words are replaced by near ones.",
}


@dataclass(frozen=True)
class Endpoint:
    """One thing that can be asked for, by its method and path. ``body`` and ``reply`` are what these hold as
    JSON, and ``takes`` are the content types of the body."""

    name: str
    serve: Handler
    summary: str
    body: type | None = None
    reply: type | None = None
    query: tuple[str, ...] = ()
    takes: tuple[str, ...] = (_JSON,)

    @property
    def method(self) -> str:
        """The method of HTTP."""
        return self.name.partition(" ")[0]

    @property
    def path(self) -> str:
        """The path, with names in braces."""
        return self.name.partition(" ")[2]


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
        routes = [Route(each.path, _typed(each), methods=[each.method]) for each in self.endpoints]
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
        lines = 'Release lines as they come: {"text": …} in, {"text": …} out, in order. An error is the last.'
        upload = (
            "Release a file. The reply names a job, or is the released file if `wait` seconds are enough."
        )
        shares = "How often words stay unchanged, by ε, over all words of an embedding."
        words = "How often each word of a text is released unchanged, at any ε."
        decode = "What a stranger who knows the method reads in a released text."
        one = "Release one text or a list of texts."
        binary = ("application/octet-stream", "text/csv")
        return [
            Endpoint("POST /privatize", releases.privatize, one, PrivatizeRequest, PrivatizeReply),
            Endpoint("POST /privatize/stream", releases.stream, lines, StreamLine, None, _CHOICE, (NDJSON,)),
            Endpoint("POST /files", files.upload, upload, bytes, JobReply, (*_UPLOADED, *_CHOICE), binary),
            Endpoint("GET /jobs/{id}", files.job, "The state of a job.", reply=JobReply),
            Endpoint("DELETE /jobs/{id}", files.delete, "Delete a job and all that belongs to it."),
            Endpoint("GET /jobs/{id}/output", files.output, "The released file."),
            Endpoint("GET /jobs/{id}/card", files.card, "Its card, to be handed over with it."),
            Endpoint(
                "GET /jobs/{id}/receipt", files.receipt, "Its receipt: counts of private text, to be kept."
            ),
            Endpoint("GET /explain/{word}", facts.explain_named, "What a word becomes.", query=_CHOICE),
            Endpoint("POST /explain", facts.explain, "What a word in no address becomes.", ExplainRequest),
            Endpoint("POST /words", facts.words, words, TextRequest),
            Endpoint("POST /decode", facts.decode, decode, TextRequest),
            Endpoint("GET /allowed", facts.allowed, "What the operator allows."),
            Endpoint("GET /embeddings", facts.embeddings, "The embeddings."),
            Endpoint("GET /mechanisms", facts.mechanisms, "The mechanisms and their options."),
            Endpoint("GET /calibration/{embedding}", facts.calibration, shares, query=("mechanism",)),
            Endpoint("GET /card", facts.card, "The card of releases with these settings.", query=_CHOICE),
            Endpoint("GET /health", _healthy, "Whether the process answers."),
            Endpoint("GET /ready", _healthy, "Whether text can be released: the embeddings are open."),
            Endpoint("GET /metrics", self._show_metrics, "Numbers for Prometheus."),
            Endpoint("GET /openapi.json", self._describe, "This description."),
        ]

    async def _show_metrics(self, _: Request) -> Response:
        return Response(self.metrics.text(), media_type=self.metrics.content_type)

    async def _describe(self, _: Request) -> Response:
        return json_reply(describe(self.endpoints))


def describe(endpoints: list[Endpoint]) -> dict[str, Any]:
    """Return the OpenAPI description of the endpoints."""
    kinds = [kind for each in endpoints for kind in (each.body, each.reply) if kind not in (None, bytes)]
    kinds = list(dict.fromkeys([*kinds, ErrorReply]))
    known, parts = msgspec.json.schema_components(kinds, ref_template="#/components/schemas/{name}")
    schemas = dict(zip(kinds, known, strict=True)) | {bytes: {"type": "string", "format": "binary"}}

    def content(kind: type, types: tuple[str, ...] = (_JSON,)) -> dict[str, Any]:
        return {each: {"schema": schemas[kind]} for each in types}

    wrong = {"description": "Refused; the body says why.", "content": content(ErrorReply)}
    paths: dict[str, Any] = {}
    for each in endpoints:
        good: dict[str, Any] = {"description": "Done."}
        if each.reply is not None:
            good["content"] = content(each.reply)
        in_path = [part[1:-1] for part in each.path.split("/") if part.startswith("{")]
        parameters = [{"name": name, "in": "path", "required": True} for name in in_path]
        parameters += [{"name": name, "in": "query"} for name in each.query]
        operation: dict[str, Any] = {
            "summary": each.summary,
            "responses": {"200": good, "default": wrong},
            "parameters": [{**parameter, "schema": {"type": "string"}} for parameter in parameters],
        }
        if each.body is not None:
            operation["requestBody"] = {"required": True, "content": content(each.body, each.takes)}
        paths.setdefault(each.path, {})[each.method.lower()] = operation
    return {"openapi": "3.1.0", "info": _ABOUT, "paths": paths, "components": {"schemas": parts}}


def _typed(endpoint: Endpoint) -> Handler:
    """Return what serves the endpoint, for a body of the content types that it takes and no other.

    A browser sends the types that forms have to any site that a page names; none of those is taken.
    """

    async def serve(request: Request) -> Response:
        if endpoint.body is not None:
            kind, _, parameters = request.headers.get("content-type", "").partition(";")
            charset = parameters.strip().lower().removeprefix("charset=").strip('"')
            if kind.strip().lower() not in endpoint.takes or charset not in ("", "utf-8"):
                raise Refused(415, f"the content type must be {' or '.join(endpoint.takes)}")
            if request.headers.get("content-encoding", "identity") != "identity":
                problem = "the body must not be compressed on its way; a compressed file says so in its name"
                raise Refused(415, problem)
        return await endpoint.serve(request)

    return serve


async def _healthy(_: Request) -> Response:
    return json_reply({"status": "ok"})


def _page_files() -> dict[str, str]:
    """Return the files of the page by their paths; the page itself is at the root."""
    folder = resources.files("deniable.service").joinpath("page")
    names = sorted(file.name for file in folder.iterdir() if "." in file.name)
    return {"/" if name == "index.html" else f"/page/{name}": name for name in names}


def _asset(name: str) -> Handler:
    content = resources.files("deniable.service").joinpath("page", name).read_bytes()
    kind = _TYPES[name[name.rindex(".") :]]

    async def serve(_: Request) -> Response:
        return Response(content, media_type=kind)

    return serve
