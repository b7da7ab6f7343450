"""The OpenAPI description of the endpoints, made of the types of their queries, bodies and replies."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from deniable.service.messages import StreamLine
from deniable.service.replies import ErrorReply
from deniable.version import __version__

Handler = Callable[[Request], Awaitable[Response]]

_JSON = "application/json"
_WHAT = "Plausible deniability for text. Words are replaced by near ones."
_REFUSED = {
    "400": "The request is malformed.",
    "401": "A token is needed.",
    "403": "The request comes from a page of another site.",
    "404": "There is nothing here.",
    "408": "The body did not arrive in time.",
    "409": "The job is not done yet.",
    "413": "The body is too large.",
    "415": "The body is of another type.",
    "422": "Something that was asked for is not allowed, or the file cannot be read.",
    "429": "There are too many jobs, or too many requests for the upstream API.",
    "502": "The upstream API gave no answer.",
    "503": "The service is busy; Retry-After says when to try again.",
    "default": "Something went wrong.",
}
_ALWAYS = ("400", "503", "default")
_WITH_BODY = ("403", "408", "413", "415", "422")


@dataclass(frozen=True)
class Content:
    """A body: its type, and the content types that it may have. ``bytes`` are a file.

    Those in ``also`` are taken and not described: generated clients stumble over them.
    """

    kind: Any
    types: tuple[str, ...] = (_JSON,)
    also: tuple[str, ...] = ()


@dataclass(frozen=True)
class Endpoint:
    """One thing that can be asked for, by its method and path, with a reply for each status of success.

    A reply and the body are types of JSON, or a ``Content``; a reply of None has no body.
    """

    name: str
    serve: Handler
    replies: Mapping[int, Any]
    body: Any = None
    query: type[msgspec.Struct] | None = None
    token: bool = True

    @property
    def received(self) -> Content | None:
        """The body of a request."""
        return _content(self.body)

    @property
    def summary(self) -> str:
        """What it does, as its handler says."""
        return " ".join(str(self.serve.__doc__).split())

    @property
    def method(self) -> str:
        """The method of HTTP."""
        return self.name.partition(" ")[0]

    @property
    def path(self) -> str:
        """The path, with names in braces."""
        return self.name.partition(" ")[2]

    @property
    def operation(self) -> str:
        """Its name in generated clients: ``get_jobs_output``."""
        words = [
            part for part in self.path.replace(".", "_").split("/") if re.fullmatch(r"(?!v\d+$)[^{].*", part)
        ]
        last = self.path.rpartition("/")[2]
        by = "" if not last.startswith("{") else f"_by_{last[1:-1]}"
        return "_".join([self.method.lower(), *words]) + by


def _content(kind: Any) -> Content | None:
    return kind if kind is None or isinstance(kind, Content) else Content(kind)


def describe(endpoints: list[Endpoint], *, token: bool) -> dict[str, Any]:
    """Return the description; ``token`` says whether the service asks for one."""
    bodies = [kind for endpoint in endpoints for kind in (endpoint.body, *endpoint.replies.values())]
    contents = [content for kind in bodies if (content := _content(kind)) is not None]
    queries = [endpoint.query for endpoint in endpoints if endpoint.query is not None]
    kinds: list[Any] = [each.kind for each in contents if each.kind is not bytes]
    kinds = list({str(kind): kind for kind in (*kinds, *queries, ErrorReply, StreamLine)}.values())
    known, parts = msgspec.json.schema_components(kinds, ref_template="#/components/schemas/{name}")
    schemas = {str(kind): schema for kind, schema in zip(kinds, known, strict=True)}
    schemas[str(bytes)] = {"type": "string", "format": "binary"}

    def described(content: Content) -> dict[str, Any]:
        return {each: {"schema": schemas[str(content.kind)]} for each in content.types}

    def answered(content: Content | None) -> dict[str, Any]:
        return {"description": "Done."} | ({} if content is None else {"content": described(content)})

    refused = {
        status: {"description": said, "content": described(Content(ErrorReply))}
        for status, said in _REFUSED.items()
    }
    paths: dict[str, Any] = {}
    for each in endpoints:
        body = each.received
        wrong = [*_ALWAYS, *(_WITH_BODY if body is not None else ())]
        wrong += ["422"] if each.query is not None or "{" in each.path else []
        wrong += ["401"] if token and each.token else []
        wrong += ["404"] if "{" in each.path else []
        wrong += ["409"] if each.path.startswith("/jobs/{id}/") else []
        wrong += ["429"] if body is not None and (body.kind is bytes or "chat" in each.path) else []
        wrong += ["502"] if "chat" in each.path else []
        operation: dict[str, Any] = {
            "operationId": each.operation,
            "summary": each.summary,
            "parameters": [*_in_path(each.path), *_in_query(each.query, parts)],
            "responses": {str(status): answered(_content(kind)) for status, kind in each.replies.items()}
            | {status: refused[status] for status in sorted(set(wrong))},
        }
        if token:
            operation["security"] = [{"token": []}] if each.token else []
        if body is not None:
            operation["requestBody"] = {"required": True, "content": described(body)}
        paths.setdefault(each.path, {})[each.method.lower()] = operation
    for query in queries:  # they are parameters, and no messages
        parts.pop(query.__name__, None)
    for part in parts.values():  # generators take a field with a default for one that must be given
        for about in part.get("properties", {}).values():
            about.pop("default", None)
    schemes = {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}} if token else {}
    description = {
        "openapi": "3.1.0",
        "info": {"title": "deniable", "version": __version__, "description": _WHAT},
        "servers": [{"url": "/"}],
        "paths": paths,
        "components": {"schemas": parts, **schemes},
    }
    plain: dict[str, Any] = json.loads(json.dumps(description).replace("``", "`"))  # as docstrings mark code
    return plain


def _in_path(path: str) -> list[dict[str, Any]]:
    names = [part[1:-1] for part in path.split("/") if part.startswith("{")]
    return [{"name": name, "in": "path", "required": True, "schema": {"type": "string"}} for name in names]


def _in_query(query: type[msgspec.Struct] | None, parts: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the fields of a query as parameters; a list is given by repeating its name."""
    if query is None:
        return []
    schema = parts[query.__name__]
    parameters = []
    for name, about in schema["properties"].items():
        kind = {key: value for key, value in about.items() if key != "description"}
        if "anyOf" in kind:  # a parameter is left out, and never null
            kind.pop("default", None)
            given = [each for each in kind.pop("anyOf") if each != {"type": "null"}]
            kind |= given[0]
        if None in kind.get("enum", ()):
            kind["enum"] = [value for value in kind["enum"] if value is not None]
            kind.pop("default", None)
        described = {"description": about["description"]} if "description" in about else {}
        required = name in schema.get("required", ())
        parameters.append({"name": name, "in": "query", "required": required, "schema": kind} | described)
    return parameters
