"""Whoever can connect can send this, with a token or without: heads without an end, what is no HTTP, bodies
that nobody wants."""

from __future__ import annotations

import ctypes
import json
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from starlette.responses import FileResponse

from deniable.records.formats.columns import TO_SEE_THE_NAMES
from deniable.service import facts, guard
from deniable.service.app import Service
from deniable.service.messages import without_options
from deniable.service.replies import DecodeReply
from deniable.service.settings import Limits
from tests.service.running import (
    JSON,
    NDJSON,
    OCTETS,
    Client,
    answered,
    chunk,
    head_of,
    make_settings,
    running,
    settings_with_token,
    wait_until,
)

HOST = b"Host: localhost\r\n"
TYPE = b"Content-Type: application/json\r\n"
TOKEN = b"a-token-of-sufficient-length-for-the-service"


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with running(make_settings(tmp_path_factory.mktemp("service"))) as opened:
        yield opened


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with running(settings_with_token(tmp_path_factory.mktemp("guarded"), TOKEN.decode())) as opened:
        yield opened


def received(opened: socket.socket) -> bytes:
    seen = b""
    with suppress(ConnectionError):
        while part := opened.recv(1 << 16):
            seen += part
    return seen


def answer_to(client: Client, sent: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", client.port), timeout=600) as opened:
        opened.sendall(sent)
        return received(opened)


ENDLESS = {
    "an address": (b"GET /", b"a" * 1_000),
    "a header": (b"GET / HTTP/1.1\r\n" + HOST + b"X: ", b"a" * 1_000),
    "headers": (b"GET / HTTP/1.1\r\n" + HOST, b"X-A: b\r\n" * 100),
    "headers after a body": (
        b"POST /privatize HTTP/1.1\r\n" + HOST + TYPE + b"Transfer-Encoding: chunked\r\n\r\n0\r\n",
        b"X-A: b\r\n" * 100,
    ),
}


@pytest.mark.parametrize("what", ENDLESS)
def test_a_head_without_an_end_is_not_kept(client: Client, what: str) -> None:
    begun, more = ENDLESS[what]
    sent = 0
    with socket.create_connection(("127.0.0.1", client.port), timeout=600) as opened:
        opened.sendall(begun)
        with suppress(ConnectionError):
            while sent < 100 << 20:
                opened.sendall(more * 50)
                sent += 50 * len(more)
    assert sent < 20 << 20, "sockets hold a few megabytes, and the service nothing"
    assert client.get("/health").status == 200


def test_a_head_that_is_too_long_is_refused_in_words(client: Client) -> None:
    with socket.create_connection(("127.0.0.1", client.port), timeout=600) as opened:
        opened.sendall(b"GET / HTTP/1.1\r\n" + HOST + b"X: " + b"a" * (1 << 16))
        head, _, body = received(opened).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 431 ")
    assert "longer than 65,536 bytes" in json.loads(body)["error"]


def test_a_large_body_in_small_parts_is_no_long_head(client: Client) -> None:
    text = b'{"text": "' + b"fox " * 50_000 + b'"}'
    parts = b"".join(
        b"%x;%b\r\n%b\r\n" % (len(part), b"x" * 200, part)
        for part in (text[i : i + 500] for i in range(0, len(text), 500))
    )
    assert b"at most 500 words" in answer_to(client, head_of("/words", JSON) + parts + b"0\r\n\r\n")


POST, CHUNKED = b"POST /privatize HTTP/1.1\r\n" + HOST, b"Transfer-Encoding: chunked\r\n"
BODY = chunk(b'{"text":"a"}') + b"0\r\n\r\n"
NO_HTTP = {
    "two ways to tell a length": POST + TYPE + b"Content-Length: 5\r\n" + CHUNKED + b"\r\n0\r\n\r\n",
    "two lengths": POST + TYPE + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\n{}    ",
    "a length below zero": POST + TYPE + b"Content-Length: -5\r\n\r\n{}",
    "chunks that are not the last coding": POST + b"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
    "a length of thousands of digits": POST + TYPE + b"Content-Length: " + b"0" * 5_000 + b"\r\n\r\n",
    "a coding that would not be undone": POST + TYPE + b"Transfer-Encoding: gzip, chunked\r\n\r\n" + BODY,
    "two codings": POST + TYPE + b"Transfer-Encoding: gzip\r\n" + CHUNKED + b"\r\n" + BODY,
    "a line that goes on": b"GET /allowed HTTP/1.1\r\n" + HOST + b"X: a\r\n b\r\n\r\n",
    "HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "a private word": b"zorblattsecret zorblattsecret\r\n\r\n",
}


@pytest.mark.parametrize("what", NO_HTTP)
def test_what_is_no_clear_http_is_refused_as_everything_is(client: Client, what: str) -> None:
    head, _, body = answer_to(client, NO_HTTP[what]).partition(b"\r\n\r\n")
    status, *lines = head.decode().split("\r\n")
    assert status == "HTTP/1.1 400 Bad Request"
    assert list(json.loads(body)) == ["error"]
    assert b"zorblatt" not in body
    headers = dict(line.split(": ", 1) for line in lines)
    assert headers["content-type"] == "application/json"
    assert {name.lower() for name in guard.HEADERS} <= set(headers)


def test_what_is_no_http_is_not_written_into_a_reply_that_has_begun(client: Client) -> None:
    line = b'{"text": "the fox"}\n'
    with socket.create_connection(("127.0.0.1", client.port), timeout=600) as opened:
        opened.sendall(head_of("/privatize/stream", NDJSON) + chunk(line))
        seen = b""
        while b'{"text"' not in seen:
            seen += opened.recv(4096)
        opened.sendall(b"no chunk\r\n")
        seen += received(opened)
    assert seen.count(b"HTTP/1.1") == 1
    assert not seen.endswith(b"0\r\n\r\n"), "no client takes it for whole"


@pytest.mark.parametrize(
    "twice",
    [
        b"Host: evil\r\n",
        b"Content-Type: text/plain\r\n",
        b"Content-Encoding: identity\r\nContent-Encoding: gzip\r\n",
    ],
)
def test_what_may_be_said_once_is_not_said_twice(client: Client, twice: bytes) -> None:
    made = answer_to(
        client,
        b"POST /privatize HTTP/1.1\r\n"
        + HOST
        + TYPE
        + twice
        + b'Content-Length: 12\r\nConnection: close\r\n\r\n{"text":"a"}',
    )
    assert made.startswith(b"HTTP/1.1 400 ")


@pytest.mark.parametrize("second", [b"Bearer " + TOKEN, b"Bearer wrong"], ids=["the same", "another"])
def test_a_token_is_not_said_twice(guarded: Client, second: bytes) -> None:
    """A proxy in front may have checked the other one."""
    tokens = b"Authorization: Bearer " + TOKEN + b"\r\nAuthorization: " + second + b"\r\n"
    made = answer_to(guarded, b"GET /allowed HTTP/1.1\r\n" + HOST + tokens + b"Connection: close\r\n\r\n")
    assert made.startswith(b"HTTP/1.1 400 ")


@pytest.mark.parametrize(
    ("head", "after", "status"),
    [
        (b"", b"Authorization: Bearer " + TOKEN, 401),
        (b"Authorization: Bearer " + TOKEN, b"Authorization: Bearer wrong", 200),
        (b"Authorization: Bearer " + TOKEN, b"Origin: https://evil.example", 200),
        (b"Authorization: Bearer " + TOKEN, b"Host: evil.example", 200),
        (b"Authorization: Bearer " + TOKEN, b"Content-Type: application/x-ndjson", 200),
    ],
    ids=["token", "another token", "origin", "host", "kind"],
)
@pytest.mark.parametrize("at_once", [True, False], ids=["in one piece", "later"])
def test_what_comes_after_a_body_is_no_header(
    guarded: Client, head: bytes, after: bytes, status: int, at_once: bool
) -> None:
    lines = (
        HOST
        + TYPE
        + (head + b"\r\n" if head else b"")
        + b"Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    begun = b"POST /privatize HTTP/1.1\r\n" + lines + b'c\r\n{"text":"a"}\r\n'
    with socket.create_connection(("127.0.0.1", guarded.port), timeout=600) as opened:
        if not at_once:
            opened.sendall(begun)
            begun = b""
            time.sleep(0.1)
        with suppress(ConnectionError):
            opened.sendall(begun + b"0\r\n" + after + b"\r\n\r\n")
        assert received(opened).startswith(b"HTTP/1.1 %d " % status)


def test_who_sends_far_too_much_is_told_so(client: Client) -> None:
    """A connection that is closed over what was not read is reset, and the reply is lost with it."""
    for path, headers in (
        ("/privatize", JSON),
        ("/privatize", {"Content-Type": "text/plain"}),
        ("/nothing", JSON),
    ):
        reply = client.ask("POST", path, b"x" * (40 << 20), headers)
        assert reply.status == 413


def test_a_body_that_nobody_wants_is_not_waited_for(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "SECONDS_IN_VAIN", 0.5)
    made = answer_to(client, b"POST /nothing HTTP/1.1\r\n" + HOST + b"Content-Length: 1000\r\n\r\n{")
    assert made.startswith(b"HTTP/1.1 404 ")
    monkeypatch.setattr(guard, "SECONDS_IN_VAIN", 3600.0)
    assert client.post("/privatize").status == 422, "a body that has come is not waited for"


def test_no_program_is_handed_a_core_either() -> None:
    """Where the system has a program take cores, the limit of their size does not hold; that a process cannot
    be dumped does."""
    asked = (
        "import ctypes; from deniable.service import server; server.prepare_process(); "
        "print(ctypes.CDLL(None).prctl(3, 0, 0, 0, 0))"
    )
    done = subprocess.run(
        [sys.executable, "-c", asked], capture_output=True, text=True, timeout=600, check=True
    )
    assert done.stdout.strip() == "0"
    assert ctypes.CDLL(None).prctl(3, 0, 0, 0, 0) == 1, "the test itself can be"


def test_a_file_that_hardly_comes_does_not_hold_a_place(tmp_path: Path) -> None:
    with running(make_settings(tmp_path, limits=Limits(seconds=0.5, jobs=1))) as opened:
        with socket.create_connection(("127.0.0.1", opened.port), timeout=600) as slow:
            slow.sendall(head_of("/files?name=a.txt", OCTETS, 100_000))
            with suppress(OSError):
                for _ in range(100):
                    slow.sendall(b"zorblatt ")
                    if answered(slow, within=0.1):
                        break
            assert received(slow).startswith(b"HTTP/1.1 408 ")
        wait_until(lambda: list((tmp_path / "jobs").iterdir()) == [])
        assert opened.upload(b"the fox\n" * 10_000, name="a.txt", wait=600).status == 200


def test_what_a_killed_process_had_received_is_deleted_soon(
    tmp_path: Path, minutes_pass: Callable[[float], None]
) -> None:
    """Long before jobs are that have ended, as it holds the place of a job and nobody can ask for it."""
    left = tmp_path / "jobs" / ("A" * 22 + ".upload")
    left.mkdir(parents=True, mode=0o700)
    left.parent.chmod(0o700)
    (left / "input.csv").write_text("zorblattsecret", encoding="utf-8")
    with running(make_settings(tmp_path, limits=Limits(jobs=1))) as opened:
        assert opened.send().status == 429
        minutes_pass(12)
        wait_until(lambda: not left.exists())
        minutes_pass(0)
        assert opened.send().status == 202


def test_texts_that_are_read_slowly_keep_nobody_from_asking_about_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on = threading.Event()

    def slow(*_: Any) -> Any:
        assert go_on.wait(600)
        return DecodeReply(guesses=[], by="", factor=None)

    monkeypatch.setattr(facts, "guesses", slow)
    settings = make_settings(tmp_path)
    service = Service(settings)
    asked = service.facts
    with running(settings, service) as opened, ThreadPoolExecutor(facts.MOST_WAITING) as pool:
        waiting = [pool.submit(opened.post, "/decode", text="fox") for _ in range(facts.MOST_WAITING)]
        wait_until(lambda: asked.waiting["decode"] == facts.MOST_WAITING)
        assert opened.post("/decode", text="fox").status == 503
        assert opened.post("/words", text="fox").status == 200
        go_on.set()
        assert {one.result(600).status for one in waiting} == {200}


def test_a_job_that_is_deleted_while_it_is_fetched_was_never_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running(make_settings(tmp_path)) as opened:
        job = opened.send(wait=600).headers["location"]
        send = FileResponse.__call__

        async def deleted_first(self: FileResponse, *given: Any) -> None:
            Path(self.path).unlink()
            await send(self, *given)

        monkeypatch.setattr(FileResponse, "__call__", deleted_first)
        reply = opened.get(f"{job}/output")
    assert (reply.status, "no such job" in reply.error) == (404, True)


def test_advice_for_a_terminal_is_not_given_to_clients() -> None:
    said = without_options(
        f"column 'a' is not there: if the file has no header use --no-header; {TO_SEE_THE_NAMES}"
    )
    assert said == "column 'a' is not there: if the file has no header use header=false"
