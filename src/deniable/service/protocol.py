"""HTTP as the server reads it: a request head must come whole, in time and within a size, and what is no HTTP
is refused as JSON.

All this is before any token is looked at: anybody who can connect can send it.
"""

from __future__ import annotations

import asyncio
from http import HTTPStatus

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from deniable.service.guard import RAW_HEADERS
from deniable.service.messages import Refused

SECONDS_FOR_HEADERS = 15.0
_MOST_BYTES = 1 << 16


class BoundedProtocol(HttpToolsProtocol):
    """HTTP that gives up on connections that do not send a whole request head in time, or send one that is
    too long.

    The parser keeps lines of a head, and those after the last chunk of a body, until they are whole. So bytes
    are counted that have brought neither a whole head nor any part of a body. What comes in one read is taken
    as it is: about a quarter of a megabyte.
    """

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for the first head."""
        super().connection_made(transport)
        self._brought, self._bytes_in_vain, self._in_head = False, 0, False
        self._head_due = self.loop.call_later(SECONDS_FOR_HEADERS, self._give_up)

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing any more."""
        self._head_due.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read on, and refuse a head that does not end."""
        self._brought = False
        idle = self.timeout_keep_alive_task
        super().data_received(data)
        self._stay_idle(idle)
        self._bytes_in_vain = 0 if self._brought else self._bytes_in_vain + len(data)
        if self._bytes_in_vain > _MOST_BYTES:
            self._refuse(Refused(431, f"the head of the request is longer than {_MOST_BYTES:,} bytes"))

    def on_message_begin(self) -> None:
        """Begin to wait for the rest of this head."""
        super().on_message_begin()
        self._in_head = True
        self._head_due.cancel()
        self._head_due = self.loop.call_later(SECONDS_FOR_HEADERS, self._give_up)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header in; not one that comes after the body, which a proxy in front has not looked at."""
        if self._in_head:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Serve the request."""
        self._brought, self._in_head = True, False
        self._head_due.cancel()
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Hand a part of the body on."""
        self._brought = True
        super().on_body(body)

    def send_400_response(self, _msg: str) -> None:
        """Refuse what is no HTTP, as everything else is refused."""
        self._refuse(Refused(400, "this is not HTTP/1.1, or its length is not clear"))

    def _stay_idle(self, timer: asyncio.TimerHandle | None) -> None:
        """Close an idle connection when it was due, though bytes came that begin no request, such as an empty
        line.

        uvicorn cancels the timer at any byte and sets it again only after a reply.
        """
        idle = self.cycle is not None and self.cycle.response_complete and not self._in_head
        if idle and timer is not None and timer.cancelled() and self.timeout_keep_alive_task is None:
            self.timeout_keep_alive_task = self.loop.call_at(timer.when(), self.timeout_keep_alive_handler)

    def _refuse(self, refused: Refused) -> None:
        if self.transport is None or self.transport.is_closing():
            return
        replying = self.cycle is not None and self.cycle.response_started and not self.cycle.response_complete
        if not (replying or self.pipeline):  # else this would stand in the middle of another reply
            headers, body = refused.reply()
            lines = [b"%b: %b\r\n" % each for each in [*headers, *RAW_HEADERS]]
            status = f"HTTP/1.1 {refused.status} {HTTPStatus(refused.status).phrase}\r\n"
            self.transport.write(b"".join([status.encode(), *lines, b"\r\n", body]))
        self.transport.close()

    def _give_up(self) -> None:
        if self.transport is not None and not self.transport.is_closing():
            self.transport.close()
