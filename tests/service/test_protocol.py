"""Connections that are left open: each is closed at its time, whatever was sent meanwhile. The clock is the
test's own."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
import uvicorn
from uvicorn.server import ServerState

from deniable.service.protocol import SECONDS_FOR_HEADERS, BoundedProtocol

KEEP_ALIVE = 40
REQUEST = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"


class Clock(asyncio.SelectorEventLoop):
    """An event loop whose time passes only when the test says so."""

    now = 0.0

    def time(self) -> float:
        return self.now

    def pass_time(self, seconds: float) -> None:
        self.now += seconds
        for _ in range(3):
            self.run_until_complete(asyncio.sleep(0))


class Transport(asyncio.Transport):
    """Keeps what is written to it."""

    def __init__(self) -> None:
        super().__init__()
        self.written, self.closed = b"", False

    def write(self, data: Any) -> None:
        self.written += data

    def is_closing(self) -> bool:
        return self.closed

    def close(self) -> None:
        self.closed = True


class Connection:
    """One connection to a service that answers every request at once."""

    def __init__(self, clock: Clock) -> None:
        config = uvicorn.Config(
            answer, http=BoundedProtocol, lifespan="off", log_config=None, timeout_keep_alive=KEEP_ALIVE
        )
        self._protocol, self._transport = BoundedProtocol(config, ServerState(), {}, clock), Transport()
        self._clock = clock
        self._protocol.connection_made(self._transport)

    def send(self, data: bytes) -> None:
        self._protocol.data_received(data)
        self._clock.pass_time(0.0)

    @property
    def closed(self) -> bool:
        return self._transport.closed

    @property
    def replies(self) -> int:
        return self._transport.written.count(b"HTTP/1.1 204")


async def answer(_scope: Any, _receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body", "body": b""})


@pytest.fixture
def clock() -> Iterator[Clock]:
    made = Clock()
    asyncio.set_event_loop(made)
    yield made
    asyncio.set_event_loop(None)
    made.close()


@pytest.mark.parametrize(
    "more", [(), (b"\r\n",), (b"\n", b"\r\n", b"\r")], ids=["nothing", "an empty line", "several"]
)
def test_an_idle_connection_is_closed_at_its_time(clock: Clock, more: tuple[bytes, ...]) -> None:
    opened = Connection(clock)
    opened.send(REQUEST)
    assert opened.replies == 1
    for data in more:
        clock.pass_time(1)
        opened.send(data)
    clock.pass_time(KEEP_ALIVE - len(more) - 1)
    assert not opened.closed
    clock.pass_time(1.5)
    assert opened.closed


def test_a_head_that_begins_on_an_idle_connection_has_its_own_time(clock: Clock) -> None:
    opened = Connection(clock)
    opened.send(REQUEST)
    clock.pass_time(1)
    opened.send(b"G")
    clock.pass_time(SECONDS_FOR_HEADERS - 1)
    opened.send(b"ET / HTTP/1.1\r\n")
    assert not opened.closed
    clock.pass_time(1.5)
    assert opened.closed


def test_a_connection_in_use_stays_open(clock: Clock) -> None:
    opened = Connection(clock)
    for number in range(1, 6):
        opened.send(b"\r\n")
        opened.send(REQUEST[:10])
        clock.pass_time(SECONDS_FOR_HEADERS - 1)
        opened.send(REQUEST[10:])
        assert (opened.replies, opened.closed) == (number, False)
        clock.pass_time(KEEP_ALIVE - 1)
        assert not opened.closed


def test_a_body_that_comes_after_its_reply_does_not_keep_a_connection(clock: Clock) -> None:
    opened = Connection(clock)
    opened.send(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n")
    assert opened.replies == 1
    for _ in range(KEEP_ALIVE - 1):
        clock.pass_time(1)
        opened.send(b"x" * 100)
    assert not opened.closed
    clock.pass_time(1.5)
    assert opened.closed
