"""What every request passes before anything is read of it, and every reply on its way out.

Who may ask (the token, the name that the server is called by, the page that a browser asks for), how much and
how many at once; the headers of every reply; and what may be known of a request afterwards: its route, status
and duration. Never its path, its query, its body, or the text of an exception.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import time
from collections.abc import MutableMapping
from contextlib import suppress
from typing import Any

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from deniable.service.messages import LOGGED, Refused, log_without_text
from deniable.service.metrics import Metrics
from deniable.service.settings import Settings

HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "form-action 'none'; frame-ancestors 'none'; base-uri 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
RAW_HEADERS = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]

_OWN_SITE = {"same-origin", "none"}  # of the page, and of a person who typed the address
_LOOPBACK_NAMES = {"localhost", "127.0.0.1", "[::1]"}
PROBES = frozenset({"/health", "/ready"})
"""Asked by what watches a service, by its bare address and without a token; the answer is one word."""

_ALWAYS_ANSWERED = {*PROBES, "/metrics"}
_UNBOUNDED = {"/privatize/stream"}
_FILES = ("/files", "/check")
SECONDS_IN_VAIN = 3.0
_SAID_ONCE = frozenset(
    b"host origin authorization content-type content-encoding transfer-encoding sec-fetch-site".split()
)
_MOST_DIGITS = 20  # of a length that fits into 64 bits
_BY_ROUTER = {
    404: "there is nothing here; /openapi.json lists what there is",
    405: "this path takes another method",
}


class Guard:
    """Stands before the application. ``public`` are the paths of the page, which holds nothing: it needs no
    token."""

    def __init__(
        self, app: ASGIApp, *, settings: Settings, token: str | None, public: frozenset[str], metrics: Metrics
    ) -> None:
        self._app, self._settings, self._metrics, self._public = app, settings, metrics, public
        self._token = None if token is None else hashlib.sha256(token.encode()).digest()
        self._running = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request, or refuse it."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        scope["app"] = self._app  # the router then raises what it cannot serve, and leaves the words to us
        started = time.perf_counter()
        exchange = _Exchange(receive, send, self._most_bytes(scope["path"]), self._settings.limits.seconds)
        try:
            refused = await self._serve(scope, exchange)
            # Out of the exception's reach, so that no later one carries its text along.
            if refused is not None:
                await exchange.refuse(refused)
        finally:
            route = getattr(scope.get("route"), "path", "other")
            self._metrics.served(scope["method"], route, exchange.status, time.perf_counter() - started)

    async def _serve(self, scope: Scope, exchange: _Exchange) -> Refused | None:
        """Serve a request and return None, or return why it is not served."""
        counted = scope["path"] not in _ALWAYS_ANSWERED
        try:
            self._check(scope, Headers(scope=scope))
            if counted and self._running >= self._settings.limits.requests:
                return Refused(503, "the service is busy; try again in a moment", retry=1)
            self._running += counted
            try:
                await self._app(scope, exchange.receive, exchange.send)
            finally:
                self._running -= counted
        except Refused as refused:
            return refused
        except HTTPException as error:
            said = _BY_ROUTER.get(error.status_code, "this is not served")
            return Refused(error.status_code, said, headers=dict(error.headers or {}))
        except Exception as error:
            if exchange.unread:
                raise ConnectionAbortedError("a reply was not read in time") from None
            log_without_text(error)
            return Refused(500, LOGGED)
        return None

    def _check(self, scope: Scope, headers: Headers) -> None:
        names = [name for name, _ in headers.raw]
        if any(names.count(name) > 1 for name in _SAID_ONCE):  # a proxy in front may go by the other one
            raise Refused(400, "a header stands twice that may stand once")
        # Only the chunks would be undone.
        if headers.get("transfer-encoding", "chunked").strip().lower() != "chunked":
            raise Refused(400, "the only Transfer-Encoding that is served is chunked")
        length = headers.get("content-length", "0")
        if len(length) > _MOST_DIGITS:  # Python refuses to read thousands of digits
            raise Refused(400, "the Content-Length is too long to be one")
        host = headers.get("host", "")
        if scope["path"] not in PROBES and not self._is_ours(host):
            raise Refused(400, "the request is for another host than this service is called by")
        # Browsers leave the origin out of a GET and say where it comes from in a header of its own. A link to
        # the page may stand anywhere.
        origin, site = headers.get("origin"), headers.get("sec-fetch-site", "none")
        elsewhere = site not in _OWN_SITE and scope["path"] not in self._public
        if elsewhere or (origin is not None and origin.partition("://")[2] != host):
            raise Refused(403, "requests from pages of other sites are not served")
        if self._token is not None and scope["path"] not in self._public | PROBES:
            kind, _, token = headers.get("authorization", "").partition(" ")
            # Digests have one length, so the comparison takes the same time whatever is given.
            digest = hashlib.sha256(token.strip().encode("utf-8", "replace")).digest()
            if not (hmac.compare_digest(digest, self._token) and kind.lower() == "bearer"):
                problem = "a token is needed: Authorization: Bearer TOKEN"
                raise Refused(401, problem, headers={"WWW-Authenticate": "Bearer"})
        if int(length) > self._most_bytes(scope["path"]):
            raise Refused(413, f"the body is larger than {self._most_bytes(scope['path']):,} bytes")

    def _is_ours(self, host: str) -> bool:
        """Return whether the service is called by this name; a page elsewhere may have made its own name
        point here."""
        name = host.rpartition(":")[0] if host.rpartition(":")[2].isdigit() else host
        server = self._settings.server
        if server.on_loopback and name in {*_LOOPBACK_NAMES, server.host}:  # such as 127.0.0.2
            return True
        return name in server.hosts or not (server.on_loopback or server.hosts)

    def _most_bytes(self, path: str) -> float:
        if path in _UNBOUNDED:
            return float("inf")
        limits = self._settings.limits
        return limits.file_bytes if path in _FILES else limits.request_bytes


class _Exchange:
    """One request and its reply: reads the body and refuses it as soon as it is too large, whatever length it
    was said to have; sends the reply with the headers that all have.

    A part that cannot be sent within ``seconds``, because those before it are not read, is the last one:
    nobody holds a place for ever.
    """

    def __init__(self, receive: Receive, send: Send, most: float, seconds: float) -> None:
        self._receive, self._send, self._most, self._seconds = receive, send, most, seconds
        self._read, self._ended, self.status, self.unread = 0, False, 0, False

    async def receive(self) -> Message:
        """Return the next message of the request."""
        message = await self._receive()
        self._ended = not message.get("more_body", False)
        self._read += len(message.get("body", b""))
        if self._read > self._most:
            raise Refused(413, f"the body is larger than {self._most:,} bytes")
        return message

    async def send(self, message: MutableMapping[str, Any]) -> None:
        """Send a message of the reply."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            message["headers"] = [*message.get("headers", ()), *RAW_HEADERS]
        try:
            async with asyncio.timeout(self._seconds):
                await self._send(message)
        except TimeoutError:
            self.unread = True
            raise ConnectionAbortedError("a reply was not read in time") from None

    async def refuse(self, refused: Refused) -> None:
        """Say why nothing comes; if something came already, nothing can be said, and the connection ends
        without its end."""
        if self.status:
            raise ConnectionAbortedError("a reply that had begun could not be finished")
        headers, content = refused.reply()
        await self.send({"type": "http.response.start", "status": refused.status, "headers": headers})
        await self.send({"type": "http.response.body", "body": content, "more_body": True})
        # The rest of a body that is not wanted is taken for a while: a connection that is closed over it
        # would take the reply along.
        with suppress(TimeoutError):
            async with asyncio.timeout(SECONDS_IN_VAIN):
                while not self._ended:
                    self._ended = not (await self._receive()).get("more_body", False)
        await self.send({"type": "http.response.body", "body": b""})
