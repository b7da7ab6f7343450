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
from deniable.service.files import Files
from deniable.service.guard import Guard
from deniable.service.jobs import JobStore
from deniable.service.messages import (
    Choice,
    DecodeReply,
    DecodeRequest,
    ErrorReply,
    ExplainReply,
    ExplainRequest,
    JobReply,
    PrivatizeReply,
    PrivatizeRequest,
    Refused,
    StreamLine,
    WordsReply,
    WordsRequest,
)
from deniable.service.metrics import Metrics
from deniable.service.releases import NDJSON, Releases, json_reply
from deniable.service.rules import Rules
from deniable.service.settings import Settings
from deniable.version import __version__

Handler = Callable[[Request], Awaitable[Response]]

_JSON = "application/json"
_OCTETS = "application/octet-stream"
_TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """One thing that can be asked for. ``takes`` are the content types of its body, ``body`` and ``reply``
    what they hold as JSON."""

    method: str
    path: str
    serve: Handler
    summary: str
    takes: tuple[str, ...] = ()
    body: type | None = None
    reply: type | None = None
    query: tuple[str, ...] = ()


def _get(
    path: str, serve: Handler, summary: str, *, reply: type | None = None, query: tuple[str, ...] = ()
) -> Endpoint:
    return Endpoint(method="GET", path=path, serve=serve, summary=summary, reply=reply, query=query)


def _post(path: str, serve: Handler, summary: str, body: type, reply: type) -> Endpoint:
    """Return an endpoint with JSON in and JSON out."""
    return Endpoint(
        method="POST", path=path, serve=serve, summary=summary, takes=(_JSON,), body=body, reply=reply
    )


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
        pages = [Route(path, _asset(name), methods=["GET"]) for path, name in _page_files().items()]
        routes = [Route(each.path, _typed(each), methods=[each.method]) for each in self.endpoints]
        inner = Router(routes=[*pages, *routes], redirect_slashes=False, lifespan=self._lifespan)
        pages_only = frozenset(_page_files())
        return Guard(
            inner,
            settings=self.settings,
            token=self.settings.token(),
            public=pages_only,
            metrics=self.metrics,
        )

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
        choice = Choice.__struct_fields__
        by_epsilon = "How often words stay unchanged, by ε, over all words of an embedding."
        of_file = ("name", "column", "record_id", "delimiter", "header", "encoding", "wait")
        return [
            _post(
                "/privatize",
                releases.privatize,
                "Release one text or a list of texts.",
                PrivatizeRequest,
                PrivatizeReply,
            ),
            Endpoint(
                method="POST",
                path="/privatize/stream",
                serve=releases.stream,
                summary='Release lines as they arrive: {"text": …} in, {"text": …} out, in order. An error '
                "is the last line.",
                takes=(NDJSON,),
                body=StreamLine,
                query=choice,
            ),
            Endpoint(
                method="POST",
                path="/files",
                serve=files.upload,
                summary="Release a file. The reply names a job, or is the released file if `wait` seconds "
                "are enough.",
                takes=(_OCTETS, "text/csv"),
                reply=JobReply,
                query=(*of_file, *choice),
            ),
            _get("/jobs/{id}", files.job, "How far a job is.", reply=JobReply),
            Endpoint(
                method="DELETE",
                path="/jobs/{id}",
                serve=files.delete,
                summary="Delete a job and all that belongs to it.",
            ),
            _get("/jobs/{id}/output", files.output, "The released file."),
            _get("/jobs/{id}/card", files.card, "Its card, to be handed over with it."),
            _get("/jobs/{id}/receipt", files.receipt, "Its receipt: counts of private text, to be kept."),
            _get(
                "/explain/{word}",
                facts.explain_named,
                "What a word becomes.",
                reply=ExplainReply,
                query=choice,
            ),
            _post(
                "/explain",
                facts.explain,
                "What a word becomes; the word stands in no address.",
                ExplainRequest,
                ExplainReply,
            ),
            _post(
                "/words",
                facts.words,
                "How often each word of a text is released unchanged, at any ε.",
                WordsRequest,
                WordsReply,
            ),
            _post(
                "/decode",
                facts.decode,
                "What a stranger who knows the method reads in a released text.",
                DecodeRequest,
                DecodeReply,
            ),
            _get("/allowed", facts.allowed, "What the operator allows."),
            _get("/embeddings", facts.embeddings, "The embeddings."),
            _get("/mechanisms", facts.mechanisms, "The mechanisms and their options."),
            _get("/calibration/{embedding}", facts.calibration, by_epsilon, query=("mechanism",)),
            _get("/card", facts.card, "The card of releases with these settings.", query=choice),
            _get("/health", _healthy, "Whether the process answers."),
            _get("/ready", _healthy, "Whether text can be released: the embeddings are open."),
            _get("/metrics", self._show_metrics, "Numbers for Prometheus."),
            _get("/openapi.json", self._describe, "This description."),
        ]

    async def _show_metrics(self, _: Request) -> Response:
        return Response(self.metrics.text(), media_type=self.metrics.content_type)

    async def _describe(self, _: Request) -> Response:
        return json_reply(describe(self.endpoints))


