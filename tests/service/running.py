"""A service that runs, in a thread of the test or in a process of its own, and a client that speaks HTTP to
it."""

from __future__ import annotations

import csv
import http.client
import io
import json
import os
import select
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import msgspec
import pytest

from deniable.service import files
from deniable.service.app import Service
from deniable.service.jobs import JobStore
from deniable.service.server import make_server
from deniable.service.settings import Allowed, Jobs, Limits, Server, Settings

ROWS = [{"id": str(i), "text": f"my doctor said zorblattsecret {i}", "note": "n"} for i in range(50)]

JSON = {"Content-Type": "application/json"}
OCTETS = {"Content-Type": "application/octet-stream"}
NDJSON = {"Content-Type": "application/x-ndjson"}


def head_of(path: str, kind: Mapping[str, str], length: int | None = None) -> bytes:
    """Return the head of a POST whose body has this length, or comes in chunks."""
    how = "Transfer-Encoding: chunked" if length is None else f"Content-Length: {length}"
    lines = [f"POST {path} HTTP/1.1", "Host: localhost", f"Content-Type: {kind['Content-Type']}", how]
    return "\r\n".join([*lines, "", ""]).encode()


def chunk(content: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(content), content)


@dataclass(frozen=True)
class Reply:
    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def error(self) -> str:
        return str(self.json()["error"])


@dataclass(frozen=True)
class Client:
    port: int
    token: str | None = None
    tls: bool = False

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def ask(
        self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> Reply:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=600)
        if self.tls:
            trusting = ssl._create_unverified_context()
            connection = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=600, context=trusting)
        given = dict(headers or {})
        if self.token is not None:
            given.setdefault("Authorization", f"Bearer {self.token}")
        try:
            connection.request(method, path, body=body, headers=given)
            answer = connection.getresponse()
            return Reply(
                answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
            )
        finally:
            connection.close()

    def get(self, path: str, **query: object) -> Reply:
        return self.ask("GET", path + ("?" + urlencode(query) if query else ""))

    def post(self, path: str, **content: object) -> Reply:
        return self.ask("POST", path, json.dumps(content).encode(), JSON)

    def upload(self, content: bytes, *, headers: Mapping[str, str] = OCTETS, **query: object) -> Reply:
        return self.ask("POST", "/files?" + urlencode(query, doseq=True, quote_via=quote), content, headers)

    def send(self, **query: Any) -> Reply:
        """Send the rows of these tests as a file."""
        return self.upload(as_csv(), **{"name": "rows.csv", "column": "text"} | query)

    def wait_for(self, job: str, seconds: float = 600) -> dict[str, Any]:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            told: dict[str, Any] = self.get(f"/jobs/{job}").json()
            if told["state"] in ("done", "failed"):
                return told
            time.sleep(0.05)
        raise AssertionError(f"the job is {told}")


def unhurried(limits: Limits) -> Limits:
    """Return limits of a service that gives a busy machine ten minutes, unless a test asks for less."""
    return msgspec.structs.replace(limits, seconds=600.0) if limits.seconds == Limits().seconds else limits


def allowed(**release: Any) -> Allowed:
    """Return what clients may ask for of a service that holds no names back: it starts sooner, and "fox" is
    one."""
    return Allowed(**{"never_release": ()} | release)


def make_settings(
    folder: Path, *, limits: Limits | None = None, release: Allowed | None = None, **server: Any
) -> Settings:
    return Settings(
        server=Server(port=0, **server),
        release=release or allowed(),
        limits=unhurried(limits or Limits()),
        jobs=Jobs(folder=str(folder / "jobs")),
    )


def settings_with_token(folder: Path, token: str) -> Settings:
    """Return settings of a service that asks for a token."""
    (folder / "token").write_text(token)
    (folder / "token").chmod(0o600)
    return make_settings(folder, token_file=str(folder / "token"))


@contextmanager
def running(settings: Settings, service: Service | None = None) -> Iterator[Client]:
    """Serve in a thread until the block ends."""
    longest, files.LONGEST_WAIT = files.LONGEST_WAIT, 600.0
    server = make_server(settings, Service(settings) if service is None else service)
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    listening.listen(512)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive(), "the service did not start"
        time.sleep(0.01)
    try:
        yield Client(listening.getsockname()[1], settings.token())
    finally:
        server.should_exit = True
        thread.join(600)
        listening.close()
        files.LONGEST_WAIT = longest
        assert not thread.is_alive()


@contextmanager
def held(settings: Settings) -> Iterator[Client]:
    """Serve, and work on no job."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(JobStore, "attempt", lambda *_: None)
        with running(settings) as opened:
            yield opened


class Process:
    """``deniable serve`` in a process of its own."""

    def __init__(self, folder: Path, settings: str = "", *options: str) -> None:
        file = folder / "settings.toml"
        file.write_text(settings, encoding="utf-8")
        self.log = folder / "log"
        environment = {**os.environ, "DENIABLE_HOME": str(folder / "home")}
        command = [
            sys.executable,
            "-m",
            "deniable",
            "serve",
            "--port",
            "0",
            "--settings",
            str(file),
            *options,
        ]
        with self.log.open("ab") as log:
            before = self.log.stat().st_size
            self.process = subprocess.Popen(
                command, stderr=log, stdout=log, env=environment, start_new_session=True
            )
        until = time.monotonic() + 600
        while b"the page and the API are at" not in (said := self.log.read_bytes()[before:]):
            assert self.process.poll() is None, said
            assert time.monotonic() < until, said
            time.sleep(0.05)
        line = next(line for line in said.decode().splitlines() if "the page and the API" in line)
        self.client = Client(
            int(line.partition(" (")[0].rstrip("/").rpartition(":")[2]), tls="https:" in line
        )
        while time.monotonic() < until:
            try:
                if self.client.get("/health").status == 200:
                    return
            except OSError:
                time.sleep(0.05)
        raise AssertionError("the service did not answer")

    def end(self, number: int = signal.SIGTERM) -> int:
        """End the service with a signal to its first process, or to all of them if it is SIGKILL."""
        if number == signal.SIGKILL:
            os.killpg(self.process.pid, number)
        else:
            self.process.send_signal(number)
        return self.process.wait(600)

    def __enter__(self) -> Process:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.end(signal.SIGKILL)


def with_limits(settings: Settings, **limits: Any) -> Settings:
    return msgspec.structs.replace(settings, limits=msgspec.structs.replace(settings.limits, **limits))


def as_csv() -> bytes:
    out = io.StringIO()
    writer = csv.DictWriter(out, ["id", "text", "note"])
    writer.writeheader()
    writer.writerows(ROWS)
    return out.getvalue().encode()


def wait_until(true: Any, seconds: float = 600) -> None:
    until = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < until
        time.sleep(0.02)


def answered(opened: socket.socket, *, within: float) -> bool:
    """Return whether something can be received from a connection, or comes within this many seconds."""
    return bool(select.select([opened], [], [], within)[0])