def describe(endpoints: list[Endpoint]) -> dict[str, Any]:
    """Return the OpenAPI description of the endpoints."""
    kinds = list(
        dict.fromkeys(kind for each in endpoints for kind in (each.body, each.reply) if kind is not None)
    )
    known, parts = msgspec.json.schema_components(
        [*kinds, ErrorReply], ref_template="#/components/schemas/{name}"
    )
    schemas = dict(zip([*kinds, ErrorReply], known, strict=True))
    paths: dict[str, Any] = {}
    for each in endpoints:
        wrong = {
            "description": "Refused; the body says why.",
            "content": {_JSON: {"schema": schemas[ErrorReply]}},
        }
        good: dict[str, Any] = {"description": "Done."}
        if each.reply is not None:
            good["content"] = {_JSON: {"schema": schemas[each.reply]}}
        told: dict[str, Any] = {"summary": each.summary, "responses": {"200": good, "default": wrong}}
        in_path = [part[1:-1] for part in each.path.split("/") if part.startswith("{")]
        told["parameters"] = [
            *(
                {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
                for name in in_path
            ),
            *({"name": name, "in": "query", "schema": {"type": "string"}} for name in each.query),
        ]
        if each.takes:
            schema = (
                {"schema": schemas[each.body]}
                if each.body is not None
                else {"schema": {"type": "string", "format": "binary"}}
            )
            told["requestBody"] = {"required": True, "content": dict.fromkeys(each.takes, schema)}
        paths.setdefault(each.path, {})[each.method.lower()] = told
    about = {
        "title": "deniable",
        "version": __version__,
        "description": "Plausible deniability for text. Words are replaced by near ones.",
    }
    return {"openapi": "3.1.0", "info": about, "paths": paths, "components": {"schemas": parts}}


def _typed(endpoint: Endpoint) -> Handler:
    """Return what serves the endpoint, for a body of the content types that it takes and no other.

    A browser sends the types that forms have to any site that a page names; none of those is taken.
    """

    async def serve(request: Request) -> Response:
        if endpoint.takes:
            kind, _, parameters = request.headers.get("content-type", "").partition(";")
            charset = parameters.strip().lower().removeprefix("charset=").strip('"')
            if kind.strip().lower() not in endpoint.takes or charset not in ("", "utf-8"):
                raise Refused(415, f"the content type must be {' or '.join(endpoint.takes)}")
            if request.headers.get("content-encoding", "identity") != "identity":
                raise Refused(
                    415,
                    "the body must not be compressed on its way; a compressed file has its ending in its name",  # noqa: E501
                )
        return await endpoint.serve(request)

    return serve


async def _healthy(_: Request) -> Response:
    return json_reply({"status": "ok"})


def _page_files() -> dict[str, str]:
    """Return the files of the page by their paths; the page itself is at the root."""
    names = sorted(
        file.name
        for file in resources.files("deniable.service").joinpath("page").iterdir()
        if "." in file.name
    )
    return {"/" if name == "index.html" else f"/page/{name}": name for name in names}


def _asset(name: str) -> Handler:
    content = resources.files("deniable.service").joinpath("page", name).read_bytes()
    kind = _TYPES[name[name.rindex(".") :]]

    async def serve(_: Request) -> Response:
        return Response(content, media_type=kind)

    return serve
